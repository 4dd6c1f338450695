import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ConversationManager,
  MessageIndexManager,
  TokenUsageTracker,
  TypeIndexManager,
  ValidationError,
} from 'undertext/sdk'
import type { ContextOperation, LLMMessage, LLMMessageRole } from 'undertext/sdk'
import { chance, contents, conversationOf, messageOf } from './conversations.js'

const six = () => conversationOf('s:rules', 'u:1', 'a:one', 'u:2', 'a:two', 'u:3')
const roles: LLMMessageRole[] = ['system', 'user', 'assistant', 'tool']

test('the indices of a role', () => {
  const types = six().getTypeIndexManager()
  assert.deepEqual(types.getIndicesByRole('user'), [1, 3, 5])
  assert.deepEqual(types.getRecentIndicesByRole('user', 2), [3, 5])
  assert.deepEqual(types.getRecentIndicesByRole('user', 0), [], 'none for 0')
  assert.deepEqual(types.getRangeIndicesByRole('user', 1, 9), [3, 5])
  assert.deepEqual(
    [...types.getAllTypeIndices()],
    [
      ['system', [0]],
      ['user', [1, 3, 5]],
      ['assistant', [2, 4]],
      ['tool', []],
    ],
  )
})

test('indices that were handed out are copies', () => {
  const types = six().getTypeIndexManager()
  types.getIndicesByRole('user').push(99)
  types.getAllTypeIndices().get('user')?.push(99)
  types.getAllTypeIndices().clear()
  assert.deepEqual(types.getIndicesByRole('user'), [1, 3, 5])
})

test('the indices follow whatever is done to the conversation', () => {
  const manager = six()
  const types = manager.getTypeIndexManager()
  manager.addMessage(messageOf('u:4'))
  assert.deepEqual(types.getIndicesByRole('user'), [1, 3, 5, 6])
  manager.execute({
    operation: 'REPLACE',
    index: 1,
    message: { role: 'tool', content: 'x', toolCallId: 'c' },
  })
  assert.deepEqual(types.getIndicesByRole('user'), [3, 5, 6])
  assert.deepEqual(types.getIndicesByRole('tool'), [7])
  types.removeIndices([3, 6])
  assert.deepEqual(types.getIndicesByRole('user'), [5])
  manager.rollbackToBatch(0)
  assert.deepEqual(types.getIndicesByRole('user'), [1, 3, 5, 6])
})

test('an index that is added shows a message again; one that is visible stays where it is', () => {
  const manager = six()
  const index = manager.getIndexManager()
  const types = manager.getTypeIndexManager()
  index.setOriginalIndices([0, 2])
  index.addIndex(1)
  types.addIndex('user', 1)
  types.addIndex('user', 5)
  assert.deepEqual(manager.getMarkMap().originalIndices, [0, 2, 1, 5])
  const before = manager.getMarkMap()
  assert.throws(() => types.addIndex('assistant', 3), ValidationError, 'it is of the user')
  assert.throws(
    () => types.addIndex('assistant', 1),
    ValidationError,
    'and so is this one, which is visible',
  )
  assert.throws(() => types.addIndex('__proto__' as LLMMessageRole, 3), ValidationError)
  assert.throws(() => index.addIndex(6), ValidationError, 'there is no such message')
  assert.throws(() => index.addIndex(-1), ValidationError)
  assert.deepEqual(manager.getMarkMap(), before)
})

test('a clone goes its own way', () => {
  const manager = six()
  const types = manager.getTypeIndexManager().clone()
  const index = manager.getIndexManager().clone()
  manager.addMessage(messageOf('u:4'))
  assert.deepEqual(types.getIndicesByRole('user'), [1, 3, 5])
  types.removeIndices([1])
  index.reset()
  assert.deepEqual(manager.getTypeIndexManager().getIndicesByRole('user'), [1, 3, 5, 6])
  assert.deepEqual(types.getIndicesByRole('user'), [3, 5])
  assert.deepEqual(index.getCurrentBatchIndices(), [])
})

