import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConversationManager, UndertextError, ValidationError } from 'undertext/sdk'
import type { LLMMessage, LLMMessageRole } from 'undertext/sdk'
import { contents, conversationOf, conversationWith, messageOf } from './conversations.js'

const six = () => conversationOf('s:rules', 'u:1', 'a:one', 'u:2', 'a:two', 'u:3')

test('adding answers with the number of messages ever stored', () => {
  const manager = new ConversationManager()
  assert.equal(manager.addMessage(messageOf('u:1')), 1)
  assert.equal(manager.addMessages(messageOf('a:one'), messageOf('u:2')), 3)
  assert.equal(manager.addMessages([messageOf('a:two'), messageOf('u:3')]), 5)
  manager.clearMessages(false)
  assert.equal(manager.addMessage(messageOf('u:4')), 6, 'what was cleared still counts')
  assert.deepEqual(contents(manager.getMessages()), ['4'])
})

test('a list is added whole or not at all', () => {
  const manager = six()
  assert.throws(
    () => manager.addMessages(messageOf('u:4'), { role: 'user', content: '' }),
    ValidationError,
  )
  assert.equal(manager.getAllMessages().length, 6)
  assert.throws(() => manager.addMessages(), ValidationError)
})

test('a message comes back as it was given', () => {
  const manager = new ConversationManager()
  const message = {
    role: 'assistant',
    content: '',
    toolCalls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
    id: 'm1',
    timestamp: 1000,
    metadata: { deep: [{ x: null }] },
    further: 'kept',
  } satisfies LLMMessage & { further: string }
  manager.addMessage(message)
  assert.equal(JSON.stringify(manager.getMessages()[0]), JSON.stringify(message))
})

test('the last messages: none for 0, all beyond the length', () => {
  const manager = six()
  assert.deepEqual(manager.getRecentMessages(0), [])
  assert.deepEqual(contents(manager.getRecentMessages(2)), ['two', '3'])
  assert.equal(manager.getRecentMessages(99).length, 6)
  assert.deepEqual(manager.getRecentMessagesByRole('user', 0), [])
  assert.deepEqual(contents(manager.getRecentMessagesByRole('user', 2)), ['2', '3'])
  assert.deepEqual(contents(manager.getRecentMessagesByRoles(['system', 'user'], 3)), [
    '1',
    '2',
    '3',
  ])
  for (const n of [-1, 1.5, NaN, '2' as unknown as number])
    assert.throws(() => manager.getRecentMessages(n), ValidationError)
})

test('ranges are half open and clamped; those of a role count its messages', () => {
  const manager = six()
  assert.deepEqual(contents(manager.getMessagesByRange(1, 3)), ['1', 'one'])
  assert.deepEqual(contents(manager.getMessagesByRange(4, 99)), ['two', '3'])
  assert.deepEqual(contents(manager.getMessagesByRoleRange('user', 1, 3)), ['2', '3'])
  assert.throws(() => manager.getMessagesByRange(3, 1), ValidationError)
})

test('reading by role is of the view', () => {
  const manager = six()
  assert.equal(manager.getMessageCountByRole('user'), 3)
  assert.equal(manager.getMessageCountByRole('tool'), 0)
  manager.execute({ operation: 'TRUNCATE', keepLast: 2 })
  assert.equal(manager.getMessageCountByRole('user'), 1)
  assert.deepEqual(contents(manager.getMessagesByRole('user')), ['3'])
  assert.deepEqual(manager.filterMessagesByRole('user'), manager.getMessagesByRole('user'))
  assert.equal(manager.getAllMessages().length, 6)
  for (const role of ['bot', '__proto__', ''] as string[] as LLMMessageRole[]) {
    assert.throws(() => manager.getMessagesByRole(role), ValidationError)
    assert.throws(() => manager.getMessageCountByRole(role), ValidationError)
    assert.throws(() => manager.getTypeIndexManager().getIndicesByRole(role), ValidationError)
  }
})

