import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryConversation, UndertextError, type Event } from 'undertext'

test('messages come back as they were given', () => {
  const conversation = new MemoryConversation()
  const { version, stats } = conversation.append([
    { role: 'user', content: 'Hello', extra: { b: 1, a: [null, true] } },
  ])
  assert.equal(version, 1)
  assert.equal(stats.currentBatchMessages, 1)
  assert.deepEqual(conversation.messages({ role: 'user', last: 3 }), [
    { role: 'user', content: 'Hello', extra: { b: 1, a: [null, true] } },
  ])
})

test('an error has a code and a field, and has changed nothing', () => {
  const conversation = new MemoryConversation()
  assert.throws(
    () => conversation.insert(9, { role: 'user', content: 'x' }),
    error =>
      error instanceof UndertextError &&
      error.code === 'invalid_argument' &&
      error.field === 'position',
  )
  assert.equal(conversation.version(), 0)
})

test('a list of operations happens whole or not at all', () => {
  const conversation = new MemoryConversation()
  const append = { operation: 'APPEND', messages: [{ role: 'user', content: 'a' }] } as const
  assert.throws(
    () => conversation.apply([append, { operation: 'ROLLBACK', targetBatchIndex: 7 }]),
    error => error instanceof UndertextError && error.operationIndex === 1,
  )
  assert.equal(conversation.version(), 0)
  assert.deepEqual(
    conversation.apply([append, { operation: 'UNDO' }]).map(outcome => outcome.version),
    [1, 2],
  )
})

test('a listener may change the conversation it listens to', () => {
  const conversation = new MemoryConversation()
  const heard: Event[] = []
  const off = conversation.on('MESSAGE_ADDED', event => {
    heard.push(event)
    if (event.ordinal < 3)
      conversation.append({ role: 'assistant', content: `after ${event.ordinal}` })
  })
  conversation.append({ role: 'user', content: 'first' })
  assert.deepEqual(
    heard.map(event => 'ordinal' in event && event.ordinal),
    [0, 1, 2, 3],
  )
  off()
  conversation.append({ role: 'user', content: 'unheard' })
  assert.equal(heard.length, 4)
})

test('a strategy in JavaScript proposes, and what it may not hide is refused', () => {
  const conversation = new MemoryConversation({
    strategies: {
      firstOnly: view => ({
        replacements: [{ hide: [view.find({ first: 1 }).ordinals[0]!] }],
        reason: 'it is old',
      }),
      broken: () => {
        throw new Error('no idea')
      },
    },
  })
  conversation.append([
    { role: 'user', content: 'a' },
    { role: 'user', content: 'b' },
  ])
  assert.equal(
    conversation.compress({ strategy: 'firstOnly', targetTokens: 5 }).outcome,
    'compressed',
  )
  assert.deepEqual(
    conversation.messages().map(message => message.content),
    ['b'],
  )
  assert.throws(
    () => conversation.compress({ strategy: 'broken', targetTokens: 1 }),
    error =>
      error instanceof UndertextError &&
      error.code === 'invalid_argument' &&
      error.message.includes('no idea'),
  )
  conversation.undo()
  conversation.mark({ indices: [0] }, 'pinned')
  assert.throws(
    () => conversation.compress({ strategy: 'firstOnly', targetTokens: 5 }),
    UndertextError,
  )
  assert.equal(conversation.messages().length, 2)
})
