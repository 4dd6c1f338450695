import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageArrayManager, ValidationError } from 'undertext/sdk'
import type { Message, MessageOperation } from 'undertext/sdk'

const user = (content: string): Message => ({ role: 'user', content })
const texts = (messages: Message[]) => messages.map(message => message.content).join(' ')
const letters = (all: string) => new MessageArrayManager(all.split(' ').map(user))

test('a new manager is empty, in batch 0', () => {
  const manager = new MessageArrayManager()
  assert.deepEqual(manager.getState(), {
    messages: [],
    batchSnapshots: [],
    currentBatchIndex: 0,
    totalMessageCount: 0,
  })
  assert.deepEqual(manager.getStats(), {
    totalMessages: 0,
    currentBatchMessages: 0,
    totalBatches: 1,
    currentBatchIndex: 0,
    tokens: 0,
  })
})

test('every operation of the document but APPEND and ROLLBACK opens a batch', () => {
  const operations: Array<[MessageOperation, string, number]> = [
    [{ operation: 'APPEND', messages: [user('d')] }, 'a b c d', 0],
    [{ operation: 'INSERT', position: 1, messages: [user('x'), user('y')] }, 'a x y b c', 1],
    [{ operation: 'INSERT', position: 3, messages: [user('x')] }, 'a b c x', 1],
    [{ operation: 'REPLACE', index: 1, message: user('x') }, 'a x c', 1],
    [{ operation: 'TRUNCATE', keepFirst: 2 }, 'a b', 1],
    [{ operation: 'CLEAR' }, '', 1],
    [{ operation: 'FILTER', contentExcludes: ['b'] }, 'a c', 1],
    [{ operation: 'ROLLBACK', targetBatchIndex: 0 }, 'a b c', 0],
  ]
  for (const [operation, view, batch] of operations) {
    const manager = letters('a b c')
    const result = manager.execute(operation)
    assert.equal(texts(result.state.messages), view, operation.operation)
    assert.equal(result.affectedBatchIndex, batch, operation.operation)
    assert.equal(result.version, 2)
    assert.deepEqual(result.state, manager.getState())
    assert.equal(result.stats.currentBatchMessages, result.state.totalMessageCount)
  }
})

test('rolling back brings what was appended after the batch had begun', () => {
  const manager = letters('a b')
  manager.execute({ operation: 'INSERT', position: 0, messages: [user('x')] })
  manager.execute({ operation: 'APPEND', messages: [user('c')] })
  manager.execute({ operation: 'CLEAR' })
  assert.equal(texts(manager.getBatchSnapshot(1)?.messages ?? []), 'x a b c')
  assert.equal(texts(manager.rollback(1).state.messages), 'x a b c')
  assert.equal(manager.getStats().totalBatches, 2, 'batch 2 has left the stack')
  assert.equal(texts(manager.rollback(0).state.messages), 'a b')
  assert.equal(manager.execute({ operation: 'CLEAR' }).affectedBatchIndex, 1)
})

test('there is a snapshot of every batch below the current one, and null else', () => {
  const manager = letters('a')
  assert.equal(manager.getBatchSnapshot(0), null)
  manager.execute({ operation: 'CLEAR', keepSystemMessage: false })
  const snapshot = manager.getBatchSnapshot(0)
  assert.deepEqual(snapshot?.messages, [user('a')])
  assert.equal(snapshot?.messageCount, 1)
  assert.equal(snapshot?.batchIndex, 0)
  assert.ok(Math.abs((snapshot?.timestamp ?? 0) - Date.now()) < 60_000)
  assert.equal(manager.getBatchSnapshot(1), null)
  assert.equal(manager.getBatchSnapshot(7), null)
})

test('TRUNCATE applies what is given in the order of the contract, whatever the order in the object', () => {
  assert.equal(
    texts(
      letters('a b c d e').execute({ operation: 'TRUNCATE', keepLast: 2, keepFirst: 4 }).state
        .messages,
    ),
    'c d',
  )
  assert.equal(
    texts(
      letters('a b c d e').execute({ operation: 'TRUNCATE', removeLast: 1, removeFirst: 1 }).state
        .messages,
    ),
    'b c d',
  )
  assert.equal(
    texts(
      letters('a b c d e').execute({
        operation: 'TRUNCATE',
        range: { start: 1, end: 99 },
        keepFirst: 3,
      }).state.messages,
    ),
    'b c',
  )
  assert.equal(
    texts(letters('a b').execute({ operation: 'TRUNCATE', keepLast: 0 }).state.messages),
    '',
    '0 is none, not all',
  )
  assert.equal(
    texts(letters('a b').execute({ operation: 'TRUNCATE', removeLast: 0 }).state.messages),
    'a b',
    '0 removes none',
  )
})

