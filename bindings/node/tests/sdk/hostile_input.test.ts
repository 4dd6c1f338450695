import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import {
  ContextProcessorNodeHandler,
  ConversationManager,
  EventType,
  MessageArrayManager,
  PipelineStrategy,
  UndertextError,
  ValidationError,
  validateContextProcessorNodeConfig,
} from 'undertext/sdk'
import type { LLMMessage } from 'undertext/sdk'
import { all, conversationOf, messageOf } from './conversations.js'

const cyclic: Record<string, unknown> = { role: 'user', content: 'x' }
cyclic['metadata'] = { cyclic }

/** Things that are no message, and must not become one. */
const noMessages: Record<string, unknown> = {
  nothing: undefined,
  null: null,
  'a number': 7,
  'a string': 'user: hello',
  'a function': () => messageOf('u:1'),
  'a symbol': Symbol('message'),
  'an empty object': {},
  'an unknown role': { role: 'bot', content: 'x' },
  'a role that is no string': { role: ['user'], content: 'x' },
  'no content': { role: 'user' },
  'empty content': { role: 'user', content: '' },
  'null content': { role: 'user', content: null },
  'a number for content': { role: 'user', content: 7 },
  'no parts': { role: 'user', content: [] },
  NaN: { role: 'user', content: 'x', metadata: { n: NaN } },
  Infinity: { role: 'user', content: 'x', timestamp: Infinity },
  'half a millisecond': { role: 'user', content: 'x', timestamp: 0.5 },
  'a BigInt': { role: 'user', content: 'x', timestamp: 1n },
  'a lone surrogate': { role: 'user', content: 'broken \ud83d' },
  'a lone surrogate in a key': { role: 'user', content: 'x', metadata: { '\udc00': 1 } },
  'a cycle': cyclic,
  'a Map': { role: 'user', content: 'x', metadata: new Map() },
  'a Date': { role: 'user', content: 'x', timestamp: new Date() },
  'a promise': Promise.resolve(messageOf('u:1')),
  'a getter that throws': {
    role: 'user',
    get content() {
      throw new Error('from a getter')
    },
  },
  'a proxy that throws': new Proxy(messageOf('u:1'), {
    ownKeys() {
      throw new TypeError('from a proxy')
    },
  }),
  'nested too deeply': {
    role: 'user',
    content: 'x',
    metadata: JSON.parse('{"a":'.repeat(200) + '1' + '}'.repeat(200)) as object,
  },
}

test('what is no message is refused by every method that takes one, and changes nothing', async () => {
  const manager = conversationOf('s:rules', 'u:1', 'a:one')
  manager.markMessage(1, 'pinned')
  const array = manager.getMessageArrayManager()
  const handler = new ContextProcessorNodeHandler()
  const before = all(manager)
  for (const [what, thing] of Object.entries(noMessages)) {
    const message = thing as LLMMessage
    assert.throws(() => manager.addMessage(message), UndertextError, what)
    assert.throws(() => manager.addMessages(messageOf('u:fine'), message), UndertextError, what)
    assert.throws(
      () => array.execute({ operation: 'INSERT', position: 0, messages: [message as never] }),
      UndertextError,
      what,
    )
    assert.throws(
      () => array.execute({ operation: 'REPLACE', index: 0, message: message as never }),
      UndertextError,
      what,
    )
    assert.throws(
      () => new ConversationManager({ initialMessages: [message] }),
      UndertextError,
      what,
    )
    assert.throws(() => new MessageArrayManager([message as never]), UndertextError, what)
    assert.throws(
      () =>
        manager.restoreFromSnapshot({
          ...manager.createSnapshot(),
          version: 99,
          messages: [message],
        }),
      UndertextError,
      what,
    )
    await assert.rejects(
      handler.execute(manager, {
        operation: 'insert',
        insert: { position: -1, messages: [message] },
      }),
      UndertextError,
      what,
    )
    if (message !== undefined)
      await assert.rejects(
        handler.handleContextOperation(manager, 'replace', [1], message),
        UndertextError,
        what,
      )
    assert.equal(
      validateContextProcessorNodeConfig({ operation: 'replace', replace: { index: 0, message } }),
      false,
      what,
    )
    assert.deepEqual(all(manager), before, what)
  }
})

