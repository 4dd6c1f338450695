// How long an append holds the loop. A machine that is busy with something else is no reason to fail: of every step the quickest of many tries counts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inMemory, open, type Conversation, type Message } from 'undertext'
import { temporaryStore } from './temporary.js'

const tries = 10
const millisecondMax = 1

// The longest that a step of `work` holds the loop: the call itself, and then every turn of the loop. How many turns it waits for other threads differs; the
// steps that all tries have are those in which something is done here.
async function longestStep<T>(
  work: (given: T) => Promise<unknown>,
  make?: () => T,
): Promise<number> {
  let quickest: number[] | undefined
  for (let i = 0; i < tries; ++i) {
    let done = false
    const given = make?.() as T
    let since = performance.now()
    const promise = work(given).finally(() => (done = true))
    const steps = [performance.now() - since]
    while (!done) {
      since = performance.now()
      await new Promise(resolve => setImmediate(resolve))
      steps.push(performance.now() - since)
    }
    await promise
    quickest =
      quickest === undefined
        ? steps
        : quickest.slice(0, steps.length).map((step, at) => Math.min(step, steps[at]!))
  }
  return Math.max(...quickest!)
}

const texts: [string, string][] = [
  ['a word', 'word'],
  ['as much as is done on the loop', '中'.repeat(16_000)],
  ['a little more', 'ü'.repeat(17_000)],
  ['as much as is written at once', '😀'.repeat(16_000)],
  ['a million characters', 'x'.repeat(1_000_000)],
  ['three million', '"ü\n'.repeat(1_000_000)],
]

async function holds(make: () => Promise<Conversation>, these = texts): Promise<void> {
  await using conversation = await make()
  for (const [what, content] of these) {
    content.charCodeAt(0)
    const took = await longestStep(() => conversation.append({ role: 'user', content }))
    assert.ok(took < millisecondMax, `${what}: ${took.toFixed(2)} ms`)
  }
}

const lists: [string, () => Message | Iterable<Message>][] = [
  ['a hundred messages', () => words(100)],
  ['two thousand', () => words(2000)],
  ['a thousand with tools', () => tools(1000)],
  [
    'long ones',
    () => [...Array(300)].map((_, i) => ({ role: 'user', content: `${i} ${'ü'.repeat(50_000)}` })),
  ],
  [
    'one of many parts',
    () => ({
      role: 'user',
      content: [...Array(2000)].map((_, i) => ({ type: 'text', text: `part ${i}` })),
    }),
  ],
  [
    'one of many members',
    () => ({
      role: 'user',
      content: 'x',
      metadata: Object.fromEntries([...Array(1000)].map((_, i) => [`key ${i}`, i])),
    }),
  ],
  ['fifty thousand that come one by one', () => words(50_000).values()],
]

function words(n: number): Message[] {
  return [...Array(n)].map((_, i) => ({ role: 'user', content: `message ${i}` }))
}
function tools(n: number): Message[] {
  return [...Array(n)].map(
    (_, i): Message =>
      i % 2 === 0
        ? {
            role: 'assistant',
            content: '',
            toolCalls: [
              {
                id: `call_${i}`,
                type: 'function',
                function: { name: 'read', arguments: `{"line":${i}}` },
              },
            ],
          }
        : {
            role: 'tool',
            toolCallId: `call_${i - 1}`,
            content: [{ type: 'text', text: `line ${i}` }],
          },
  )
}

test('an append to a conversation in memory holds the loop for less than a millisecond', () =>
  holds(async () => inMemory()))
test('an append to a stored conversation holds the loop for less than a millisecond', t =>
  holds(() => open(temporaryStore(t))))
test('an append to a conversation that compresses itself holds the loop for less than a millisecond', () =>
  holds(
    async () =>
      inMemory({
        compressionConfig: {
          enabled: true,
          threshold: 1000,
          targetTokens: 500,
          strategy: 'smart_summary',
        },
      }),
    texts.slice(0, 1),
  ))
for (const [what, list] of lists) {
  test(`an append of ${what} holds the loop for less than a millisecond`, async () => {
    await using conversation = inMemory()
    const took = await longestStep(
      (messages: Message | Iterable<Message>) => conversation.append(messages),
      list,
    )
    assert.ok(took < millisecondMax, `${took.toFixed(2)} ms`)
  })
}

test('reading a few messages of very many holds the loop for less than a millisecond', async () => {
  await using conversation = inMemory()
  for (let i = 0; i < 20; ++i)
    await conversation.append(
      [...Array(1000)].map((_, j) => ({ role: 'user' as const, content: `message ${i} ${j}` })),
    )
  assert.ok(
    (await longestStep(() => conversation.messages({ role: 'user', last: 3 }))) < millisecondMax,
  )
  assert.ok(
    (await longestStep(() =>
      conversation.truncate({ keepLast: 15_000 }).then(() => conversation.undo()),
    )) < millisecondMax,
  )
})
