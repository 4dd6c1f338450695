// Input that is wrong in every way JavaScript has: nothing crashes, nothing changes, and every failure has a type.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import vm from 'node:vm'
import {
  Conversation,
  inMemory,
  MemoryConversation,
  open,
  openStore,
  UndertextError,
  View,
  type Message,
} from 'undertext'
import { temporaryStore } from './temporary.js'

const good: Message = { role: 'user', content: 'there before' }

function getter(): object {
  return {
    role: 'user',
    get content(): string {
      throw new Error('from a getter')
    },
  }
}
const cyclic: Record<string, unknown> = { role: 'user', content: 'x' }
cyclic['self'] = { deeper: [cyclic] }
const deep = JSON.parse('['.repeat(500) + ']'.repeat(500)) as unknown
let bomb: unknown = 'x'.repeat(1024)
for (let i = 0; i < 40; ++i) bomb = [bomb, bomb]
const revoked = Proxy.revocable({}, {})
revoked.revoke()

const refused: [what: string, value: unknown, place?: string][] = [
  ['NaN', { role: 'user', content: 'x', metadata: { n: NaN } }, 'metadata.n'],
  ['Infinity', { role: 'user', content: 'x', list: [1, -Infinity] }, 'list[1]'],
  ['undefined', undefined],
  ['undefined in a list', { role: 'user', content: 'x', list: [undefined] }, 'list[0]'],
  ['a hole in a list', { role: 'user', content: 'x', list: [, 1] }, 'list[0]'],
  ['undefined where something must be', { role: 'user', content: undefined }, 'content'],
  ['a function', { role: 'user', content: 'x', f: () => 1 }, 'f'],
  ['a method', { role: 'user', content: 'x', toJSON: () => 'other' }, 'toJSON'],
  ['a symbol', { role: 'user', content: Symbol('x') }, 'content'],
  ['a BigInt', { role: 'user', content: 'x', big: 9007199254740993n }, 'big'],
  ['a Date', { role: 'user', content: 'x', at: new Date() }, 'at'],
  ['a Map', { role: 'user', content: 'x', map: new Map([[1, 2]]) }, 'map'],
  ['a Promise', { role: 'user', content: Promise.resolve('x') }, 'content'],
  ['bytes', { role: 'user', content: new Uint8Array(3) }, 'content'],
  ['a cycle', cyclic],
  ['deep nesting', { role: 'user', content: 'x', deep }],
  ['a getter that throws', getter(), 'content'],
  ['a proxy that throws', { role: 'user', content: 'x', revoked: revoked.proxy }, 'revoked'],
  ['a lone high surrogate', { role: 'user', content: 'a\ud83d' }, 'content'],
  ['a lone low surrogate', { role: 'user', content: '\ude00b' }, 'content'],
  ['a lone surrogate in a key', { role: 'user', content: 'x', ['\ud800']: 1 }],
  ['a number', 7],
  ['a string', 'hello'],
  ['null', null],
  ['an empty list', []],
  ['a list of lists', [[good]]],
  ['no role', { content: 'x' }, 'role'],
  ['another role', { role: 'robot', content: 'x' }, 'role'],
  ['content of another type', { role: 'user', content: 5 }, 'content'],
]

// More than is written at once.
const long: Message[] = [...Array(3000)].map(() => good)

const kinds: [name: string, make: (url: string) => Promise<Conversation | MemoryConversation>][] = [
  ['at once', async () => new MemoryConversation()],
  ['in memory', async () => inMemory()],
  ['in a store', url => open(url)],
]
for (const [name, make] of kinds) {
  test(`what is no data is refused with a type, and changes nothing: ${name}`, async t => {
    const conversation = await make(temporaryStore(t))
    await conversation.append(good)
    for (const [what, value, place] of refused) {
      const calls: [string, () => unknown][] = [
        ['append', () => conversation.append(value as Message)],
        ['append in a list', () => conversation.append([good, value as Message])],
        ['append in a long list', () => conversation.append([...long, value as Message, good])],
        [
          'append one by one',
          () => conversation.append([...long, value as Message, good].values()),
        ],
        ['apply', () => conversation.apply({ operation: 'APPEND', messages: [value as Message] })],
        ['insert', () => conversation.insert(0, value as Message)],
      ]
      for (const [how, call] of calls) {
        await assert.rejects(
          async () => call(),
          error => {
            assert.ok(error instanceof UndertextError, `${how}: ${what}: ${String(error)}`)
            assert.match(error.code, /^(invalid_argument|too_large)$/, `${how}: ${what}`)
            if (place !== undefined && how !== 'append in a list')
              assert.ok(
                (error.path ?? error.field)?.endsWith(place),
                `${how}: ${what}: ${error.path} ${error.field}`,
              )
            return true
          },
        )
      }
    }
    assert.equal(await conversation.version(), 1)
    assert.deepEqual(await conversation.messages(), [good])
    await conversation.close()
  })
}

