// Recorded requests: the list that grows by itself, one against the one before it, and what broke the provider's cache.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, beforeEach, test } from 'node:test'
import { axe, openPage, picture, startBrowser, startServer } from './harness.mjs'

const id = 'recorded'
const mark = { cache_control: { type: 'ephemeral' } }
const tools = ['read_file', 'write_file', 'search'].map(name => ({
  name,
  description: `The tool ${name}.`,
  input_schema: { type: 'object', properties: { path: { type: 'string' } } },
}))
const system = day => [
  {
    type: 'text',
    text: 'You help with the nightly export of a database. Be brief, and say what you measured.',
  },
  { type: 'text', text: `The day is ${day}. The branch is main.`, ...mark },
]
const said = count =>
  Array.from({ length: 2 * count - 1 }, (_, i) => ({
    role: i % 2 ? 'assistant' : 'user',
    content:
      i % 2
        ? [{ type: 'text', text: `Answer ${i}: the index is used.` }]
        : `Question ${i}: why does the export take an hour?`,
  }))
const marked = messages => [
  ...messages.slice(0, -1),
  { ...messages.at(-1), content: [{ type: 'text', text: messages.at(-1).content, ...mark }] },
]
const body = (more = {}) => ({
  model: 'claude-sonnet-4-5',
  max_tokens: 1024,
  stream: true,
  system: system('Monday'),
  tools,
  messages: marked(said(1)),
  ...more,
})
const stream =
  'event: message_start\ndata: {"type":"message_start"}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n'

let server
let browser
let view
let page
let sent = 0

async function record(request, more = {}) {
  const text = typeof request === 'string' ? request : JSON.stringify(request)
  ++sent
  const usage = {
    requestId: `msg_${sent}`,
    model: 'claude-sonnet-4-5',
    prompt: 14_210 + 640 * sent,
    completion: 210 + sent,
    cached: 13_900,
  }
  const given = {
    client: 'anthropic',
    method: 'POST',
    path: '/v1/messages',
    status: 200,
    firstByteMs: 420,
    durationMs: 3820,
    timestamp: Date.UTC(2026, 4, 4, 9, sent),
    answer: stream,
    usage,
    ...more,
  }
  return server.api('POST', `/v1/conversations/${more.to ?? id}/requests`, {
    ...given,
    to: undefined,
    request: text,
  })
}

before(async () => {
  server = await startServer({ sample: false })
  browser = await startBrowser()
  await server.api('POST', '/v1/conversations', { id })
  await server.api('POST', '/v1/conversations', { id: 'silent' })
  await record(body())
  await record(body({ messages: marked(said(2)) }))
  await record(body({ messages: marked(said(3)), system: system('Tuesday') }), {
    usage: {
      requestId: 'msg_3',
      model: 'claude-sonnet-4-5',
      prompt: 16_130,
      completion: 213,
      cached: 0,
    },
  })
  await record(body({ messages: marked(said(3)), system: system('Tuesday') }), {
    status: 529,
    usage: undefined,
    answer: '{"type":"error","error":{"type":"overloaded_error"}}',
    durationMs: 96,
  })
  await record(
    body({ messages: marked(said(4)), system: system('Tuesday'), tools: tools.slice(0, 2) }),
    { torn: true },
  )
})
after(async () => {
  await browser?.close()
  await server?.stop()
})
beforeEach(async () => {
  await view?.context.close()
  view = await openPage(browser, server, { path: `/#/${id}` })
  ;({ page } = view)
})

const rows = () => page.locator('.requests tbody tr')
const open = async number => {
  await page.goto(`${server.url}/#/${id}/requests/${number}`)
  await page.getByRole('heading', { name: `Request ${number}`, exact: true }).waitFor()
  await page.locator('.facts').waitFor()
}
const verdict = () => page.locator('.verdict').textContent()