test('time: from the first moment up to, not including, the last', () => {
  const manager = new ConversationManager()
  for (const timestamp of [10, 20, 30])
    manager.addMessage({ role: 'user', content: String(timestamp), timestamp })
  assert.deepEqual(contents(manager.getMessagesByRoleAndTimeRange('user', 10, 30)), ['10', '20'])
  assert.deepEqual(manager.getMessagesByRoleAndTimeRange('assistant', 10, 30), [])
})

test('marks: by ordinal, on hidden messages too, twice is once, and they outlive a rollback', () => {
  const manager = six()
  manager.getIndexManager().markCompressed([1])
  manager.markMessage(1, 'important')
  manager.markMessage(3, 'important')
  manager.markMessage(3, 'important')
  assert.deepEqual(
    contents(manager.getMarkedMessagesByRole('user', 'important')),
    ['2'],
    'a hidden message is not in the view',
  )
  manager.rollbackToBatch(0)
  assert.deepEqual(contents(manager.getMarkedMessagesByRole('user', 'important')), ['1', '2'])
  manager.unmarkMessage(1, 'important')
  assert.deepEqual(contents(manager.getMarkedMessagesByRole('user', 'important')), ['2'])
  assert.throws(() => manager.markMessage(99, 'important'), UndertextError)
  assert.throws(() => manager.markMessage(1, ''), ValidationError)
})

test('a pinned message stays where everything else goes', () => {
  const manager = six()
  manager.markMessage(1, 'pinned')
  manager.clearMessages(false)
  assert.deepEqual(contents(manager.getMessages()), ['1'])
})

test('clearing keeps system messages unless told not to', () => {
  const manager = six()
  manager.clearMessages()
  assert.deepEqual(contents(manager.getMessages()), ['rules'])
  manager.clearMessages(false)
  assert.deepEqual(manager.getMessages(), [])
  manager.rollbackToBatch(0)
  assert.equal(manager.getMessages().length, 6)
})

test('rolling back includes what was appended in that batch', () => {
  const manager = six()
  manager.clearMessages()
  manager.addMessage(messageOf('u:4'))
  manager.clearMessages(false)
  manager.rollbackToBatch(1)
  assert.deepEqual(contents(manager.getMessages()), ['rules', '4'])
  assert.equal(manager.getMarkMap().currentBatch, 1)
  assert.throws(() => manager.rollbackToBatch(2), ValidationError)
  assert.throws(() => manager.rollbackToBatch(-1), ValidationError)
})

test('uncompressed messages are those of the current batch', () => {
  const manager = six()
  assert.equal(manager.getUncompressedMessages().length, 6)
  manager.getIndexManager().startNewBatch(4)
  assert.deepEqual(contents(manager.getUncompressedMessages()), ['two', '3'])
  manager.addMessage(messageOf('u:4'))
  assert.deepEqual(contents(manager.getUncompressedMessages()), ['two', '3', '4'])
})

test('the visible indices can be set, which is undone like any operation', () => {
  const manager = six()
  manager.setOriginalIndices([5, 1])
  assert.deepEqual(contents(manager.getMessages()), ['3', '1'])
  assert.equal(manager.getMarkMap().currentBatch, 0, 'no batch was opened')
  manager.execute({ operation: 'UNDO' })
  assert.equal(manager.getMessages().length, 6)
  for (const indices of [[6], [1, 1], [-1], [0.5]]) {
    assert.throws(() => manager.setOriginalIndices(indices), ValidationError)
    assert.equal(manager.getMessages().length, 6)
  }
})

test('a mark map that was handed out is a copy', () => {
  const manager = six()
  const markMap = manager.getMarkMap()
  markMap.originalIndices.length = 0
  markMap.typeIndices.user.push(99)
  markMap.batchBoundaries.push(5)
  markMap.boundaryToBatch.push(1)
  markMap.currentBatch = 1
  assert.deepEqual(manager.getMarkMap().originalIndices, [0, 1, 2, 3, 4, 5])
  assert.deepEqual(manager.getMarkMap().typeIndices.user, [1, 3, 5])
  assert.equal(manager.getMarkMap().currentBatch, 0)
})