test('reset: the role index hides everything, the index manager also leaves every batch', () => {
  const manager = six()
  manager.clearMessages()
  manager.getTypeIndexManager().reset()
  assert.deepEqual(manager.getMessages(), [])
  assert.equal(manager.getMarkMap().currentBatch, 1)
  manager.getIndexManager().reset()
  assert.deepEqual(manager.getMarkMap().batchBoundaries, [0])
  assert.equal(manager.getIndexManager().getCurrentBatch(), 0)
  manager.executeAll([{ operation: 'UNDO' }, { operation: 'UNDO' }, { operation: 'UNDO' }])
  assert.equal(manager.getMessages().length, 6, 'nothing was lost')
})

test('batches come and go', () => {
  const manager = six()
  const index = manager.getIndexManager()
  index.startNewBatch(5)
  assert.equal(index.getCurrentBatch(), 1)
  assert.equal(index.findBoundaryIndex(1), 1)
  assert.equal(index.findBoundaryIndex(2), -1)
  assert.equal(index.isModified(4), true)
  assert.equal(index.isModified(5), false)
  assert.equal(index.getBatchIndex(5), 0)
  assert.equal(index.getBatchIndex(3), -2)
  assert.throws(() => index.startNewBatch(4), ValidationError, 'boundaries never fall')
  assert.throws(() => index.startNewBatch(7), ValidationError)
  index.startNewBatch(6)
  index.endBatch(1)
  assert.equal(index.getCurrentBatch(), 1)
  index.rollbackToBatch(0)
  assert.deepEqual(
    contents(manager.getMessages()),
    ['rules', '1', 'one', '2', 'two'],
    '5 belonged to batch 1',
  )
  assert.throws(() => index.endBatch(3), ValidationError)
})

test('what is marked as compressed is hidden, in a batch of its own', () => {
  const manager = six()
  manager.getIndexManager().markCompressed([1, 2])
  assert.deepEqual(contents(manager.getMessages()), ['rules', '2', 'two', '3'])
  assert.equal(manager.getIndexManager().getCurrentBatch(), 1)
  assert.throws(
    () => manager.getIndexManager().markCompressed([1]),
    ValidationError,
    'it is hidden',
  )
  manager.rollbackToBatch(0)
  assert.equal(manager.getMessages().length, 6)
})

/** A random operation; many are refused. */
function operationOf(random: () => number): ContextOperation {
  const below = (n: number) => Math.floor(random() * n)
  const role = roles[below(4)] as LLMMessageRole
  const message = {
    role,
    content: `m${below(1000)}`,
    ...(role === 'tool' && { toolCallId: 'c' }),
  } as LLMMessage & { content: string }
  const choices: Array<() => ContextOperation> = [
    () => ({ operation: 'APPEND', messages: [message, message] }),
    () => ({ operation: 'INSERT', position: below(6), messages: [message] }),
    () => ({ operation: 'REPLACE', index: below(6), message }),
    () => ({ operation: 'TRUNCATE', keepLast: below(12) }),
    () => ({ operation: 'truncate', truncate: { role, keepFirst: below(9) } }),
    () => ({ operation: 'FILTER', roles: [role, 'user'] }),
    () => ({ operation: 'delete', indices: [below(20)] }),
    () => ({ operation: 'compress', indices: [below(20), below(20)], data: message }),
    () => ({ operation: 'batch_start', indices: [below(30)] }),
    () => ({ operation: 'ROLLBACK', targetBatchIndex: below(4) }),
    () => ({ operation: 'UNDO' }),
    () => ({ operation: 'CLEAR' }),
  ]
  // Appends more often, so that there is something to edit.
  const choice = random() < 0.3 ? choices[0] : choices[below(choices.length)]
  return (choice as () => ContextOperation)()
}

