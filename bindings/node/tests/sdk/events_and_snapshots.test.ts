import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConversationManager, EventType, UndertextError, ValidationError } from 'undertext/sdk'
import type { ConversationEvent, ConversationState, TokenLimitExceededEvent } from 'undertext/sdk'
import { all, contents, conversationOf, conversationWith, messageOf } from './conversations.js'

const six = () => conversationOf('s:rules', 'u:1', 'a:one', 'u:2', 'a:two', 'u:3')

test('the token limit is told of once per crossing, with the document’s payload', () => {
  const manager = new ConversationManager({ tokenLimit: 12 })
  const events: TokenLimitExceededEvent[] = []
  manager.on(EventType.TOKEN_LIMIT_EXCEEDED, event => events.push(event))
  manager.addMessage(messageOf('u:1'))
  assert.equal(events.length, 0)
  manager.addMessage(messageOf('u:two three four'))
  manager.addMessage(messageOf('u:five six seven'))
  assert.equal(events.length, 1)
  assert.equal(events[0]?.type, EventType.TOKEN_LIMIT_EXCEEDED)
  assert.equal(events[0]?.tokenLimit, 12)
  assert.ok((events[0]?.tokensUsed ?? 0) > 12)
  assert.ok(Math.abs((events[0]?.timestamp ?? 0) - Date.now()) < 60_000)
  manager.clearMessages(false)
  manager.rollbackToBatch(0)
  assert.equal(events.length, 2, 'and again when it is crossed again')
})

test('a host’s event manager hears everything, in order', () => {
  const events: ConversationEvent[] = []
  const manager = new ConversationManager({ eventManager: { emit: event => events.push(event) } })
  manager.addMessages(messageOf('u:1'), messageOf('a:one'))
  manager.clearMessages()
  manager.rollbackToBatch(0)
  assert.deepEqual(
    events.map(event => event.type).filter(type => type !== EventType.CONTEXT_CHANGED),
    [
      EventType.MESSAGE_ADDED,
      EventType.MESSAGE_ADDED,
      EventType.BATCH_OPENED,
      EventType.ROLLED_BACK,
    ],
  )
  assert.equal(events.filter(event => event.type === EventType.CONTEXT_CHANGED).length, 3)
})

test('a listener may read and change the conversation, and ends when told to', () => {
  const manager = new ConversationManager()
  const seen: number[] = []
  const off = manager.on(EventType.MESSAGE_ADDED, ({ ordinal }) => {
    seen.push(ordinal)
    assert.equal(manager.getMessages().length, ordinal + 1)
    if (ordinal < 3) manager.addMessage(messageOf('u:more'))
  })
  manager.addMessage(messageOf('u:1'))
  assert.deepEqual(seen, [0, 1, 2, 3])
  off()
  off()
  manager.addMessage(messageOf('u:2'))
  assert.deepEqual(seen, [0, 1, 2, 3])
})

test('a listener that throws, or changes its event, harms nobody', async () => {
  const manager = new ConversationManager()
  const warned = new Promise<Error>(resolve => process.once('warning', resolve))
  let heard = 0
  manager.on(EventType.MESSAGE_ADDED, event => {
    event.ordinal = 99
    throw new Error('a bad listener')
  })
  manager.on(EventType.MESSAGE_ADDED, event => {
    heard = event.ordinal + 1
  })
  assert.equal(manager.addMessage(messageOf('u:1')), 1)
  assert.equal(heard, 1)
  assert.match((await warned).message, /a bad listener/)
})

test('an event manager or a listener whose promise is rejected harms nobody', async () => {
  const fails = () => Promise.reject(new Error('not heard'))
  const warnings: Error[] = []
  const hear = (warning: Error) => void warnings.push(warning)
  process.on('warning', hear)
  const manager = new ConversationManager({ eventManager: { emit: fails } })
  manager.on(EventType.MESSAGE_ADDED, fails)
  manager.addMessage(messageOf('u:1'))
  while (warnings.length < 3) await new Promise(resolve => setImmediate(resolve))
  process.off('warning', hear)
  assert.ok(warnings.every(warning => warning.message === 'not heard'))
  assert.equal(manager.getMessages().length, 1)
})

test('a clone goes its own way, with the same settings', () => {
  const manager = conversationWith({ tokenLimit: 1000 }, 's:rules', 'u:1')
  manager.markMessage(1, 'pinned')
  const clone = manager.clone()
  const before = all(manager)
  assert.deepEqual(all(clone), before)
  clone.addMessage(messageOf('u:2'))
  clone.clearMessages(false)
  assert.deepEqual(contents(clone.getMessages()), ['1'], 'marks came along')
  assert.deepEqual(all(manager), before)
  manager.clearMessages(false)
  assert.equal(clone.getAllMessages().length, 3)
  assert.equal(clone.tokenLimit, 1000)
})

test('a clone of a conversation that compresses itself does so too', async () => {
  let asked = 0
  const strategy = {
    compress: async (messages: never[], markMap: never) => {
      ++asked
      return { messages, markMap }
    },
  }
  const manager = new ConversationManager({
    compressionConfig: { enabled: true, threshold: 10, targetTokens: 5, strategy },
  })
  const clone = manager.clone()
  clone.addMessages(messageOf('u:one two three four'), messageOf('u:five six seven eight'))
  await clone.waitForCompression()
  assert.ok(asked > 0)
})