/** What is no index, count or batch. */
const noNumbers = [
  -1,
  0.5,
  NaN,
  Infinity,
  -0.5,
  2 ** 53,
  '1',
  null,
  {},
  [],
  [1],
  1n,
  true,
  Symbol('1'),
  () => 1,
] as unknown[] as number[]

test('what is no number is refused by every method that takes one, and changes nothing', () => {
  const manager = conversationOf('s:rules', 'u:1', 'a:one')
  const index = manager.getIndexManager()
  const types = manager.getTypeIndexManager()
  const array = manager.getMessageArrayManager()
  const before = all(manager)
  for (const n of noNumbers) {
    const calls: Array<() => unknown> = [
      () => manager.rollbackToBatch(n),
      () => manager.markMessage(n, 'x'),
      () => manager.setOriginalIndices([n]),
      () => manager.setMarkMap({ ...manager.getMarkMap(), currentBatch: n }),
      () => index.startNewBatch(n),
      () => index.endBatch(n),
      () => index.addIndex(n),
      () => index.markCompressed([n]),
      () => types.addIndex('user', n),
      () => types.removeIndices([n]),
      () => array.rollback(n),
    ]
    for (const call of calls) assert.throws(call, UndertextError, `${String(call)} ${String(n)}`)
    // Counts beyond the length are clamped.
    if (n !== 2 ** 53) {
      assert.throws(() => manager.getRecentMessages(n), UndertextError, String(n))
      assert.throws(() => manager.getMessagesByRange(0, n), UndertextError, String(n))
      assert.throws(() => types.getRecentIndicesByRole('user', n), UndertextError, String(n))
      assert.throws(
        () => array.execute({ operation: 'TRUNCATE', keepLast: n }),
        UndertextError,
        String(n),
      )
    }
    assert.deepEqual(all(manager), before, String(n))
  }
})

test('a snapshot of a batch is only of a number', () => {
  const array = new MessageArrayManager()
  for (const n of noNumbers.filter(one => one !== 2 ** 53))
    assert.throws(() => array.getBatchSnapshot(n), UndertextError, String(n))
})

test('what is no operation is refused: texts, queries, lists in lists', () => {
  const manager = conversationOf('u:1')
  const before = all(manager)
  const array = manager.getMessageArrayManager()
  for (const operation of [
    null,
    undefined,
    7,
    '{"operation":"CLEAR"}',
    [],
    {},
    { query: 'stats' },
    { operation: 'CLEAR', query: 'stats' },
    () => undefined,
  ]) {
    assert.throws(() => manager.execute(operation as never), UndertextError, String(operation))
    assert.throws(() => array.execute(operation as never), UndertextError, String(operation))
    assert.throws(
      () => manager.executeAll([{ operation: 'CLEAR' }, operation as never]),
      UndertextError,
      String(operation),
    )
    assert.throws(() => manager.executeAll(operation as never), UndertextError, String(operation))
  }
  assert.deepEqual(all(manager), before)
})

test('__proto__ is a key like others', () => {
  const manager = new ConversationManager()
  const message = JSON.parse(
    '{"role":"user","content":"x","__proto__":{"polluted":true},"metadata":{"__proto__":1,"constructor":2}}',
  ) as LLMMessage
  manager.addMessage(message)
  assert.equal(JSON.stringify(manager.getMessages()[0]), JSON.stringify(message))
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
  assert.throws(
    () =>
      manager.execute(JSON.parse('{"operation":"CLEAR","__proto__":{"keepSystemMessage":false}}')),
    UndertextError,
    'and no field of an operation',
  )
})

test('an object that changes while it is read, or after, is stored as it was read', () => {
  const manager = new ConversationManager()
  let reads = 0
  const message = {
    role: 'user' as const,
    get content() {
      return `read ${++reads}`
    },
    metadata: { a: 1 },
  }
  manager.addMessage(message)
  message.metadata.a = 2
  assert.deepEqual(manager.getMessages(), [{ role: 'user', content: 'read 1', metadata: { a: 1 } }])
})

