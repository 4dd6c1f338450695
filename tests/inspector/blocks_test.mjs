// Messages of several formats, as the engine reads them: every kind of block is shown.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  axe,
  firstCard,
  openPage,
  operations,
  picture,
  startBrowser,
  startServer,
} from './harness.mjs'

// 96 by 64 pixels.
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAGAAAABACAIAAABqVuVZAAAAkElEQVR42u3QMQ3AQAwEsAdWJJ0DoiB+DpIALImbIktG4PO8HVEhN2RCjiBBggQJEiRIkCBBggQJEiRI0LagryMq5IZMiCBBggQJEiRIkCBBggQJEiRI0Lqg7ogKuSETIkiQIEGCBAkSJEiQIEGCBAkStC5oOqJCbsiECBIkSJAgQYIECRIkSJAgQYIELQv6AU6Z+iz2XzdlAAAAAElFTkSuQmCC'
const call = (id, name, text) => ({ id, type: 'function', function: { name, arguments: text } })
const messages = [
  { role: 'developer', content: 'You look after the build.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'Why does this fail?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
      { type: 'image_url', image_url: { url: 'https://example.org/other.png' } },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Both files may be stale.', signature: 's' },
      { type: 'redacted_thinking', data: 'AAAA' },
      { type: 'text', text: 'I read both files.' },
    ],
    tool_calls: [
      call('c1', 'read_file', '{"path":"a.txt","limit":1.50}'),
      call('c2', 'read_file', '{"path":"b.txt"}'),
    ],
  },
  { role: 'tool', tool_call_id: 'c1', content: 'first file' },
  {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'c2', content: 'no such file', is_error: true }],
  },
  {
    role: 'assistant',
    content: [
      { type: 'shell_call', call_id: 's1', action: { commands: ['ls -l'], timeout_ms: 1000 } },
    ],
  },
  {
    role: 'tool',
    content: [
      {
        type: 'shell_call_output',
        call_id: 's1',
        output: [{ stdout: 'total 0\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'server_tool_use', id: 'w1', name: 'web_search', input: { query: 'stale build' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'w1',
        content: [
          { type: 'web_search_result', url: 'https://example.org/stale', title: 'Stale builds' },
        ],
      },
      { type: 'text', text: 'The cache is stale.' },
    ],
  },
  {
    role: 'user',
    content: [
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'The log of the night.' },
        title: 'night.log',
      },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      { type: 'hologram', depth: 3 },
    ],
  },
  {
    role: 'assistant',
    content: [{ type: 'refusal', refusal: 'I cannot look at holograms.' }],
    tool_calls: [call('c3', 'ask', '{}')],
  },
]

let browser
let server
before(async () => {
  browser = await startBrowser()
  server = await startServer({ sample: false })
  await server.api('POST', '/v1/conversations', { id: 'kinds' })
  await server.api('POST', operations('kinds'), { operation: 'APPEND', messages })
})
after(async () => {
  await browser?.close()
  await server?.stop()
})

for (const theme of ['light', 'dark']) {
  test(`every kind of block is shown, ${theme}`, async () => {
    const { page, context, faults } = await openPage(browser, server, {
      path: '/#/kinds',
      theme,
      viewport: { width: 1440, height: 1800 },
    })
    await firstCard(page)
    const item = index => page.locator(`.item[data-index="${index}"]`)
    const shown = async index =>
      (await item(index).locator('.card').innerText()).replace(/\s+/g, ' ')
    await item(9).waitFor()
    await picture(page, `blocks-folded-${theme}`)

    assert.match(await shown(0), /^system/)
    assert.equal(await page.locator('img.picture').count(), 1)
    assert.match(await shown(1), /elsewhere, not fetched: https:\/\/example\.org\/other\.png/)
    assert.match(
      await shown(2),
      /Reasoning Both files may be stale.*Reasoning redacted_thinking.*↳ first file.*↳ no such file/,
    )
    assert.equal(await item(2).locator('.call.failed').count(), 1)
    assert.match(
      await shown(5),
      /shell shell_call \{"commands":\["ls -l"\],"timeout_ms":1000\} ↳ total 0/,
    )
    assert.match(
      await shown(7),
      /web_search server_tool_use · run by the provider .*↳ .*The cache is stale\./,
    )
    assert.equal(
      await item(7).locator('.result').count(),
      0,
      'the answer stands inside of its call',
    )
    assert.match(
      await shown(8),
      /night\.log text\/plain The log of the night\..*A sound · wav, not shown: 3 bytes .*hologram/,
    )
    assert.match(await shown(9), /refusal I cannot look at holograms\. .*no answer here/)

    for (const head of await page.locator('.list .fold-head').all()) await head.click()
    await page.waitForTimeout(300)
    await picture(page, `blocks-open-${theme}`)
    assert.ok(
      (await item(2).locator('.call .json').first().innerText()).includes('1.50'),
      'numbers keep their spelling',
    )
    assert.match(await shown(7), /Answer .*https:\/\/example\.org\/stale/)
    assert.match(await shown(8), /"depth": 3/)
    assert.deepEqual(await axe(page), [])
    assert.deepEqual(await faults(), [])
    await context.close()
  })
}
