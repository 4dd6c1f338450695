// The inspector in a real browser, with a real server.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, beforeEach, afterEach, test } from 'node:test'
import {
  atVersion,
  axe,
  firstCard,
  openPage,
  operations,
  picture,
  sampleId,
  startBrowser,
  startServer,
} from './harness.mjs'

let browser
let server
let view
let page

before(async () => (browser = await startBrowser()))
after(() => browser?.close())
beforeEach(async () => {
  server = await startServer()
  view = await openPage(browser, server, { path: `/#/${sampleId}` })
  page = view.page
  await firstCard(page)
})
afterEach(async () => {
  const faults = await view.faults()
  await view.context.close()
  await server.stop()
  assert.deepEqual(faults, [])
})

const head = async () => (await server.api('GET', `/v1/conversations/${sampleId}`)).version
const texts = selector => page.locator(selector).allTextContents()
const command = name =>
  page
    .getByRole('toolbar', { name: 'Operations' })
    .getByRole('button', { name, exact: true })
    .click()
const apply = async () => {
  await page.locator('.sheet .sums').waitFor()
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.locator('.sheet').waitFor({ state: 'detached' })
}
// How far down it stands depends on the fonts of the machine, and what is far down is not there yet.
const scrollTo = async locator => {
  await page.mouse.move(600, 400)
  for (let i = 0; i < 20 && (await locator.count()) === 0; ++i) {
    await page.mouse.wheel(0, 300)
    await page.evaluate(
      () => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    )
  }
}
const scrubTo = async version => {
  await page.getByRole('slider', { name: 'Version' }).fill(String(version))
  await page.waitForFunction(
    wanted => document.querySelector('.scrub-at')?.textContent.startsWith(`${wanted} `),
    version,
  )
}

test('it shows the conversations, the transcript and the versions', async () => {
  assert.deepEqual(
    await texts('.conversation'),
    [`${sampleId}-replica-only`, sampleId],
    'the newest first',
  )
  await atVersion(page, 'version 57')
  await page.getByText('The nightly export takes 40 minutes').waitFor()
  assert.equal(await page.locator('img.picture').count(), 1)
  assert.equal(await page.locator('.graph .node').count(), 58)
  assert.ok((await texts('.mark')).includes('pinned'))
  await picture(page, 'transcript-light')
})

test('a tool call and its answer are one thing, folded', async () => {
  const call = page.locator('.call', { hasText: 'read_file' }).first()
  await scrollTo(call)
  await call.locator('.answer-gist', { hasText: 'drop indexes' }).waitFor()
  await call.locator('.fold-head').click()
  await call.getByText('DROP INDEX CONCURRENTLY sessions_agent_idx').waitFor()
  assert.equal(await page.locator('.card-tool').count(), 0)
})

test('scrubbing shows the view of an earlier version, and restoring it makes it the newest', async () => {
  await scrubTo(6)
  await atVersion(page, 'version 6 of 57')
  await page.waitForFunction(
    () => document.querySelector('.list')?.getAttribute('aria-label') === '6 messages',
  )
  await page.locator('.list').getByText('Two changes fall into the gap').waitFor()
  assert.equal(
    await page.getByRole('button', { name: 'Edit message 1', exact: true }).count(),
    0,
    'the past is not edited',
  )
  await command('Restore this version')
  await apply()
  await atVersion(page, 'version 58')
  await page.waitForFunction(
    () => document.querySelector('.list')?.getAttribute('aria-label') === '6 messages',
  )
})

test('a link to a message shows it as its version had it, whatever happened since', async () => {
  await page.locator('.list').press('End')
  const link = page.getByRole('link', { name: 'Link to message 37', exact: true })
  await link.click()
  const place = await link.getAttribute('href')
  assert.match(place, new RegExp(`^#/${sampleId}/57/\\d+$`))
  await page.waitForFunction(wanted => location.hash === wanted, place)
  await server.api('POST', operations(sampleId), { operation: 'CLEAR' })
  await page.goto('about:blank')
  await page.goto(`${server.url}/${place}`)
  await atVersion(page, 'version 57 of 58')
  await page
    .locator('.item.at')
    .getByRole('link', { name: 'Link to message 37', exact: true })
    .waitFor()
  assert.equal(await page.evaluate(() => location.hash), place)
})

