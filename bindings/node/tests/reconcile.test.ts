// A conversation follows a client that keeps its own list.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inMemory, MemoryConversation, openStore } from 'undertext'

// A request to Anthropic; its newest message is a list of one part with a marker, as clients send it.
const body = (...texts: string[]) => ({
  model: 'm',
  system: 'S',
  messages: texts.map((text, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content:
      i + 1 < texts.length ? text : [{ type: 'text', text, cache_control: { type: 'ephemeral' } }],
  })),
})

// What is sent, and what comes of it: outcome, common, added, removed.
const story: [request: object, expected: [string, number, number, number]][] = [
  [body('one'), ['appended', 0, 2, 0]],
  [body('one'), ['same', 2, 0, 0]],
  [body('one', 'two', 'three'), ['appended', 2, 2, 0]],
  [body('one', 'two', 'other'), ['edited', 3, 1, 1]],
  [body('one', 'two', 'three'), ['edited', 3, 1, 1]],
]

test('the conversation follows a client, and stores nothing twice', async () => {
  await using store = await openStore('memory:')
  for (const conversation of [new MemoryConversation(), inMemory(), await store.open('chat')]) {
    let version = 0
    for (const [request, expected] of story) {
      const answer = await conversation.reconcile({ request, client: 'claude_code' })
      assert.deepEqual([answer.outcome, answer.common, answer.added, answer.removed], expected)
      if (expected[0] !== 'same') version += 1
      assert.equal(answer.version, version)
    }
    const { count } = await conversation.count({ all: true })
    assert.equal(count, 5)
    const refused = async () =>
      conversation.reconcile(
        { request: body('one'), client: 'claude_code' },
        { expectedVersion: 0 },
      )
    await assert.rejects(refused, { code: 'conflict' })
  }
})

test('two requests at once come one after the other', async () => {
  await using store = await openStore('memory:')
  const conversation = await store.open('chat')
  await conversation.reconcile({ request: body('one', 'two', 'three'), client: 'claude_code' })
  const answers = await Promise.all(
    ['left', 'right'].map(async text =>
      conversation.reconcile({ request: body('one', 'two', text), client: 'claude_code' }),
    ),
  )
  assert.deepEqual(
    answers.map(answer => answer.outcome),
    ['edited', 'edited'],
  )
  assert.deepEqual(answers.map(answer => answer.version).sort(), [2, 3])
  const { count } = await conversation.count()
  assert.equal(count, 4)
})