test('queries and arguments of the wrong kind are refused with a type', async () => {
  const conversation = inMemory()
  const wrong: (() => unknown)[] = [
    () => conversation.messages(5 as never),
    () => conversation.messages([] as never),
    () => conversation.messages({ last: -1 }),
    () => conversation.messages({ last: 1.5 }),
    () => conversation.messages({ last: '3' } as never),
    () => conversation.messages({ unknown: 1 } as never),
    () =>
      conversation.messages({
        get last(): number {
          throw new Error('x')
        },
      }),
    () => conversation.messages({ query: 'count' } as never),
    () => conversation.apply({ operation: 'EXPLODE' } as never),
    () => conversation.apply([] as never),
    () => conversation.apply(undefined as never),
    () => conversation.rollback('0' as never),
    () => conversation.fork({ version: -1 }),
    () => conversation.fork({ version: 99 }),
    () => conversation.fork({ id: 5 as never }),
    () => conversation.setTokenizer(undefined as never),
    () => conversation.setTokenizer('\ud800'),
    () => conversation.importMarkMap({} as never),
    () => conversation.checkpoint(),
    () => conversation.transformBy({ roles: ['user'] }, 5 as never),
    () => open(5 as never),
    () => open('nonsense:'),
    () => open('memory:', '\udfff'),
    () => inMemory({ tokenizer: 5 as never }),
    () => inMemory({ unknown: true } as never),
    () => inMemory({ strategies: { x: 5 as never } }),
    () => inMemory({ strategies: { '': () => undefined } }),
  ]
  for (const call of wrong) {
    await assert.rejects(
      async () => call(),
      error => error instanceof UndertextError,
      String(call),
    )
  }
  assert.equal(await conversation.version(), 0)
})

test('settings and options of the wrong kind are refused with a type', async () => {
  const isTyped = { name: 'UndertextError', code: 'invalid_argument' }
  const wrong = [
    null,
    5,
    'settings',
    { strategies: null },
    { strategies: 'all' },
    { strategies: { x: null } },
    { strategies: { x: 5 } },
    { strategies: { x: {} } },
    { summarisers: null },
    { summarisers: { x: null } },
    { summarisers: { x: { summarise: null } } },
  ]
  await using store = await openStore('memory:')
  for (const settings of wrong as never[]) {
    assert.throws(() => inMemory(settings), isTyped, JSON.stringify(settings))
    assert.throws(() => new MemoryConversation(settings), isTyped, JSON.stringify(settings))
    await assert.rejects(store.open('c', settings), isTyped, JSON.stringify(settings))
  }
  for (const options of [null, 5] as never[]) {
    await assert.rejects(store.list(options), isTyped)
    await assert.rejects(open('memory:', 'c', options), isTyped)
    await assert.rejects(openStore('memory:', options), isTyped)
    await assert.rejects(store.open('c', undefined, options), isTyped)
  }
})

test('raw lines that are no JSON are answered, and lone surrogates in them refused', async () => {
  const conversation = inMemory()
  assert.match(await conversation.raw('nonsense'), /"ok":false.*invalid_argument/)
  assert.match(await conversation.raw(new Uint8Array([0xff, 0xfe])), /"ok":false.*invalid_argument/)
  assert.match(await conversation.raw(''), /"ok":false/)
  await assert.rejects(conversation.raw('{"query":"\ud800"}'), { code: 'invalid_argument' })
  assert.match(
    await conversation.raw(
      '{"operation":"APPEND","messages":[{"role":"user","content":"\ufffd and \\ud800"}]}',
    ),
    /"ok":true/,
  )
  assert.match(await conversation.raw({ query: 'messages' }), /\ufffd and \\ud800/)
})

test('__proto__ and its like are data', () => {
  const conversation = new MemoryConversation()
  const message = JSON.parse(
    '{"role":"user","content":"x","__proto__":{"polluted":true},"constructor":{"prototype":1},"metadata":{"__proto__":null}}',
  ) as Message
  conversation.append(message)
  assert.equal(
    conversation.raw({ query: 'messages' }),
    `{"ok":true,"messages":[${JSON.stringify(message)}],"ordinals":[0]}`,
  )
  const back = conversation.messages()[0]!
  assert.ok(Object.hasOwn(back, '__proto__'))
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
})