test('a compression is previewed, applied, looked into and expanded again', async () => {
  await command('Compress')
  await page.locator('.sheet .sums').waitFor()
  await page.locator('.sheet .sign-removed').first().waitFor()
  await picture(page, 'compress-preview')
  assert.equal(await head(), 57, 'a preview stores nothing')
  await apply()
  await atVersion(page, 'version 58')
  await page.getByRole('tab', { name: 'Receipts' }).click()
  const receipt = page.locator('.receipt').first()
  await receipt
    .getByRole('button', { name: /^Hidden originals|Hidden originals/ })
    .first()
    .click()
  await receipt.locator('.row-line').first().waitFor()
  await picture(page, 'receipts')
  const compressed = await page.locator('.list').first().getAttribute('aria-label')
  await receipt
    .getByRole('button', { name: /^Expand/ })
    .first()
    .click()
  await apply()
  await atVersion(page, 'version 59')
  await page.waitForFunction(
    was =>
      parseInt(document.querySelector('.list')?.getAttribute('aria-label') ?? '', 10) >
      parseInt(was, 10),
    compressed,
  )
})

test('the context is shown by kind and by tool, and what is dead weight is cleared by a preview', async () => {
  const read = {
    role: 'assistant',
    content: null,
    toolCalls: [{ id: 'again', name: 'read_file', arguments: '{"path":"twice.sql"}' }],
  }
  const messages = ['once', 'again'].flatMap(id => [
    { ...read, toolCalls: [{ ...read.toolCalls[0], id }] },
    { role: 'tool', toolCallId: id, content: 'SELECT everything '.repeat(200) },
  ])
  await server.api('POST', operations(sampleId), { operation: 'APPEND', messages })
  await page.getByRole('tab', { name: 'Tokens' }).click()
  await page.locator('.strip').waitFor()
  const lines = page.locator('.by-role tbody th')
  await lines.filter({ hasText: 'Tool results' }).waitFor()
  await lines.filter({ hasText: 'read_file' }).waitFor()
  await picture(page, 'composition')
  await page.locator('.dead-weight').getByRole('button').click()
  await page.locator('.sheet .sums').waitFor()
  assert.equal(await page.locator('.sheet select').nth(1).inputValue(), 'supersede')
})

test('a version is saved as a page that says nothing of what was left out', async () => {
  const save = async (...leave) => {
    await command('Share')
    for (const label of leave) await page.getByLabel(label).check()
    await page.getByLabel('Words to black out').fill('nightly\n')
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save the page' }).click(),
    ])
    await page.locator('.sheet').waitFor({ state: 'detached' })
    assert.equal(saved.suggestedFilename(), `${sampleId.replace('nightly', '█████')}-57.html`)
    return readFileSync(await saved.path(), 'utf8')
  }
  const whole = await save()
  assert.match(whole, /<article id="m\d+">/)
  assert.match(whole, /DROP INDEX CONCURRENTLY/)
  assert.doesNotMatch(whole, /nightly export|<script|https?:\/\/[^<]*"/i)
  assert.doesNotMatch(
    await save(
      'Leave out tool results',
      'Leave out arguments of tool calls',
      'Leave out reasoning',
    ),
    /DROP INDEX CONCURRENTLY sessions_agent_idx/,
  )
})

test('the versions are played from the first one, and stay where the player is paused', async () => {
  await page.getByRole('button', { name: 'Play the versions' }).click()
  await atVersion(page, 'version 2 of 57')
  await page.getByRole('button', { name: 'Pause' }).click()
  const paused = await page.locator('.badge.version').textContent()
  assert.match(paused, /^version [2-9] of 57$/)
  await page.getByRole('button', { name: 'Play the versions' }).waitFor()
})