test('a snapshot brings its state back: the view, the batches, the marks', () => {
  const manager = six()
  manager.markMessage(3, 'pinned')
  manager.markMessage(3, 'important')
  manager.execute({ operation: 'TRUNCATE', keepLast: 3 })
  const snapshot = manager.createSnapshot()
  const before = all(manager) as { version: number }
  manager.clearMessages(false)
  manager.unmarkMessage(3, 'important')
  manager.addMessage(messageOf('u:4'))
  manager.restoreFromSnapshot(snapshot)
  const after = all(manager) as {
    version: number
    log: unknown[]
    stats: { totalMessages: number }
  }
  assert.deepEqual(
    { ...after, version: 0, log: [], stats: { ...after.stats, totalMessages: 6 } },
    { ...before, version: 0, log: [] },
  )
  assert.equal(after.log.length, 7, 'what came later stays in the log')
  assert.deepEqual(contents(manager.getMarkedMessagesByRole('user', 'important')), ['2'])
  manager.rollbackToBatch(0)
  assert.equal(manager.getMessages().length, 6)
})

test('a snapshot is plain JSON, and a copy', () => {
  const manager = six()
  const snapshot = JSON.parse(JSON.stringify(manager.createSnapshot())) as ConversationState
  assert.deepEqual(snapshot, manager.createSnapshot())
  const mine = manager.createSnapshot()
  mine.messages.length = 0
  mine.markMap.originalIndices.length = 0
  assert.equal(manager.getMessages().length, 6)
  manager.clearMessages()
  manager.restoreFromSnapshot(snapshot)
  snapshot.messages.length = 0
  assert.equal(manager.getMessages().length, 6)
})

test('a snapshot of another conversation is taken over after what is there, and nothing is lost', () => {
  const other = six()
  other.markMessage(1, 'pinned')
  other.execute({ operation: 'TRUNCATE', keepLast: 3 })
  other.addMessage(messageOf('u:4'))
  const snapshot = other.createSnapshot()
  for (const manager of [new ConversationManager(), conversationOf('u:old', 'a:older')]) {
    const already = manager.getAllMessages().length
    manager.restoreFromSnapshot(snapshot)
    assert.deepEqual(manager.getMessages(), other.getMessages())
    assert.equal(manager.getAllMessages().length, already + 7)
    assert.deepEqual(
      manager.getMarkMap().originalIndices,
      other.getMarkMap().originalIndices.map(ordinal => ordinal + already),
    )
    assert.equal(manager.getMarkMap().currentBatch, 1)
    assert.deepEqual(contents(manager.getMarkedMessagesByRole('user', 'pinned')), ['1'])
    manager.clearMessages(false)
    assert.deepEqual(contents(manager.getMessages()), ['1'], 'and it is protected there too')
  }
})

test('a snapshot of another conversation is taken over also where it sets off a compression', async () => {
  const options = { compressionConfig: { enabled: true, threshold: 60, targetTokens: 40 } }
  const [one, other] = [new ConversationManager(options), new ConversationManager(options)]
  for (let i = 0; i < 20; ++i) one.addMessage(messageOf(`u:message number ${i}`))
  other.restoreFromSnapshot(one.createSnapshot())
  assert.deepEqual(other.getMessages(), one.getMessages())
  assert.equal(other.getAllMessages().length, one.getAllMessages().length)
})

test('what is no snapshot is refused, and changes nothing', () => {
  const manager = six()
  const good = manager.createSnapshot()
  const before = all(manager)
  const bad: unknown[] = [
    null,
    undefined,
    7,
    'snapshot',
    [],
    {},
    { ...good, messages: undefined },
    { ...good, markMap: null },
    { ...good, pinned: 1 },
    { ...good, version: 0.5 },
    { ...good, version: -1 },
    { ...good, version: 99, messages: [{ role: 'user', content: '' }] },
    { ...good, version: 99, markMap: { ...good.markMap, originalIndices: [0, 0] } },
    { ...good, version: 99, markMap: { ...good.markMap, originalIndices: [99] } },
    { ...good, version: 99, markMap: { ...good.markMap, batchBoundaries: [1] } },
    { ...good, version: 99, markMap: { ...good.markMap, batchBoundaries: [] } },
    { ...good, version: 99, markMap: { ...good.markMap, originalIndices: ['0'] } },
    { ...good, version: 99, pinned: [99] },
  ]
  for (const snapshot of bad) {
    assert.throws(
      () => manager.restoreFromSnapshot(snapshot as ConversationState),
      UndertextError,
      JSON.stringify(snapshot),
    )
    assert.deepEqual(all(manager), before, JSON.stringify(snapshot))
  }
  assert.throws(
    () => manager.restoreFromSnapshot(null as unknown as ConversationState),
    ValidationError,
  )
})

test('cleaning up hides everything, and loses nothing', () => {
  const manager = six()
  manager.cleanup()
  assert.deepEqual(manager.getMessages(), [])
  manager.rollbackToBatch(0)
  assert.equal(manager.getMessages().length, 6)
})