test('CLEAR keeps all system messages unless told not to', () => {
  const manager = new MessageArrayManager([
    { role: 'system', content: 's' },
    user('a'),
    { role: 'system', content: 't' },
  ])
  assert.equal(texts(manager.execute({ operation: 'CLEAR' }).state.messages), 's t')
  assert.equal(
    texts(manager.execute({ operation: 'CLEAR', keepSystemMessage: false }).state.messages),
    '',
  )
})

test('what is refused names its field and changes nothing', () => {
  const refused: Array<[object, string]> = [
    [{ operation: 'INSERT', position: -1, messages: [user('x')] }, 'position'],
    [{ operation: 'INSERT', position: 4, messages: [user('x')] }, 'position'],
    [{ operation: 'REPLACE', index: 3, message: user('x') }, 'index'],
    [{ operation: 'TRUNCATE' }, 'keepFirst'],
    [{ operation: 'TRUNCATE', keepFirst: 1.5 }, 'keepFirst'],
    [{ operation: 'FILTER', roles: [] }, 'roles'],
    [{ operation: 'ROLLBACK', targetBatchIndex: 1 }, 'targetBatchIndex'],
    [{ operation: 'APPEND', messages: [] }, 'messages'],
    [{ operation: 'APPEND', messages: [user('fine'), { role: 'user', content: '' }] }, 'content'],
    [{ operation: 'EXPLODE' }, 'operation'],
    [{ operation: 'CLEAR', keepSystemMessages: true }, 'keepSystemMessages'],
  ]
  const manager = letters('a b c')
  const before = [manager.getState(), manager.getStats()]
  for (const [operation, field] of refused) {
    assert.throws(
      () => manager.execute(operation as MessageOperation),
      (error: unknown) =>
        error instanceof ValidationError &&
        error.code === 'invalid_argument' &&
        (field === 'keepFirst' || error.field === field),
      JSON.stringify(operation),
    )
    assert.deepEqual([manager.getState(), manager.getStats()], before)
  }
})

test('the state of a result is that of its version, however late it is read', () => {
  const manager = letters('a b')
  const first = manager.execute({ operation: 'APPEND', messages: [user('c')] })
  manager.execute({ operation: 'CLEAR' })
  assert.equal(texts(first.state.messages), 'a b c')
  assert.deepEqual(JSON.parse(JSON.stringify(first)).state, first.state)
})

test('the other operations of the engine are taken too', () => {
  const manager = letters('a b c')
  assert.equal(
    texts(manager.execute({ operation: 'MERGE', indices: [0, 1], separator: '+' }).state.messages),
    'a+b c',
  )
  assert.equal(texts(manager.execute({ operation: 'UNDO' }).state.messages), 'a b c')
  assert.equal(texts(manager.execute({ operation: 'DELETE', indices: [1] }).state.messages), 'a c')
})

test('nothing that is handed in or out is shared', () => {
  const message = {
    role: 'user' as const,
    content: [{ type: 'text' as const, text: 'a' }],
    metadata: { tags: ['x'] },
  }
  const given = [message]
  const manager = new MessageArrayManager(given)
  const kept = structuredClone(given)
  message.content[0]!.text = 'changed'
  message.metadata.tags.push('y')
  given.push(message)
  const out = manager.getCurrentMessages()
  assert.deepEqual(out, kept)
  out[0]!.metadata = { tags: [] }
  out.length = 0
  const state = manager.getState()
  state.messages.length = 0
  state.currentBatchIndex = 7
  manager.getStats().totalMessages = 7
  assert.deepEqual(manager.getCurrentMessages(), kept)
  assert.equal(manager.getState().currentBatchIndex, 0)
  assert.equal(manager.getStats().totalMessages, 1)
})