test('roll back, undo and redo are buttons', async () => {
  await command('Roll back')
  await apply()
  await atVersion(page, 'version 58')
  await page.waitForFunction(
    () => document.querySelector('.list')?.getAttribute('aria-label') === '38 messages',
  )
  await command('Undo')
  await apply()
  await atVersion(page, 'version 59')
  await command('Redo')
  await apply()
  await atVersion(page, 'version 60')
})

test('a message is appended, edited, pinned and deleted', async () => {
  await command('Append')
  await page.locator('.sheet textarea').fill('One more thing.')
  await apply()
  await atVersion(page, 'version 58')
  await page.locator('.list').press('End')
  const card = page.locator('.item', { hasText: 'One more thing.' })
  await card.waitFor()
  await card.getByRole('button', { name: /^Pin/ }).click()
  await apply()
  await card.locator('.mark.pinned').waitFor()
  await card.getByRole('button', { name: /^Edit/ }).click()
  await page.locator('.sheet textarea').fill('{"role":"user","content":"Another thing."}')
  await apply()
  const edited = page.locator('.item', { hasText: 'Another thing.' })
  await edited.waitFor()
  await edited.getByRole('button', { name: /^Delete/ }).click()
  await apply()
  await atVersion(page, 'version 61')
  await edited.waitFor({ state: 'detached' })
})

test('the JSON of a message is shown as it is stored, numbers as they were spelled', async () => {
  const body =
    '{"operation":"APPEND","messages":[{"role":"user","content":"odd numbers","metadata":{"a":1.50,"b":1E400,"c":12345678901234567890}}]}'
  await fetch(server.url + operations(sampleId), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
  })
  await atVersion(page, 'version 58')
  await page.locator('.list').press('End')
  const card = page.locator('.item', { hasText: 'odd numbers' })
  await card.getByRole('button', { name: /^JSON/ }).click()
  const shown = await card.locator('.raw').textContent()
  for (const number of ['1.50', '1E400', '12345678901234567890'])
    assert.ok(shown.includes(number), shown)
})

test('what became of a message is told, and leads to the versions', async () => {
  await scrubTo(42)
  const card = page.locator('.item', { hasText: 'The nightly export takes' })
  await page.locator('.list').press('Home')
  await page.locator('.list').press('ArrowDown')
  await page.locator('.list').press('ArrowDown')
  const call = page.locator('.item[data-index="2"]')
  await call.getByRole('button', { name: 'History of message 2' }).click()
  await call.locator('.story', { hasText: 'stored by APPEND version 3' }).waitFor()
  assert.match(
    await call.locator('.story').textContent(),
    /hidden by TRUNCATE version 43.*shown by ROLLBACK version 44.*hidden by COMPRESS version 45/,
  )
  await call.getByRole('button', { name: 'version 45' }).click()
  await atVersion(page, 'version 45 of 57')
  await card.waitFor()
})

test('what is wrong in a form is said, and cannot be applied', async () => {
  await page.getByRole('button', { name: 'Delete message 1', exact: true }).click({ force: true })
  await page.locator('.sheet').getByLabel('Messages').fill('99999')
  await page.locator('.sheet-preview .failed').waitFor()
  assert.ok(await page.getByRole('button', { name: 'Apply' }).isDisabled())
  await page.keyboard.press('Escape')
  await page.locator('.sheet').waitFor({ state: 'detached' })
  assert.equal(await head(), 57)
})

test('what another client does is shown at once', async () => {
  await page.locator('.line-live').waitFor()
  await page.locator('.list').press('End')
  await server.api('POST', operations(sampleId), {
    operation: 'APPEND',
    messages: [{ role: 'user', content: 'From the other side.' }],
  })
  await page.locator('.list').getByText('From the other side.').waitFor()
  await atVersion(page, 'version 58')
  await server.api('POST', operations(sampleId), { operation: 'UNDO' })
  await page.locator('.list').getByText('From the other side.').waitFor({ state: 'detached' })
})