function recount(manager: ConversationManager): void {
  const log = manager.getAllMessages()
  const { originalIndices, typeIndices, batchBoundaries, boundaryToBatch, currentBatch } =
    manager.getMarkMap()
  assert.deepEqual(
    manager.getMessages(),
    originalIndices.map(ordinal => log[ordinal]),
  )
  const boundary = batchBoundaries[boundaryToBatch.indexOf(currentBatch)] as number
  const index = manager.getIndexManager()
  const types = manager.getTypeIndexManager()
  for (const role of roles) {
    const counted = originalIndices.filter(ordinal => log[ordinal]?.role === role)
    assert.deepEqual(typeIndices[role], counted)
    assert.deepEqual(types.getIndicesByRole(role), counted)
    assert.deepEqual(types.getAllTypeIndices().get(role), counted)
    assert.deepEqual(types.getRecentIndicesByRole(role, 2), counted.slice(-2))
    assert.deepEqual(types.getRangeIndicesByRole(role, 1, 3), counted.slice(1, 3))
    assert.equal(manager.getMessageCountByRole(role), counted.length)
    assert.deepEqual(
      manager.getMessagesByRole(role),
      counted.map(ordinal => log[ordinal]),
    )
  }
  assert.deepEqual(
    index.getCurrentBatchIndices(),
    originalIndices.filter(ordinal => ordinal >= boundary),
  )
  assert.deepEqual(
    manager.getUncompressedMessages(),
    index.getCurrentBatchIndices().map(ordinal => log[ordinal]),
  )
  assert.equal(manager.getStats().totalMessages, log.length)
  assert.equal(manager.getStats().totalBatches, batchBoundaries.length)
  assert.equal(index.getCurrentBatch(), currentBatch)
  for (const ordinal of log.keys()) {
    assert.equal(index.isModified(ordinal), ordinal < boundary)
    assert.equal(index.getBatchIndex(ordinal), ordinal - boundary)
  }
  for (const [place, batch] of boundaryToBatch.entries())
    assert.equal(index.findBoundaryIndex(batch), place)
  assert.equal(index.checkConsistency(), true)
}

test('after any operations the managers equal a recount from scratch', () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  console.log(`SEED=${seed}`)
  const random = chance(seed)
  for (let round = 0; round < 20; ++round) {
    const manager = conversationOf('s:rules', 'u:1')
    let applied = 0
    for (let step = 0; step < 40; ++step) {
      const operation = operationOf(random)
      const before = manager.createSnapshot()
      try {
        manager.execute(operation)
        ++applied
      } catch (error) {
        assert.ok(error instanceof Error && 'code' in error, String(error))
        assert.deepEqual(manager.createSnapshot(), before, 'what was refused changed nothing')
      }
      recount(manager)
    }
    assert.ok(applied > 5)
  }
})

test('a manager of indices without a conversation says where it comes from', () => {
  for (const Manager of [TypeIndexManager, MessageIndexManager, TokenUsageTracker]) {
    assert.throws(
      () => new (Manager as unknown as new () => unknown)(),
      (error: unknown) =>
        error instanceof ValidationError && /ConversationManager\.get\w+\(\)/.test(error.message),
    )
  }
})

test('a mark map without indices per role, as in document 004, is taken', () => {
  const manager = new ConversationManager({ initialMessages: [messageOf('u:a'), messageOf('u:b')] })
  manager.execute({
    operation: 'IMPORT_MARK_MAP',
    markMap: { originalIndices: [1], batchBoundaries: [0], boundaryToBatch: [0], currentBatch: 0 },
  })
  assert.deepEqual(manager.getMarkMap().typeIndices.user, [1])
})

test('the most recent messages of a role', () => {
  const manager = new ConversationManager({
    initialMessages: [messageOf('u:a'), messageOf('a:b'), messageOf('u:c'), messageOf('a:d')],
  })
  assert.deepEqual(contents(manager.getRecentMessages(1, 'user')), ['c'])
  assert.deepEqual(contents(manager.getRecentMessages(1)), ['d'])
  assert.throws(() => manager.getRecentMessages(1, 'nobody' as never), ValidationError)
})