test('objects without a prototype, of another realm, of a class, frozen or behind a proxy are their members', () => {
  class Mine {
    readonly role = 'user'
    readonly content = 'of a class'
    readonly absent = undefined
  }
  const bare = Object.assign(Object.create(null) as object, { role: 'user', content: 'bare' })
  const other = vm.runInNewContext('({ role: "user", content: "elsewhere" })') as Message
  const conversation = new MemoryConversation()
  conversation.append([
    bare as Message,
    other,
    { ...new Mine() },
    new Mine() as unknown as Message,
    Object.freeze({ ...good }),
    new Proxy(good, {}),
  ])
  assert.equal(conversation.messages().length, 6)
  assert.ok(!conversation.raw({ query: 'messages' }).includes('absent'))
})

test('a getter is read once, and may use the conversation', () => {
  const conversation = new MemoryConversation()
  let reads = 0
  conversation.append({
    role: 'user',
    get content(): string {
      conversation.append({ role: 'user', content: `inner ${++reads}` })
      return 'outer'
    },
  })
  assert.deepEqual(
    conversation.messages().map(message => message.content),
    ['inner 1', 'outer'],
  )
})

test('a getter may send long texts on their way while its own is being read', async () => {
  const [outer, inner, at_once] = [inMemory(), inMemory(), new MemoryConversation()]
  const long = (name: string): Message => ({ role: 'user', content: name.repeat(100_000) })
  const within: Promise<unknown>[] = []
  await outer.append({
    ...long('a'),
    get metadata(): Record<string, unknown> {
      within.push(inner.append(long('b')))
      at_once.append(long('c'))
      return { also: 'd'.repeat(100_000) }
    },
  })
  await Promise.all(within)
  assert.deepEqual(await outer.messages(), [
    { ...long('a'), metadata: { also: 'd'.repeat(100_000) } },
  ])
  assert.deepEqual(await inner.messages(), [long('b')])
  assert.deepEqual(at_once.messages(), [long('c')])
})

test('a lone surrogate is found in a long text too', async () => {
  const conversation = inMemory()
  for (const at of [0, 65_535, 65_536, 70_000, 200_000]) {
    const content = 'x'.repeat(at) + '\ud83d' + 'y'.repeat(200_000 - at)
    await assert.rejects(conversation.append({ role: 'user', content }), {
      code: 'invalid_argument',
    })
    await conversation.append({ role: 'user', content: content.replace('\ud83d', '\u{1f600}') })
    assert.equal(
      (await conversation.messages({ last: 1 }))[0]?.content,
      content.replace('\ud83d', '\u{1f600}'),
    )
  }
})

test('objects changed after the call, or handed out and changed, change nothing inside', async t => {
  for (const conversation of [inMemory(), await open(temporaryStore(t))]) {
    const parts = [{ type: 'text', text: 'kept' }]
    const message: Message = { role: 'user', content: parts }
    const large: Message = { role: 'user', content: 'y'.repeat(100_000) }
    const appended = [conversation.append(message), conversation.append(large)]
    parts[0]!.text = 'changed'
    large.content = 'changed'
    await Promise.all(appended)
    const first = await conversation.messages()
    first[0]!.content = 'changed'
    first.length = 0
    const again = await conversation.messages()
    assert.deepEqual(again[0]?.content, [{ type: 'text', text: 'kept' }])
    assert.equal(String(again[1]?.content).length, 100_000)
    await conversation.close()
  }
})

test('a value that is small and yet has no end is too large', () => {
  const conversation = new MemoryConversation()
  assert.throws(() => conversation.append({ role: 'user', content: 'x', bomb }), {
    code: 'too_large',
  })
  assert.equal(conversation.version(), 0)
})

test('huge strings are stored, or too large', async () => {
  const conversation = inMemory()
  await conversation.append({ role: 'user', content: 'ü'.repeat(4 << 20) })
  await assert.rejects(conversation.append({ role: 'user', content: 'x'.repeat(17 << 20) }), {
    code: 'too_large',
  })
  assert.equal(String((await conversation.messages())[0]?.content).length, 4 << 20)
  await conversation.close()
})

test('methods on the wrong object are refused, not obeyed', () => {
  const conversation = new MemoryConversation()
  assert.throws(
    () => MemoryConversation.prototype.version.call({} as MemoryConversation),
    TypeError,
  )
  const view = conversation.view()
  assert.throws(
    () => MemoryConversation.prototype.version.call(view as unknown as MemoryConversation),
    TypeError,
  )
  assert.throws(() => View.prototype.version.call(conversation as unknown as View), TypeError)
  view.close()
  assert.throws(() => view.size, { code: 'invalid_argument' })
})
