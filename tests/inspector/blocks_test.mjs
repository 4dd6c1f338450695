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

const esc = '\u001b'
const prose = `# Findings

Two files are **stale**, and \`make\` does *not* say so; see [the page](https://example.org/stale) and ~~nothing~~.

1. Clean the cache:
   - by hand
   - or with \`make clean\`
2. Build again

| file | lines | state |
|------|:-----:|-------|
| a.c  | 120   | stale |
| b.c  | 7     | **new** |

> It worked yesterday.

\`\`\`diff
-int a = 1;
+int a = 2;
\`\`\`

\`\`\`cpp
template <class T> T twice(T t) { return t + t; }
\`\`\`

[elsewhere](javascript:alert(1)) ![chart](https://example.org/chart.png) ![dot](data:image/png;base64,${png})
`
const diff = `diff --git a/a.c b/a.c
--- a/a.c
+++ b/a.c
@@ -1,3 +1,3 @@
 int main() {
-  return 1;
+  return 0;
 }
`
const coloured = `${esc}[1;32mPASS${esc}[0m one\n${esc}[31mFAIL${esc}[0m two ${esc}[38;5;208morange${esc}[0m ${esc}[7minverted${esc}[0m${esc}[2K`
const nested = {
  id: 7,
  price: 1.5,
  found: Array.from({ length: 30 }, (_, i) => ({ file: `a${i}.c`, at: { line: i } })),
}
const outputs = [diff, coloured, '**not** Markdown: a_b_c', JSON.stringify(nested)]
const toolRun = outputs.flatMap((output, i) => [
  { role: 'assistant', content: '', tool_calls: [call(`t${i}`, 'run', '{}')] },
  { role: 'tool', tool_call_id: `t${i}`, content: output },
])
const looks = [
  ['light', { width: 1440, height: 2200 }],
  ['dark', { width: 1440, height: 2200 }],
  ['light', { width: 390, height: 4000 }],
]

for (const [theme, viewport] of looks) {
  test(`texts are set out as what they are, ${theme}, ${viewport.width} wide`, async () => {
    const id = `texts-${theme}-${viewport.width}`
    await server.api('POST', '/v1/conversations', { id })
    await server.api('POST', operations(id), {
      operation: 'APPEND',
      messages: [{ role: 'assistant', content: prose }, ...toolRun],
    })
    const { page, context, faults } = await openPage(browser, server, {
      path: `/#/${id}`,
      theme,
      viewport,
    })
    await firstCard(page)
    await page.locator('.item[data-index="7"]').waitFor()
    const said = page.locator('.item[data-index="0"] .text')
    assert.equal(await said.locator('.md-heading').innerText(), 'Findings')
    assert.equal(await said.locator('ol > li').count(), 2)
    assert.equal(await said.locator('ol ul > li').count(), 2)
    assert.deepEqual(await said.locator('th').allInnerTexts(), ['file', 'lines', 'state'])
    assert.deepEqual(await said.locator('.md-language').allInnerTexts(), ['diff', 'cpp'])
    assert.equal(await said.locator('.diff-added').innerText(), '+int a = 2;')
    assert.deepEqual(
      await said.locator('a').evaluateAll(links => links.map(a => [a.textContent, a.rel])),
      [
        ['https://example.org/stale', 'noopener noreferrer'],
        ['https://example.org/chart.png', 'noopener noreferrer'],
      ],
    )
    assert.match(await said.innerText(), /elsewhere \(javascript:alert\(1\)\)/)
    assert.equal(await said.locator('img').count(), 1, 'only the picture that is in the text')

    for (const head of await page.locator('.list .call > .fold-head').all()) await head.click()
    const answer = i => page.locator(`.item[data-index="${2 * i + 1}"] .text`)
    assert.equal(await answer(0).locator('.diff-removed').textContent(), '-  return 1;\n')
    assert.equal(await answer(1).innerText(), 'PASS one\nFAIL two orange inverted')
    assert.equal(await answer(1).locator('.ansi-ink-2.ansi-bold').innerText(), 'PASS')
    assert.equal(await answer(2).innerText(), outputs[2])
    const folds = answer(3).locator('.json-fold')
    assert.equal(await folds.nth(1).getAttribute('aria-expanded'), 'true')
    await folds.nth(1).click()
    assert.match(await answer(3).innerText(), /"found": \[ … 30 \]/)
    await folds.nth(1).click()
    assert.match(await answer(3).innerText(), /"file": "a29\.c"/)
    await picture(page, id)
    assert.deepEqual(await axe(page), [])
    const beyond = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    assert.equal(beyond, 0, 'the page is as wide as the screen')

    await page.getByRole('button', { name: 'Raw' }).click()
    assert.equal(await said.evaluate(text => text.textContent), prose)
    assert.equal(await answer(1).evaluate(text => text.textContent), coloured)
    assert.equal(await answer(3).evaluate(text => text.textContent), JSON.stringify(nested))
    assert.deepEqual(await axe(page), [])
    assert.deepEqual(await faults(), [])
    await context.close()
  })
}

test('a huge text is set out a part at a time', async () => {
  await server.api('POST', '/v1/conversations', { id: 'huge' })
  const line = '**word** and _more_\n'
  const huge = line.repeat(20_000)
  await server.api('POST', operations('huge'), {
    operation: 'APPEND',
    messages: [
      { role: 'assistant', content: line.repeat(1000) },
      { role: 'assistant', content: huge },
      {
        role: 'tool',
        tool_call_id: 'none',
        content: JSON.stringify({
          list: Array.from({ length: 2000 }, (_, i) => ({ name: `n${i}`, at: [i] })),
          text: 'y'.repeat(50_000),
        }),
      },
    ],
  })
  const { page, context, faults } = await openPage(browser, server, { path: '/#/huge' })
  await firstCard(page)
  const text = index => page.locator(`.item[data-index="${index}"] .text`)
  assert.ok((await text(0).locator('strong').count()) < 300)
  await text(0).getByRole('button', { name: 'Show all' }).click()
  assert.equal(await text(0).locator('strong').count(), 1000)
  await page.getByLabel('Go to #').fill('1')
  await page.keyboard.press('Enter')
  await text(1).getByRole('button', { name: 'Show all' }).click()
  assert.equal(await text(1).evaluate(element => element.textContent), huge)
  assert.equal(await text(1).locator('strong').count(), 0, 'too much of it to be set out')
  await page.getByLabel('Go to #').fill('2')
  await page.keyboard.press('Enter')
  await text(2).getByText('… 2,000').waitFor()
  assert.ok((await text(2).locator('.json-line').count()) < 10)
  assert.ok((await text(2).evaluate(element => element.textContent.length)) < 6000)
  await text(2).getByRole('button', { name: 'List of 2,000' }).click()
  assert.equal(await text(2).locator('.json-fold').count(), 102)
  await text(2).getByRole('button', { name: '1,900 more' }).waitFor()
  assert.deepEqual(await faults(), [])
  await context.close()
})