test('requests are one click away, the newest first, with what they cost', async () => {
  await page.getByRole('link', { name: 'Requests' }).click()
  await rows().first().waitFor()
  const shown = await rows().allTextContents()
  assert.equal(shown.length, 5)
  assert.match(
    shown[0],
    /^52026-05-04 09:05:00claude-sonnet-4-5200 torn17,41013,900 79%215420 ms3.82 s$/,
  )
  assert.match(shown[1], /^4.*529–––420 ms96 ms$/)
  assert.match(shown[2], /16,1300 0%/)
  await picture(page, 'requests-light')
  assert.deepEqual(await view.faults(), [])
})

test('the ledger has what the requests cost, and the misses that should have been hits', async () => {
  await server.api('POST', '/v1/conversations', { id: 'billed' })
  const days = ['Monday', 'Monday', 'Tuesday']
  for (const [i, day] of days.entries()) {
    const request = body({ messages: marked(said(2 + Math.min(i, 1))), system: system(day) })
    await server.api('POST', '/v1/conversations/billed/operations', {
      operation: 'RECONCILE',
      client: 'anthropic',
      request,
    })
    const usage = {
      requestId: `msg_billed_${i}`,
      model: 'claude-sonnet-4-5',
      prompt: 14_000 + 1_000 * i,
      completion: 100,
      cached: i === 1 ? 13_990 : 0,
      cacheWritten: i === 1 ? 1_000 : 14_000,
    }
    await record(request, { to: 'billed', usage, timestamp: Date.UTC(2026, 4, 5, 9, i) })
  }
  await page.goto(`${server.url}/#/billed/requests`)
  const ledger = page.getByRole('region', { name: 'Cost' })
  await ledger.locator('tbody tr').first().waitFor()
  const cells = await ledger
    .locator('tr')
    .evaluateAll(all => all.map(row => [...row.cells].map(cell => cell.textContent)))
  // 2,010 tokens at $3 a million, 13,990 read at $0.30, 29,000 written at $3.75, 300 answered at $15.
  assert.deepEqual(cells, [
    ['Day', 'Model', 'Turns', 'Sent', 'Read', 'Written', 'Missed', 'Out', 'Dollars'],
    [
      '2026-05-05',
      'claude-sonnet-4-5',
      '3',
      '45,000',
      '13,990',
      '29,000',
      '14,990',
      '300',
      '$0.1235',
    ],
  ])
  await ledger.getByText('All figures are the upstream’s. Missed cache: $0.0517.').waitFor()
  const findings = ledger.getByRole('list', { name: 'Misses that should have been hits' })
  assert.deepEqual(await findings.locator('li').allTextContents(), [
    'Request 3 missed 14,990 tokens ($0.0517) that request 2 had left: system[1].text differs from byte 11 on.',
  ])
  assert.deepEqual(await view.faults(), [])
  await findings.getByRole('link', { name: 'Request 3' }).click()
  await page.getByRole('heading', { name: 'Request 3', exact: true }).waitFor()
  assert.match(await verdict(), /The cache breaks at system\[1\]\.text, after byte 11 of it\./)
})

test('the ledger of all conversations is read when it is opened', async () => {
  await page.goto(`${server.url}/#/${id}/requests`)
  const all = page.locator('details.ledger')
  assert.equal(await all.locator('table').count(), 0)
  await page.getByText('Cost of all conversations').click()
  await all.locator('tbody tr').first().waitFor()
  const stored = await server.api('GET', '/v1/ledger')
  assert.deepEqual(
    await all.locator('tbody th').allTextContents(),
    stored.map(row => row.day),
  )
  assert.ok(stored.some(row => row.day === '2026-05-04'))
  assert.deepEqual(await view.faults(), [])
})