test('a hundred versions in a moment are shown with few requests', async () => {
  await page.locator('.line-live').waitFor()
  await page.locator('.list').press('End')
  await page.waitForTimeout(1000)
  let asked = 0
  page.on('request', () => ++asked)
  for (let i = 1; i <= 100; ++i)
    await server.api('POST', operations(sampleId), {
      operation: 'APPEND',
      messages: [{ role: 'user', content: `Burst ${i}.` }],
    })
  await atVersion(page, 'version 157')
  await page.locator('.list').getByText('Burst 100.', { exact: true }).waitFor()
  assert.ok(asked < 300, `${asked} requests`)
})

test('a version that somebody else made meanwhile is a conflict, told and tried again', async () => {
  await page.route('**/events', route => route.abort())
  await page.reload()
  await firstCard(page)
  await command('Append')
  await page.locator('.sheet textarea').fill('Mine.')
  await page.locator('.sheet .sign-added').waitFor()
  await server.api('POST', operations(sampleId), {
    operation: 'APPEND',
    messages: [{ role: 'user', content: 'Theirs.' }],
  })
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('changed meanwhile').waitFor()
  await page.getByText('on version 58').waitFor()
  await apply()
  assert.equal(await head(), 59)
  await page.unroute('**/events')
  view.faults = async () => [] // aborted requests are errors in the console
})

test('two versions are compared', async () => {
  await page.getByRole('tab', { name: 'Changes' }).click()
  await scrubTo(45)
  await page.locator('.diff').getByText('Removed').waitFor()
  await page.locator('.diff .sign-removed').first().waitFor()
  await page.getByLabel('From version').fill('20')
  await page.locator('.compare').getByRole('button', { name: 'The one before' }).waitFor()
  await page.locator('.diff').getByText('Plan, one step').waitFor()
  await picture(page, 'compare')
})

test('tokens are drawn over time and by message', async () => {
  await page.getByRole('tab', { name: 'Tokens' }).click()
  await page
    .getByRole('img', { name: /Tokens by role over 58 versions, against the limit of 3,000/ })
    .waitFor()
  await page.getByRole('img', { name: /^Tokens of \d+ messages$/ }).waitFor()
  await page.getByRole('img', { name: /^Tokens by kind over \d+ turns$/ }).waitFor()
  assert.equal(await page.locator('.chart canvas').count(), 3)
})

test('requests for providers are shown with what is found and lost', async () => {
  await page.getByRole('tab', { name: 'Rendering' }).click()
  await page.locator('.request', { hasText: '"messages"' }).waitFor()
  await page.getByLabel('As sent to').selectOption('dialect:anthropic')
  await page.locator('.findings code', { hasText: 'L_REASONING_DROPPED' }).first().waitFor()
  await page.getByLabel('As sent to').selectOption('dialect:gemini')
  await page.locator('.request', { hasText: 'systemInstruction' }).waitFor()
})

test('words are found, also in an earlier version', async () => {
  await page.getByRole('searchbox', { name: 'Find in messages' }).fill('pg_stat_statements')
  await page.keyboard.press('Enter')
  await page.getByText('not found').waitFor()
  await page.getByRole('searchbox', { name: 'Find in messages' }).fill('nobody ever wrote this')
  await page.keyboard.press('Enter')
  await page.getByText('not found').waitFor()
  await page.getByRole('searchbox', { name: 'Find in messages' }).fill('Plan, one step')
  await page.keyboard.press('Enter')
  await page.getByText('1 of 1').waitFor()
  await page.getByText('stop when a step does not show').waitFor()
})

test('a summary by a model is asked for in the background, and what becomes of it is told', async () => {
  // Nobody listens there: a digest takes the place of its summary.
  server.make('modelled', {
    summarisers: {
      haiku: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1', model: 'm', attempts: 1 },
    },
  })
  const hello = i => ({ role: 'user', content: `message ${i} `.repeat(40) })
  await server.api('POST', operations('modelled'), {
    operation: 'APPEND',
    messages: Array.from({ length: 30 }, (_, i) => hello(i)),
  })
  await page.goto(`${server.url}/#/modelled`)
  await page.reload()
  await page.getByText('message 29').first().waitFor()
  await command('Compress')
  await page.getByLabel('Written by').selectOption('haiku')
  await page.getByText('A model writes the summary, in the background').waitFor()
  await page.getByRole('button', { name: 'Apply' }).click()
  await page
    .getByText(/Background compression \(smart_summary\): /)
    .first()
    .waitFor()
  assert.equal((await server.api('GET', '/v1/conversations/modelled')).version, 2)
})

