// The inspector over sessions of coding agents, as `undertext open` shows them, in a real browser.
import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as moment } from 'node:timers/promises'
import { axe, openPage, openSessions, picture, startBrowser } from './harness.mjs'
import { payloads } from './payloads.mjs'

const home = mkdtempSync(join(tmpdir(), 'undertext-home-'))
const projects = join(home, '.claude', 'projects', '-work')
let browser
let server

const line = members => `${JSON.stringify(members)}\n`
const at = minute => new Date(Date.UTC(2026, 10, 18, 10, minute)).toISOString()
const user = (content, uuid, minute, cwd = '/home/me/rate-limiter') =>
  line({
    type: 'user',
    uuid,
    sessionId: 's',
    cwd,
    timestamp: at(minute),
    message: { role: 'user', content },
  })
const answer = (text, uuid, minute, model = 'claude-opus-4-7') =>
  line({
    type: 'assistant',
    uuid,
    sessionId: 's',
    timestamp: at(minute),
    message: {
      id: uuid,
      role: 'assistant',
      model,
      content: [{ type: 'text', text }],
      usage: {
        input_tokens: 1200,
        output_tokens: 300,
        cache_read_input_tokens: 40_000,
        cache_creation_input_tokens: 900,
      },
    },
  })
const session = (name, ...lines) => writeFileSync(join(projects, `${name}.jsonl`), lines.join(''))

before(async () => {
  mkdirSync(projects, { recursive: true })
  session(
    'older',
    user('Find out why the token bucket refills too fast', 'u1', 1),
    answer('It counts in seconds.', 'a1', 2),
  )
  const long = Array.from(
    { length: 60 },
    (_, i) =>
      user(`Question ${i}`, `u${i}`, 3) +
      answer(i === 40 ? 'The marmalade is in the pantry.' : `Answer ${i}`, `a${i}`, 3),
  )
  session('long', ...long)
  session(
    'newest',
    user('Write the release notes', 'u1', 50, '/home/me/site'),
    answer('Done.', 'a1', 51),
  )
  browser = await startBrowser()
  server = await openSessions(home)
})
after(async () => {
  await browser?.close()
  await server?.stop()
  rmSync(home, { recursive: true, force: true })
})

const view = async (options, use) => {
  const opened = await openPage(browser, server, { path: server.path, ...options })
  try {
    await opened.page.locator('.session-title').first().waitFor()
    await use(opened.page)
    assert.deepEqual(await opened.faults(), [])
  } finally {
    await opened.context.close()
  }
}
const titles = page => page.locator('.sidebar .session-title').allTextContents()

test('sessions are listed with their titles and figures, the newest first, and the newest is open', () =>
  view({}, async page => {
    assert.deepEqual(await titles(page), [
      'Write the release notes',
      'Question 0',
      'Find out why the token bucket refills too fast',
    ])
    await page
      .locator('.session-facts', {
        hasText: 'site · claude-code · claude-opus-4-7 · 42.4K tokens · $',
      })
      .waitFor()
    await page.locator('.title-id', { hasText: 'Write the release notes' }).waitFor()
    await page.locator('.list').getByText('Done.').waitFor()
  }))

test('words are found in a session that nobody opened, and the message with them is shown', () =>
  view({}, async page => {
    await page.getByRole('searchbox', { name: 'Search conversations' }).fill('marmalade pantry')
    await page
      .locator('.unread .conversation', { hasText: 'The marmalade is in the pantry.' })
      .click()
    await page.locator('.list').getByText('The marmalade is in the pantry.').waitFor()
    assert.equal(await page.locator('.title-id').textContent(), 'Question 0')
  }))

test('titles are searched', () =>
  view({}, async page => {
    await page.getByRole('searchbox', { name: 'Search conversations' }).fill('RELEASE')
    await page.waitForFunction(
      () => document.querySelectorAll('.sidebar .session-title').length === 1,
    )
  }))

