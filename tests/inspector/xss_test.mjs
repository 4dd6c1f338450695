// Nothing that a message says is ever carried out: hundreds of payloads in every field, opened in a real browser.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { firstCard, openPage, operations, picture, startBrowser, startServer } from './harness.mjs'
import { payloads } from './payloads.mjs'

const all = payloads()
let browser
let server
before(async () => {
  browser = await startBrowser()
  server = await startServer({ sample: false })
})
after(async () => {
  await browser?.close()
  await server?.stop()
})

// A payload in every field that a message has and the page may show.
function hostile(payload, i) {
  const callId = `${payload}#${i}`
  const ask = {
    role: 'assistant',
    content: [
      { type: 'text', text: payload },
      { type: 'thinking', thinking: payload, signature: payload },
      { type: payload, [payload]: payload },
      { type: 'image', source: { type: 'base64', media_type: payload, data: payload } },
      { type: 'image', source: { type: 'url', url: payload } },
      {
        type: 'document',
        source: { type: 'text', media_type: payload, data: payload },
        title: payload,
      },
      { type: 'input_audio', input_audio: { data: payload, format: payload } },
      { type: 'file', file: { file_id: payload, filename: payload } },
      { type: 'refusal', refusal: payload },
      { type: 'shell_call', call_id: payload, action: payload },
      {
        type: 'server_tool_use',
        id: `server ${callId}`,
        name: payload,
        input: { [payload]: payload },
      },
      {
        type: 'web_search_tool_result',
        tool_use_id: `server ${callId}`,
        content: [{ type: payload, url: payload }],
      },
    ],
    toolCalls: [{ id: callId, name: payload, arguments: payload, [payload]: payload }],
    id: payload,
    metadata: { [payload]: payload, title: payload },
    [payload]: payload,
    name: payload,
  }
  const answer = { role: 'tool', content: payload, toolCallId: callId, name: payload }
  const user = {
    role: 'user',
    content: [
      { type: 'image_url', image_url: { url: payload } },
      { type: 'text', text: `see ${payload} and https://example.org/${i}` },
    ],
  }
  return [ask, answer, user]
}

async function fill(id, list) {
  await server.api('POST', '/v1/conversations', { id })
  const refused = []
  for (const [i, payload] of list.entries()) {
    const description = payload.replaceAll('\u0000', '')
    try {
      await server.api('POST', operations(id), {
        operation: 'APPEND',
        messages: hostile(payload, i),
        description,
      })
      await server.api('POST', operations(id), {
        operation: 'MARK',
        indices: [3 * (i - refused.length)],
        mark: description,
      })
    } catch (error) {
      refused.push(`${payload}: ${error.message}`)
    }
  }
  assert.ok(refused.length < list.length / 20, refused.join('\n'))
  await server.api('POST', operations(id), {
    operation: 'COMPRESS',
    indices: [0, 1, 2],
    summary: { role: 'user', content: list[1] },
    description: list[0],
  })
}

// Everything in sight that opens is opened.
async function openAll(page) {
  await page.evaluate(() => {
    for (const button of document.querySelectorAll(
      '.list [aria-expanded="false"], .panel [aria-expanded="false"]',
    ))
      button.click()
  })
}

test('there are some hundreds of payloads', () => assert.ok(all.length >= 300, String(all.length)))

test('a page that made markup of messages would be noticed', async () => {
  const { page, context, faults } = await openPage(browser, server)
  await page.locator('.page').waitFor()
  await page.evaluate(
    list => {
      for (const payload of list)
        document.body.insertAdjacentHTML('beforeend', `<div>${payload}</div>`)
    },
    all.filter(payload => payload.includes('onerror') || payload.includes('evil.example')),
  )
  await page.waitForTimeout(300)
  assert.ok((await faults()).length > 20)
  await context.close()
})