test('words in the folded answer of a tool are found, and unfolded', async () => {
  const words = 'DROP INDEX CONCURRENTLY sessions_agent_idx'
  assert.equal(await page.locator('.call .fold-body', { hasText: words }).count(), 0)
  await page.getByRole('searchbox', { name: 'Find in messages' }).fill(words)
  await page.keyboard.press('Enter')
  await page.locator('.call .fold-body', { hasText: words }).first().waitFor()
})

test('a fork is made, opened and listed, and says where it comes from', async () => {
  await scrubTo(30)
  await command('Fork')
  await page.locator('.sheet input').fill('another-way')
  await page.locator('.sheet').getByRole('button', { name: 'Fork' }).click()
  await page.locator('.title-id', { hasText: 'another-way' }).waitFor()
  await page.getByText(`fork of ${sampleId} at 30`).waitFor()
  assert.ok((await texts('.conversation')).includes('another-way'))
})

// Six messages; the second and the third are hidden behind a summary.
const withSummary = async id => {
  await server.api('POST', '/v1/conversations', { id })
  const say = i => ({ role: i % 2 ? 'assistant' : 'user', content: `Message number ${i}` })
  await server.api('POST', operations(id), {
    operation: 'APPEND',
    messages: [0, 1, 2, 3, 4, 5].map(say),
  })
  await server.api('POST', operations(id), {
    operation: 'COMPRESS',
    indices: [1, 2],
    summary: { role: 'user', content: 'Two messages' },
  })
  await page.goto(`${server.url}/#/${id}`)
  await atVersion(page, 'version 2')
  await page.locator('.item[data-index="4"]').waitFor()
}
const contents = async (id, parameters = '') =>
  (await server.api('GET', `/v1/conversations/${id}/messages${parameters}`)).messages.map(
    message => message.content,
  )
const whole = [0, 1, 2, 3, 4, 5].map(i => `Message number ${i}`)
const short = [whole[0], 'Two messages', ...whole.slice(3)]
const openMenu = async index => {
  const item = page.locator(`.item[data-index="${index}"]`)
  await item.hover()
  await item.getByRole('button', { name: `More about message ${index}`, exact: true }).click()
  const menu = item.locator('.card > .menu')
  await menu.waitFor()
  return menu
}

test('a hidden message is brought back from wherever it is shown', async () => {
  await withSummary('hidden')
  // From the originals of its summary, in the transcript.
  const summary = page.locator('.item[data-index="1"]')
  await summary.getByRole('button', { name: /Hidden originals/ }).click()
  await summary.getByRole('button', { name: /Message number 2/ }).click()
  await summary.getByRole('button', { name: 'Bring back the message of ordinal 2' }).click()
  await apply()
  await atVersion(page, 'version 3')
  assert.deepEqual(await contents('hidden'), whole)
  await command('Undo')
  await apply()
  await atVersion(page, 'version 4')
  assert.deepEqual(await contents('hidden'), short)
  // From an earlier version, where it is an ordinary message.
  await scrubTo(1)
  const menu = await openMenu(2)
  await menu.getByRole('button', { name: /^Bring back the message/ }).waitFor()
  await picture(page, 'menu-light')
  assert.deepEqual(await axe(page), [])
  await menu.getByRole('button', { name: /^Bring back the message/ }).click()
  await apply()
  await atVersion(page, 'version 5')
  assert.deepEqual(await contents('hidden'), whole)
  await command('Undo')
  await apply()
  await atVersion(page, 'version 6')
  // All that a summary stands for.
  const menuOfSummary = await openMenu(1)
  await menuOfSummary.getByRole('button', { name: /^Bring back its originals/ }).click()
  await apply()
  await atVersion(page, 'version 7')
  assert.deepEqual(await contents('hidden'), whole)
  // One that was deleted, for which nothing stands.
  await server.api('POST', operations('hidden'), { operation: 'DELETE', indices: [4] })
  await atVersion(page, 'version 8')
  await scrubTo(7)
  const deleted = await openMenu(4)
  await deleted.getByRole('button', { name: /^Bring back the message/ }).click()
  await apply()
  await atVersion(page, 'version 9')
  assert.deepEqual(await contents('hidden'), whole)
})