test('operations are all carried out or none', () => {
  const manager = six()
  const results = manager.executeAll([
    { operation: 'APPEND', messages: [{ role: 'user', content: '4' }] },
    { operation: 'truncate', truncate: { keepLast: 3 } },
    { operation: 'delete', indices: [4] },
  ])
  assert.deepEqual(
    results.map(result => result.operation),
    ['APPEND', 'TRUNCATE', 'DELETE'],
  )
  assert.deepEqual(contents(manager.getMessages()), ['3', '4'])
  assert.throws(
    () =>
      manager.executeAll([
        { operation: 'CLEAR' },
        { operation: 'INSERT', position: 9, messages: [{ role: 'user', content: 'x' }] },
      ]),
    (error: unknown) => error instanceof ValidationError && error.operationIndex === 1,
  )
  assert.deepEqual(contents(manager.getMessages()), ['3', '4'])
})

test('the same messages by both managers', () => {
  const manager = six()
  const array = manager.getMessageArrayManager()
  array.execute({
    operation: 'REPLACE',
    index: 0,
    message: { role: 'system', content: 'new rules' },
  })
  assert.deepEqual(array.getCurrentMessages(), manager.getMessages())
  assert.equal(manager.getMarkMap().currentBatch, 1)
})

test('tokens: those of the view, against the limit', () => {
  const manager = conversationWith({ tokenLimit: 8 }, 'u:1')
  assert.equal(manager.getTokenCount(), manager.getStats().tokens)
  assert.equal(manager.isTokenLimitExceeded(), false)
  manager.addMessage(messageOf('a:one two three'))
  assert.equal(manager.isTokenLimitExceeded(), true)
  manager.clearMessages(false)
  assert.equal(manager.getTokenCount(), 0)
  assert.equal(six().isTokenLimitExceeded(), false, 'there is none')
})

test('token usage: what is reported of a request takes the place of what was reported before, until it is over', () => {
  const manager = new ConversationManager()
  assert.equal(manager.getTokenUsage(), null)
  assert.equal(manager.getCurrentRequestUsage(), null)
  manager.finalizeCurrentRequest()
  manager.updateTokenUsage({ promptTokens: 10, completionTokens: 1 })
  manager.updateTokenUsage({ promptTokens: 10, completionTokens: 5, totalTokens: 15 })
  assert.deepEqual(manager.getCurrentRequestUsage(), {
    promptTokens: 10,
    completionTokens: 5,
    totalTokens: 15,
  })
  manager.finalizeCurrentRequest()
  assert.equal(manager.getCurrentRequestUsage(), null)
  manager.updateTokenUsage({ promptTokens: 20, completionTokens: 2, model: 'some-model' })
  assert.deepEqual(manager.getTokenUsage(), {
    promptTokens: 30,
    completionTokens: 7,
    totalTokens: 37,
  })
  manager.finalizeCurrentRequest()
  assert.deepEqual(manager.getTokenUsageTracker().getHistory(), [
    { promptTokens: 10, completionTokens: 5, totalTokens: 15 },
    { promptTokens: 20, completionTokens: 2, totalTokens: 22 },
  ])
  assert.throws(
    () => manager.updateTokenUsage({ promptTokens: -1, completionTokens: 0 }),
    ValidationError,
  )
})

test('what cannot be a setting is refused', () => {
  assert.throws(() => new ConversationManager({ tokenLimit: -1 }), ValidationError)
  assert.throws(
    () =>
      new ConversationManager({
        compressionConfig: { enabled: true, threshold: 10, targetTokens: 5, strategy: 'no such' },
      }),
    ValidationError,
  )
  assert.throws(() => new ConversationManager({ tokenizer: 'no such' }), UndertextError)
  assert.throws(
    () => new ConversationManager({ initialMessages: [{ role: 'user', content: '' }] }),
    ValidationError,
  )
})

test('a conversation that was closed says so', async () => {
  const manager = six()
  await manager.close()
  assert.throws(() => manager.addMessage(messageOf('u:1')), ValidationError)
  assert.throws(() => manager.getMessages(), ValidationError)
})