for (const [name, theme, viewport] of [
  ['wide', 'light', { width: 1440, height: 900 }],
  ['dark', 'dark', { width: 1440, height: 900 }],
  ['phone', 'light', { width: 390, height: 844 }],
])
  test(`turns are a waterfall, with their cost and what the cache did, ${name}`, async () => {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme: theme })
    await page.goto(`${server.url}/#/${id}/requests`)
    await page.getByText('Waterfall of turns').click()
    const falls = page.locator('.waterfall tbody tr')
    await falls.nth(4).waitFor()
    const said = (await falls.allInnerTexts()).map(text => text.replace(/\s+/g, ' '))
    assert.equal(said.length, 5, 'the oldest first')
    assert.match(said[0], name === 'phone' ? /^1 \$\d/ : /^1 3\.82 s \$\d/)
    assert.match(said[1], /read 89%$/)
    assert.match(said[2], /missed [\d,]+$/)
    assert.match(said[3], name === 'phone' ? /^4 no price/ : /^4 96 ms/)
    // Each begins where the one before it ended.
    const bars = await falls.evaluateAll(all =>
      all.map(row => {
        const wait = row.querySelector('.fall-wait').getBoundingClientRect()
        const answer = row.querySelector('.fall-answer').getBoundingClientRect()
        return { left: wait.left, right: answer.right }
      }),
    )
    for (let i = 1; i < bars.length; ++i)
      assert.ok(Math.abs(bars[i].left - bars[i - 1].right) < 2.5, JSON.stringify(bars))
    await picture(page, `waterfall-${name}`)
    assert.deepEqual(await axe(page), [])
    const right = await page
      .locator('.waterfall')
      .evaluate(table => table.getBoundingClientRect().right)
    assert.ok(right <= viewport.width, 'the table is no wider than the screen')
    assert.deepEqual(await view.faults(), [])
  })

test('a request that comes meanwhile appears by itself', async () => {
  await page.goto(`${server.url}/#/silent/requests`)
  await page.getByText('None yet.').waitFor()
  await record(body(), { to: 'silent' })
  await rows().first().waitFor()
  await record(body(), { to: 'silent' })
  await page.getByRole('link', { name: 'Request 2', exact: true }).waitFor()
})

test('a request that only goes on leaves the cache whole, though its markers moved', async () => {
  await open(2)
  assert.match(
    await verdict(),
    /The cache holds\. Request 1 is the beginning of this one; new from messages\[1\] on\./,
  )
  await picture(page, 'request-holds')
})

test('what broke the cache is named, with the byte and what stood there', async () => {
  await open(3)
  assert.match(await verdict(), /The cache breaks at system\[1\]\.text, after byte 11 of it\./)
  assert.match(
    await verdict(),
    /\d+ of [\d,]+ bytes before it stayed equal \(\d+%, about [\d,]+ tokens\)/,
  )
  assert.deepEqual(await page.locator('.verdict mark').allTextContents(), [
    'Monday. The branch is main.',
    'Tuesday. The branch is main.',
  ])
  const paths = await page.locator('.changes .path').allTextContents()
  assert.deepEqual(paths, [
    'system[1].text',
    'messages[2].content[0].cache_control',
    'messages[3]',
    'messages[4]',
  ])
  await picture(page, 'request-broken')
  await open(5)
  assert.match(
    await verdict(),
    /The cache breaks at system\[0\]\.type, where request 4 had tools\[2\]\.name\./,
  )
})

test('a request is compared with any other', async () => {
  await open(3)
  await page.getByLabel('Compare with').fill('1')
  await page.getByLabel('Compare with').press('Enter')
  await page.getByRole('heading', { name: 'Against request 1' }).waitFor()
  await page.getByLabel('Compare with').fill('99')
  await page.getByLabel('Compare with').press('Enter')
  await page.getByText('there is no request 99').waitFor()
  await page.locator('.raw-chunk').first().waitFor()
  await page.getByLabel('Compare with').fill('')
  await page.getByLabel('Compare with').press('Enter')
  await page.getByRole('heading', { name: 'Against request 2' }).waitFor()
})

test('the raw texts are shown, copied and saved as they were sent', async () => {
  await view.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await open(2)
  await page.locator('.raw-chunk', { hasText: '"max_tokens": 1024' }).waitFor()
  await page.locator('.raw-chunk', { hasText: 'event: message_start' }).waitFor()
  await page.getByRole('button', { name: 'Copy the request' }).click()
  await page.getByText('Request copied.').waitFor()
  const exact = JSON.stringify(body({ messages: marked(said(2)) }))
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), exact)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download the request' }).click(),
  ])
  assert.equal(download.suggestedFilename(), 'recorded-request-2.json')
  assert.equal(readFileSync(await download.path(), 'utf8'), exact)
})

