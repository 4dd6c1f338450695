import { expect, test } from 'vitest'
import type { Block, Row } from '../api/types'
import { nothingRedacted, redactor, sharedPage, type Redactions } from './share'

const row = (index: number, role: Row['role'], blocks: Block[]): Row =>
  ({
    index,
    ordinal: index,
    time: 0,
    tokens: 5,
    marks: [],
    standsFor: [],
    role,
    blocks,
    message: {},
  }) as unknown as Row
const facts = { id: 'c', title: 'A <b>title</b>', version: 3, time: '2026-11-18' }
const page = (rows: Row[], chosen: Partial<Redactions> = {}) =>
  sharedPage(facts, rows, { ...nothingRedacted, ...chosen })

const hostile = '</div><script>alert(1)</script><img src=x onerror=alert(2)>" \''

test('what messages say is text, wherever it stands', () => {
  const everywhere = page([
    row(0, 'user', [{ kind: 'text', text: hostile }]),
    row(1, 'assistant', [
      { kind: 'reasoning', text: hostile },
      { kind: 'call', callId: 'a', name: hostile, arguments: hostile },
    ]),
    row(2, 'tool', [{ kind: 'result', callId: 'a', blocks: [{ kind: 'text', text: hostile }] }]),
    row(3, 'user', [
      { kind: 'media', media: 'file', source: 'text', data: hostile, filename: hostile },
      { kind: 'opaque', type: hostile, json: { hostile } },
    ]),
  ])
  expect(everywhere).not.toMatch(/<script|<img|onerror=alert\(2\)>(?!&)/)
  expect(everywhere.match(/&lt;script&gt;alert\(1\)/g)?.length).toBe(9)
  expect(everywhere).toContain('A &lt;b&gt;title&lt;/b&gt;')
  expect(everywhere).toContain("default-src 'none'")
})

test('a picture of the message is shown, one from elsewhere is not fetched', () => {
  const shown = page([
    row(0, 'user', [
      { kind: 'media', media: 'image', source: 'base64', mime: 'image/png', data: 'AAAA' },
    ]),
  ])
  expect(shown).toContain('src="data:image/png;base64,AAAA"')
  const elsewhere = page([
    row(0, 'user', [{ kind: 'media', media: 'image', source: 'url', data: 'https://[::1]/a.png' }]),
  ])
  expect(elsewhere).not.toMatch(/<img|::1/)
})

test('of what is left out there is no trace', () => {
  const rows = [
    row(0, 'system', [{ kind: 'text', text: 'alpha' }]),
    row(1, 'assistant', [
      { kind: 'reasoning', text: 'beta' },
      { kind: 'call', callId: 'a', name: 'read', arguments: { path: 'gamma' } },
    ]),
    row(2, 'tool', [{ kind: 'result', callId: 'a', blocks: [{ kind: 'text', text: 'delta' }] }]),
    row(3, 'user', [
      { kind: 'media', media: 'image', source: 'base64', mime: 'image/png', data: 'epsilon0' },
      { kind: 'text', text: 'Zeta and zeta' },
    ]),
  ]
  for (const word of ['alpha', 'beta', 'gamma', 'delta', 'epsilon0', 'Zeta'])
    expect(page(rows)).toContain(word)
  const none = page(rows, {
    system: true,
    reasoning: true,
    arguments: true,
    results: true,
    media: true,
    words: ['zeta', ''],
  })
  expect(none).not.toMatch(/alpha|beta|gamma|delta|epsilon0|zeta/i)
  expect(none).toContain('3 messages of version 3')
})

test.each([
  ['sk-ant-api03-AbCdEfGhIjKlMnOpQrStUv', 'a key'],
  ['sk-proj-AbCdEfGhIjKlMnOpQrStUv', 'a key'],
  ['ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789', 'a token'],
  ['AKIAABCDEFGHIJKLMNOP', 'an id'],
  ['hunter2hunter2', 'password: '],
  ['abcdefghijklmnop', 'Authorization: Bearer '],
  ['somebody@mail.example', 'mail to '],
  ['wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'AWS_SECRET_ACCESS_KEY='],
  ['django-insecure-0123456789', 'SECRET_KEY = '],
])('%s is a secret', (secret, before) => {
  const clean = redactor({ ...nothingRedacted, secrets: true })(
    `${before}${before.endsWith(' ') ? '' : ' '}${secret} and more`,
  )
  expect(clean).not.toContain(secret)
  expect(clean).toContain('and more')
})

test('what is none stays', () => {
  const plain = 'The tokenizer counts 42,400 tokens of src/rate.c; see task-list and disk-usage.'
  expect(redactor({ ...nothingRedacted, secrets: true, words: ['(a+)+$'] })(plain)).toBe(plain)
})

test('a password of an address is a secret', () => {
  expect(
    redactor({ ...nothingRedacted, secrets: true })('postgres://app:hunter2hunter2@db/x'),
  ).not.toContain('hunter2hunter2')
})

test('what is JSON is redacted before it is written', () => {
  const call = (json: unknown) => [
    row(0, 'assistant', [{ kind: 'call', callId: 'a', name: 'run', arguments: json } as Block]),
  ]
  const command = {
    command: `curl -d '{"password":"hunter2hunter2"}'`,
    path: 'C:\\Users\\anna\\x',
    token: 'abcdef0123456',
  }
  for (const given of [command, JSON.stringify(command)]) {
    const clean = page(call(given), { secrets: true, words: ['C:\\Users\\anna'] })
    expect(clean).not.toMatch(/hunter2|anna|abcdef0123456/)
    expect(clean).toContain('curl')
  }
  expect(page(call({ text: 'API_KEY=abcdef123456\nNEXT=1' }), { secrets: true })).toContain(
    'NEXT=1',
  )
})

test('a result in a form that nobody knows is left out with the others', () => {
  const rows = [
    row(0, 'tool', [
      { kind: 'opaque', type: 'foo_output', json: { output: 'delta' } } as unknown as Block,
    ]),
  ]
  expect(page(rows, { results: true })).not.toContain('delta')
})

test('long runs of one kind of character take no long time', () => {
  const redact = redactor({ ...nothingRedacted, secrets: true })
  const took = (text: string) => {
    const start = performance.now()
    redact(text)
    return performance.now() - start
  }
  const best = (text: string) => Math.min(took(text), took(text), took(text))
  for (const run of ['a', ' ', 'token=', ':', 'a.', '-']) {
    const short = run.repeat(20_000),
      long = run.repeat(80_000)
    expect(best(long), run).toBeLessThan(12 * best(short) + 50)
  }
})