test('a getter that comes back to the conversation finds it as it was', () => {
  const manager = conversationOf('u:1')
  manager.addMessage({
    role: 'user',
    get content() {
      manager.addMessage(messageOf('u:from within'))
      return String(manager.getMessages().length)
    },
  })
  assert.deepEqual(
    manager.getMessages().map(message => message.content),
    ['1', 'from within', '2'],
  )
})

test('a message over the limit is too large', () => {
  const manager = new ConversationManager({ limits: { messageBytes: 1000 } })
  assert.throws(
    () => manager.addMessage({ role: 'user', content: 'x'.repeat(1000) }),
    (error: unknown) => error instanceof UndertextError && error.code === 'too_large',
  )
  assert.equal(manager.getAllMessages().length, 0)
})

test('what listeners and options must be is checked', async () => {
  const manager = new ConversationManager()
  assert.throws(
    () => manager.on(EventType.MESSAGE_ADDED, 'listener' as unknown as () => void),
    UndertextError,
  )
  for (const options of [
    { tokenLimit: 'many' },
    { pairs: 'some' },
    { limits: { messageBytes: -1 } },
    { compressionConfig: { enabled: 'yes' } },
    { compressionConfig: { enabled: true, strategy: {} } },
    { compressionConfig: null },
    { compressionConfig: 'none' },
    { eventManager: {} },
    { initialMessages: null },
    { initialMessages: 5 },
    null,
    5,
    'options',
  ]) {
    assert.throws(
      () => new ConversationManager(options as never),
      UndertextError,
      JSON.stringify(options),
    )
    await assert.rejects(
      ConversationManager.open('memory:', 'c', options as never),
      UndertextError,
      JSON.stringify(options),
    )
  }
})

test('an argument that is missing is refused, and does not mean everything', () => {
  const manager = conversationOf('u:1', 'a:2')
  const nothing = undefined as never
  const calls: Record<string, () => unknown> = {
    getMessagesByRole: () => manager.getMessagesByRole(nothing),
    getRecentMessages: () => manager.getRecentMessages(nothing),
    getMessagesByRange: () => manager.getMessagesByRange(0, nothing),
    getMessageCountByRole: () => manager.getMessageCountByRole(nothing),
    getMarkedMessagesByRole: () => manager.getMarkedMessagesByRole('user', nothing),
    getIndicesByRole: () => manager.getTypeIndexManager().getIndicesByRole(nothing),
    startNewBatch: () => manager.getIndexManager().startNewBatch(nothing),
    updateTokenUsage: () => manager.updateTokenUsage(nothing),
    'an option that is none': () => new ConversationManager({ tokenlimit: 8000 } as object),
    'no list': () => new MessageArrayManager(5 as never),
    'null for a list': () => new MessageArrayManager(null as never),
    'a step that is no strategy of the package': () =>
      new PipelineStrategy([{ compress() {} } as never]),
  }
  for (const [what, call] of Object.entries(calls))
    assert.throws(
      call,
      (error: Error) => error instanceof ValidationError && error.name === 'ValidationError',
      what,
    )
  assert.equal(manager.getStats().totalBatches, 1)
})

test('managers work in worker threads', async () => {
  const program = `
    import { parentPort } from 'node:worker_threads'
    import { ConversationManager } from ${JSON.stringify(import.meta.resolve('undertext/sdk'))}
    const manager = new ConversationManager()
    for (let i = 0; i < 100; ++i) manager.addMessage({ role: 'user', content: String(i) })
    parentPort.postMessage(manager.getRecentMessages(1)[0].content)
  `
  const worker = () =>
    new Promise<unknown>((resolve, reject) => {
      const one = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`))
      one.once('message', resolve)
      one.once('error', reject)
    })
  assert.deepEqual(await Promise.all([worker(), worker()]), ['99', '99'])
})