test('bytes that are no text, and texts that were not recorded, are said to be so', async () => {
  await server.api('POST', '/v1/conversations', { id: 'odd' })
  await server.api('POST', '/v1/conversations/odd/requests', {
    client: 'anthropic',
    requestBase64: 'AP8B',
    status: 0,
  })
  await page.goto(`${server.url}/#/odd/requests/1`)
  await page.getByText('Not a text.').waitFor()
  await page.getByText('There is none.').waitFor()
  await page.getByText('no answer').waitFor()
  await page.goto(`${server.url}/#/odd/requests/7`)
  await page.getByText('there is no request 7').waitFor()
})

test('the versions of a request lead to the transcript, and back leads back', async () => {
  await open(2)
  await page
    .getByRole('link', { name: /^version/ })
    .first()
    .click()
  await page.locator('.transcript').waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Request 2', exact: true }).waitFor()
  await page.getByRole('link', { name: 'Later' }).click()
  await page.getByRole('heading', { name: 'Request 3', exact: true }).waitFor()
  await page.getByRole('link', { name: 'All requests' }).click()
  await rows().first().waitFor()
})

test('the list is walked with the keyboard', async () => {
  await page.goto(`${server.url}/#/${id}/requests`)
  await page.getByRole('link', { name: 'Request 5', exact: true }).focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  assert.equal(
    await page.evaluate(() => document.activeElement?.getAttribute('aria-label')),
    'Request 4',
  )
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Request 4', exact: true }).waitFor()
})

test('ten megabytes do not stop the page', async () => {
  await server.api('POST', '/v1/conversations', { id: 'large' })
  const long = last =>
    body({
      messages: [
        ...Array.from({ length: 2000 }, (_, i) => ({
          role: i % 2 ? 'assistant' : 'user',
          content: `${i} ` + 'a line of a long file\n'.repeat(230),
        })),
        { role: 'user', content: last },
      ],
    })
  await record(long('one'), { to: 'large' })
  await record(long('two'), { to: 'large' })
  await page.goto(`${server.url}/#/large/requests`)
  await rows().first().waitFor()
  await page.evaluate(() => {
    window.__tasks = []
    new PerformanceObserver(list =>
      list.getEntries().forEach(entry => window.__tasks.push(Math.round(entry.duration))),
    ).observe({ type: 'longtask' })
  })
  const started = Date.now()
  await page.getByRole('link', { name: 'Request 2', exact: true }).click()
  await page.locator('.verdict').waitFor({ timeout: 60_000 })
  const shownMs = Date.now() - started
  assert.match(await verdict(), /The cache breaks at messages\[2000\]/)
  assert.ok((await page.locator('.raw-chunk').count()) < 30)
  // Heights become known while one scrolls, so the end is found by going there until it stays.
  await page.waitForFunction(() => {
    const box = document.querySelector('.raw-text')
    box.scrollTop = box.scrollHeight
    return [...box.querySelectorAll('.raw-chunk')].some(chunk =>
      chunk.textContent.includes('"two"'),
    )
  })
  const tasks = await page.evaluate(() => window.__tasks)
  console.log(
    `10 MB shown after ${shownMs} ms; tasks longer than 50 ms: ${tasks.join(', ') || 'none'}`,
  )
  assert.ok(Math.max(0, ...tasks) < 500, tasks.join())
})

for (const theme of ['light', 'dark']) {
  for (const [name, viewport] of [
    ['wide', { width: 1440, height: 900 }],
    ['phone', { width: 390, height: 844 }],
  ]) {
    test(`axe finds nothing, ${theme}, ${name}`, async () => {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme: theme })
      await page.goto(`${server.url}/#/${id}/requests`)
      await rows().first().waitFor()
      await picture(page, `requests-${theme}-${name}`)
      assert.deepEqual(await axe(page), [])
      await open(3)
      await page.locator('.verdict').waitFor()
      await picture(page, `request-${theme}-${name}`)
      assert.deepEqual(await axe(page), [])
      assert.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        'nothing is wider than the screen',
      )
      assert.deepEqual(await view.faults(), [])
    })
  }
}