test('a conversation is forked and edited from any message', async () => {
  await withSummary('origin')
  const menu = await openMenu(2)
  assert.equal(await menu.getByRole('button', { name: /^Bring back/ }).count(), 0)
  await menu.getByRole('button', { name: /^Fork from/ }).click()
  await page.getByLabel('Without the 2 messages after it').waitFor()
  await page.locator('.sheet input[pattern]').fill('shorter')
  assert.deepEqual(await axe(page), [])
  await page.locator('.sheet').getByRole('button', { name: 'Fork', exact: true }).click()
  await page.locator('.title-id', { hasText: 'shorter' }).waitFor()
  assert.deepEqual(await contents('shorter'), short.slice(0, 3))

  // An edit, at a version before the compression, that keeps what comes after it.
  await page.goto(`${server.url}/#/origin/1`)
  await atVersion(page, 'version 1 of 2')
  await page.locator('.item[data-index="5"]').waitFor()
  const earlier = await openMenu(2)
  await earlier.getByRole('button', { name: /^Edit in a fork/ }).click()
  assert.equal(await page.getByLabel('Without the 3 messages after it').isChecked(), false)
  await page.locator('.sheet input[pattern]').fill('edited')
  await page.locator('.sheet').getByRole('button', { name: 'Fork', exact: true }).click()
  await page.locator('.sheet h2', { hasText: 'Edit' }).waitFor()
  const text = page.locator('.sheet textarea').first()
  await text.fill((await text.inputValue()).replace('number 2', 'number two'))
  await apply()
  await page.locator('.title-id', { hasText: 'edited' }).waitFor()
  const expected = [...whole]
  expected[2] = 'Message number two'
  await page.waitForFunction(() => document.body.textContent.includes('Message number two'))
  assert.deepEqual(await contents('edited'), expected)
  assert.deepEqual(await contents('origin'), short, 'the origin stays as it was')
})

test('the link to a message is copied, of a hidden one to the version that showed it', async () => {
  await view.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await withSummary('linked')
  const copied = () => page.evaluate(() => navigator.clipboard.readText())
  const menu = await openMenu(4)
  await menu.getByRole('button', { name: /^Copy link/ }).click()
  await page.getByText('The link is copied.').waitFor()
  assert.equal(await copied(), `${server.url}/#/linked/2/5`)
  const summary = page.locator('.item[data-index="1"]')
  await summary.getByRole('button', { name: /Hidden originals/ }).click()
  await summary.getByRole('button', { name: /Message number 1/ }).click()
  await summary.getByRole('button', { name: 'Copy link to the message of ordinal 1' }).click()
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).endsWith('/1/1'))
})

test('conversations are searched, and one is made', async () => {
  await page.getByRole('searchbox', { name: 'Search conversations by id' }).fill('replica')
  await page.waitForFunction(
    () => document.querySelectorAll('.conversations:not(.recalled) .conversation').length === 1,
  )
  await page.locator('.recalled .conversation', { hasText: 'replica' }).first().waitFor()
  await page.getByRole('searchbox', { name: 'Search conversations by id' }).fill('')
  await page.getByRole('button', { name: 'New conversation' }).click()
  await page.locator('.sheet').getByLabel('Id').fill('fresh')
  await page.locator('.sheet').getByLabel('Model').fill('some-model')
  await page.getByRole('button', { name: 'Make it' }).click()
  await page.getByText('There is nothing in this view.').waitFor()
  const made = await server.api('GET', '/v1/conversations/fresh')
  assert.deepEqual(made.settings, { model: 'some-model' })
})