test('what the program writes appears in the open session, and a new session in the list', () =>
  view({}, async page => {
    appendFileSync(
      join(projects, 'newest.jsonl'),
      user('And the changelog?', 'u2', 52) + answer('That too.', 'a2', 53),
    )
    await page.locator('.list').getByText('That too.').waitFor()
    session('begun', user('A session begun meanwhile', 'u1', 55))
    await page.locator('.session-title', { hasText: 'A session begun meanwhile' }).waitFor()
    rmSync(join(projects, 'begun.jsonl'))
    await page
      .locator('.session-title', { hasText: 'A session begun meanwhile' })
      .waitFor({ state: 'detached' })
  }))

for (const [name, theme, viewport] of [
  ['light', 'light', { width: 1440, height: 900 }],
  ['dark', 'dark', { width: 1440, height: 900 }],
  ['phone', 'light', { width: 390, height: 844 }],
])
  test(`the overview sums up tokens and cost by day and lists all sessions: ${name}`, () =>
    view({ theme, viewport }, async page => {
      await page.getByRole('link', { name: 'Overview' }).click()
      const list = page.locator('.overview-list tbody tr')
      await list.nth(2).waitFor()
      assert.equal(await list.count(), 3)
      assert.match(await list.first().innerText(), /Write the release notes/)
      const days = page.locator('.overview-sums').first().locator('tbody tr')
      assert.equal(await days.count(), 1)
      assert.match((await days.first().innerText()).replace(/\s+/g, ' '), /2026-11-18 .*3 .*M.*\$/)
      await picture(page, `overview-${name}`)
      assert.deepEqual(await axe(page), [])
      const beyond = await page.evaluate(() => {
        const main = document.querySelector('main')
        return main.scrollWidth - main.clientWidth
      })
      assert.equal(beyond, 0, 'the tables are no wider than the screen')
      await page.reload()
      await list.nth(2).waitFor()
      await list.first().getByRole('link').click()
      await page.locator('.title-id', { hasText: 'Write the release notes' }).waitFor()
      assert.equal(await list.count(), 0)
    }))

test('titles, folders, models and excerpts are text and nothing else', async t => {
  const hostile = payloads()
    .filter((_, i) => i % 23 === 0)
    .slice(0, 40)
  hostile.forEach((payload, i) => {
    const summary = line({ type: 'summary', summary: payload, leafUuid: 'a1' })
    session(
      `hostile${i}`,
      user(`${payload} findthisword ${payload}`, 'u1', 56 + i, payload),
      answer('x', 'a1', 56 + i, payload),
      summary,
    )
  })
  t.after(async () => {
    hostile.forEach((_, i) => rmSync(join(projects, `hostile${i}.jsonl`)))
    while ((await server.api('GET', '/v1/conversations')).conversations.length > 3) await moment(50)
  })
  await view({}, async page => {
    await page.waitForFunction(
      wanted => document.querySelectorAll('.sidebar .session-title').length === wanted,
      hostile.length + 3,
    )
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.locator('.overview-list tbody tr').nth(hostile.length).waitFor()
    await page.getByRole('searchbox', { name: 'Search conversations' }).fill('findthisword')
    await page.locator('.unread .conversation').first().waitFor()
    await page.locator('.unread .conversation').nth(3).click()
    await page.locator('.list').getByText('findthisword').first().waitFor()
    assert.equal(await page.evaluate(() => window.__pwn), undefined)
  })
})

for (const [name, theme, viewport] of [
  ['light', 'light', { width: 1440, height: 900 }],
  ['dark', 'dark', { width: 1440, height: 900 }],
  ['phone', 'light', { width: 390, height: 844 }],
])
  test(`the list is readable: ${name}`, () =>
    view({ theme, viewport }, async page => {
      await page.waitForFunction(
        () => document.querySelectorAll('.sidebar .session-title').length === 3,
      )
      await page.getByRole('searchbox', { name: 'Search conversations' }).fill('token bucket')
      await page.locator('.recalled .conversation, .unread .conversation').first().waitFor()
      await page.locator('.list .card:not(.card-waits)').first().waitFor()
      await picture(page, `sessions-${name}`)
      assert.deepEqual(await axe(page), [])
    }))