test('payloads in every field stay text', async () => {
  await fill('hostile', all)
  const { page, context, faults } = await openPage(browser, server, { path: '/#/hostile' })
  await firstCard(page)
  await openAll(page)
  let seen = 0
  for (let step = 0; step < 400; ++step) {
    const end = await page.evaluate(() => {
      const list = document.querySelector('.list')
      const before = list.scrollTop
      list.scrollTop += list.clientHeight * 3
      return list.scrollTop === before
    })
    await page.waitForTimeout(40)
    if (step % 4 === 0) await openAll(page)
    seen += await page.locator('.card:not(.card-waits)').count()
    if (end) break
  }
  assert.ok(seen > all.length, `${seen} cards`)
  for (const name of ['Changes', 'Versions', 'Tokens', 'Receipts', 'Rendering']) {
    await page.getByRole('tab', { name }).click()
    await page.waitForTimeout(300)
    await openAll(page)
  }
  await page.getByRole('button', { name: 'More…' }).click()
  await page.waitForTimeout(300)
  await page.keyboard.press('Escape')
  await page.getByRole('slider', { name: 'Version' }).fill('100')
  await page.waitForTimeout(500)
  await openAll(page)
  await picture(page, 'hostile')
  assert.equal(await page.evaluate(() => window.__pwn), undefined)
  assert.deepEqual(await faults(), [])
  // Every link that came out of a message leads to the web, and cannot reach back.
  const links = await page.evaluate(() =>
    [...document.querySelectorAll('.list a:not(.actions a), .panel a')].map(a => ({
      href: a.href,
      rel: a.rel,
    })),
  )
  assert.ok(links.length > 0)
  for (const link of links)
    assert.ok(/^https?:/.test(link.href) && link.rel.includes('noopener'), JSON.stringify(link))
  await context.close()
})

// A payload in every field of a recorded request that the page may show.
function hostileRequest(payload, others = []) {
  const members = Object.fromEntries(others.map(other => [other, { [other]: other }]))
  const request = {
    model: payload,
    [payload]: payload,
    system: [{ type: payload, text: payload }],
    tools: [{ name: payload, description: payload }],
    messages: [{ role: 'user', content: payload }],
    ...members,
  }
  const name = payload.replaceAll('\u0000', '').slice(0, 200)
  const usage = { requestId: name, model: name, prompt: 10 }
  return {
    client: 'anthropic',
    request: JSON.stringify(request),
    answer: payload,
    method: name,
    path: name,
    responseId: name,
    status: 200,
    usage,
  }
}

test('payloads in recorded requests stay text', async () => {
  const id = 'hostile-requests'
  await server.api('POST', '/v1/conversations', { id })
  const refused = []
  for (const [i, payload] of all.entries()) {
    await server
      .api('POST', `/v1/conversations/${id}/requests`, hostileRequest(payload, i % 20 ? [] : all))
      .catch(error => refused.push(`${payload}: ${error.message}`))
  }
  assert.ok(refused.length < all.length / 20, refused.join('\n'))
  const { page, context, faults } = await openPage(browser, server, { path: `/#/${id}/requests` })
  await page.locator('.requests tbody tr').first().waitFor()
  for (
    const older = page.getByRole('button', { name: 'Older requests' });
    (await older.count()) > 0;
    await page.waitForTimeout(200)
  )
    await older.click().catch(() => {})
  assert.equal(await page.locator('.requests tbody tr').count(), all.length - refused.length)
  for (let number = 2; number < all.length - refused.length; number += number % 20 === 1 ? 1 : 19) {
    await page.goto(`${server.url}/#/${id}/requests/${number}`)
    await page.getByRole('heading', { name: `Request ${number}`, exact: true }).waitFor()
    await page.locator('.verdict').waitFor()
    await page.evaluate(() =>
      document.querySelectorAll('.requests-page .more').forEach(button => button.click()),
    )
    await page.waitForTimeout(50)
  }
  await picture(page, 'hostile-request')
  assert.equal(await page.evaluate(() => window.__pwn), undefined)
  assert.deepEqual(await faults(), [])
  await context.close()
})

test('payloads in the address of the page do nothing', async () => {
  for (const payload of all.filter((_, i) => i % 25 === 0)) {
    const { page, context } = await openPage(browser, server, {
      path: `/#/${encodeURIComponent(payload)}`,
    })
    await page.locator('.page').waitFor()
    await page.waitForTimeout(60)
    assert.equal(await page.evaluate(() => window.__pwn), undefined, payload)
    assert.deepEqual(await page.evaluate(() => window.__refused), [], payload)
    await context.close()
  }
})