test('an operation without a button of its own has a form too', async () => {
  const before = await head()
  await command('More…')
  await page.locator('.sheet-choice select').selectOption('FILTER')
  await page.locator('.sheet').getByLabel('Roles').fill('user')
  await apply()
  assert.equal(await head(), before + 1)
  const count = await server.api(
    'GET',
    `/v1/conversations/${encodeURIComponent(sampleId)}/count?role=tool`,
  )
  assert.equal(count.count, 0)
})

test('everything can be done with the keyboard alone', async () => {
  await page.locator('.list').focus()
  for (const key of ['ArrowDown', 'ArrowDown', 'j', 'k']) await page.keyboard.press(key)
  const at = await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
  assert.match(at, /^Message 2, /)
  await page.keyboard.press('Tab') // into the message
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'JSON')
  await page.keyboard.press('Enter')
  await page.locator('.raw').waitFor()

  const reach = async (name, most = 60) => {
    for (let i = 0; i < most; ++i) {
      await page.keyboard.press('Tab')
      const found = await page.evaluate(
        () =>
          document.activeElement?.getAttribute('aria-label') ??
          document.activeElement?.textContent ??
          '',
      )
      if (found === name) return
    }
    assert.fail(`Tab never came to ${name}`)
  }
  await reach('Version')
  for (let i = 0; i < 5; ++i) await page.keyboard.press('ArrowLeft')
  await atVersion(page, 'version 52 of 57')
  await page.keyboard.press('End')
  await atVersion(page, 'version 57')
  await reach('Append')
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle)
  assert.equal(outline, 'solid', 'focus is seen')
  await page.keyboard.press('Enter')
  await page.locator('.sheet').waitFor()
  assert.equal(
    await page.evaluate(() =>
      document.activeElement?.closest('label')?.textContent.startsWith('Write it as'),
    ),
    true,
    'the form begins at its first field',
  )
  for (
    let i = 0;
    i < 10 && (await page.evaluate(() => document.activeElement?.tagName)) !== 'TEXTAREA';
    ++i
  )
    await page.keyboard.press('Tab')
  await page.keyboard.type('By keyboard.')
  await page.locator('.sheet .sign-added').waitFor()
  await page.waitForFunction(() => !document.querySelector('.sheet [type=submit]').disabled)
  for (
    let i = 0;
    i < 10 && (await page.evaluate(() => document.activeElement?.textContent)) !== 'Apply';
    ++i
  )
    await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await atVersion(page, 'version 58')
  await page.waitForFunction(() => document.activeElement?.textContent === 'Append') // back where it was
  const tab = page.getByRole('tab', { name: 'Changes' })
  await tab.focus()
  await page.keyboard.press('ArrowRight')
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Versions')
})

for (const theme of ['light', 'dark']) {
  test(`axe finds nothing, ${theme}`, async () => {
    await page.emulateMedia({ colorScheme: theme })
    const looked = async where =>
      assert.deepEqual(
        (await axe(page)).map(fault => `${where}: ${fault}`),
        [],
      )
    const fold = page.locator('.call .fold-head').first()
    await scrollTo(fold)
    await fold.click()
    for (const name of ['Changes', 'Versions', 'Tokens', 'Receipts', 'Rendering']) {
      await page.getByRole('tab', { name }).click()
      await page.waitForTimeout(400)
      await looked(name)
      if (name === 'Tokens') await picture(page, `tokens-${theme}`)
    }
    await scrubTo(23)
    await looked('an earlier version')
    await picture(page, `earlier-${theme}`)
    await page.getByRole('button', { name: 'Newest version' }).click()
    for (const name of ['Compress', 'More…', 'Fork', 'Share']) {
      await command(name)
      await page.waitForTimeout(500)
      await looked(name)
      await page.keyboard.press('Escape')
      await page.locator('.sheet').waitFor({ state: 'detached' })
    }
  })
}
