import {
  convertToModelMessages,
  createUIMessageStreamResponse,
  generateText,
  stepCountIs,
  streamText,
  tool,
  validateUIMessages,
  type ModelMessage,
  type UIMessage,
} from 'ai'
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test'
import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStore } from 'undertext'
import { ModelMessageStore, UIMessageStore } from 'undertext/ai'
import { z } from 'zod'
import { anyObject, anyValue, runs, some, text, type Item } from './values.js'

const say = (id: string, role: 'user' | 'assistant' | 'system', value: string): UIMessage => ({
  id,
  role,
  parts: [{ type: 'text', text: value }],
})
const chat = [
  say('1', 'user', 'Hello'),
  say('2', 'assistant', 'Hi.'),
  say('3', 'user', 'How are you?'),
  say('4', 'assistant', 'Fine.'),
]

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
}

test('messages of a page come back as they were saved; a chat that is not there has none', async () => {
  await using store = await openStore('memory:')
  const messages = new UIMessageStore(store)
  assert.deepEqual(await messages.load('chat'), [])
  assert.deepEqual(await store.list(), [])
  const rich: UIMessage[] = [
    {
      id: 'a',
      role: 'user',
      metadata: { at: 1, ['__proto__']: 2 },
      parts: [{ type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AAAA' }],
    },
    {
      id: 'b',
      role: 'assistant',
      parts: [
        { type: 'step-start' },
        { type: 'reasoning', text: 'hm' },
        {
          type: 'tool-weather',
          toolCallId: 'c',
          state: 'output-available',
          input: { city: 'Lyon' },
          output: { degrees: 18 },
        },
        { type: 'data-map', data: { zoom: 3 } },
        { type: 'text', text: 'It is 18.', state: 'done' },
      ],
    },
    { id: 'c', role: 'assistant', parts: [] },
  ]
  await messages.save('chat', rich)
  assert.equal(JSON.stringify(await messages.load('chat')), JSON.stringify(rich))
})

test('a save is one version, or none where nothing changed: append, regenerate, edit', async () => {
  await using store = await openStore('memory:')
  const messages = new UIMessageStore(store)
  await messages.save('chat', chat.slice(0, 2))
  await messages.save('chat', chat)
  const again = await messages.save('chat', chat)
  const regenerated = [...chat.slice(0, 3), say('5', 'assistant', 'Splendid.')]
  await messages.save('chat', regenerated)
  const edited = [chat[0]!, chat[1]!, say('3', 'user', 'Who are you?')]
  await messages.save('chat', edited)
  assert.deepEqual(await messages.load('chat'), edited)
  await using conversation = await store.open('chat')
  assert.deepEqual(
    (await conversation.history()).map(({ operation }) => operation),
    [null, 'RECONCILE', 'RECONCILE', 'RECONCILE', 'RECONCILE'],
  )
  assert.deepEqual(
    (await conversation.messages({ atVersion: again.version })).map(({ id }) => id),
    ['1', '2', '3', '4'],
  )
})

test('what was given may be changed afterwards', async () => {
  await using store = await openStore('memory:')
  const messages = new UIMessageStore(store)
  const given = structuredClone(chat)
  const saving = messages.save('chat', given)
  given[0]!.parts = []
  given.pop()
  await saving
  assert.deepEqual(await messages.load('chat'), chat)
})

test('two who save at once lose nothing, and whoever expects a version is told', async () => {
  await using store = await openStore('memory:')
  const [one, two] = [new UIMessageStore(store), new UIMessageStore(store)]
  const { version } = await one.save('chat', chat.slice(0, 2))
  await Promise.all([
    one.save('chat', chat.slice(0, 3)),
    two.save('chat', [...chat.slice(0, 2), say('x', 'user', 'Other')]),
  ])
  await using conversation = await store.open('chat')
  assert.deepEqual((await conversation.messages({ all: true })).map(({ id }) => id).sort(), [
    '1',
    '2',
    '3',
    'x',
  ])
  await assert.rejects(one.save('chat', chat, { expectedVersion: version }), {
    name: 'UndertextError',
    code: 'conflict',
  })
  const now = await one.loadVersion('chat')
  await one.save('chat', chat, { expectedVersion: now.version })
  assert.deepEqual(await two.load('chat'), chat)
})

test('many chats at once, more than are kept open, are each their own', async () => {
  await using store = await openStore('memory:')
  const messages = new UIMessageStore(store)
  const ids = Array.from({ length: 100 }, (_, i) => `chat-${i}`)
  await Promise.all(
    ids.flatMap(id => [
      messages.load(id),
      messages.save(id, [say(id, 'user', id)]),
      messages.load(id),
    ]),
  )
  const loaded = await Promise.all(ids.map(id => messages.load(id)))
  assert.deepEqual(
    loaded.map(list => list.map(({ id }) => id)),
    ids.map(id => [id]),
  )
  await messages.close()
})

test('a chat as in the manual of the AI SDK: load, validate, convert, stream, save', async () => {
  await using store = await openStore('memory:')
  const messages = new UIMessageStore(store)
  const turn = async (message: UIMessage, answer: string): Promise<number> => {
    let sent = 0
    const model = new MockLanguageModelV3({
      doStream: async ({ prompt }) => {
        sent = prompt.length
        return {
          stream: simulateReadableStream({
            chunks: [
              { type: 'stream-start', warnings: [] },
              { type: 'text-start', id: 't' },
              { type: 'text-delta', id: 't', delta: answer },
              { type: 'text-end', id: 't' },
              { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
            ],
          }),
        }
      },
    })
    const originalMessages = await validateUIMessages({
      messages: [...(await messages.load('chat')), message],
    })
    const result = streamText({ model, messages: await convertToModelMessages(originalMessages) })
    const stream = result.toUIMessageStream({
      originalMessages,
      generateMessageId: () => `${message.id}-answer`,
      onFinish: async done => {
        await messages.save('chat', done.messages)
      },
    })
    await createUIMessageStreamResponse({ stream }).text()
    return sent
  }
  assert.equal(await turn(say('u1', 'user', 'Hello'), 'Hi.'), 1)
  assert.equal(await turn(say('u2', 'user', 'And?'), 'Yes.'), 3)
  const loaded = await messages.load('chat')
  assert.deepEqual(
    loaded.map(({ id, role }) => [id, role]),
    [
      ['u1', 'user'],
      ['u1-answer', 'assistant'],
      ['u2', 'user'],
      ['u2-answer', 'assistant'],
    ],
  )
  await using conversation = await store.open('chat')
  assert.deepEqual(
    (await conversation.history()).map(({ operation }) => operation),
    [null, 'RECONCILE', 'RECONCILE'],
  )
})

test('messages of a model go round through generateText with a tool, and the engine sees calls and answers', async () => {
  await using store = await openStore('memory:')
  const messages = new ModelMessageStore(store)
  let step = 0
  const model = new MockLanguageModelV3({
    doGenerate: async () => ({
      content:
        step++ === 0
          ? [{ type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: '{"city":"Lyon"}' }]
          : [{ type: 'text', text: 'It is 18.' }],
      finishReason: { unified: step === 1 ? 'tool-calls' : 'stop', raw: undefined },
      usage,
      warnings: [],
    }),
  })
  const asked: ModelMessage[] = [{ role: 'user', content: 'Weather in Lyon?' }]
  const weather = tool({
    description: 'The weather',
    inputSchema: z.object({ city: z.string() }),
    execute: async () => '18 degrees',
  })
  const { response } = await generateText({
    model,
    messages: asked,
    tools: { weather },
    stopWhen: stepCountIs(3),
  })
  const whole: ModelMessage[] = [...asked, ...response.messages]
  await messages.save('chat', whole)
  assert.deepEqual(await messages.load('chat'), JSON.parse(JSON.stringify(whole)))
  await using conversation = await store.open('chat')
  assert.deepEqual(
    (await conversation.messages()).map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant'],
  )
  assert.equal((await conversation.count({ role: 'tool', contains: '18 degrees' })).count, 1)
  assert.deepEqual((await conversation.delete({ indices: [2] })).warnings, [
    { code: 'tool_call_without_result', ordinal: 1, toolCallId: 'c1' },
  ])
})

test('a summary, and messages that came by another door, are messages of both kinds', async () => {
  await using store = await openStore('memory:')
  const ui = new UIMessageStore(store)
  await ui.save('chat', chat)
  await using conversation = await store.open('chat')
  await conversation.compress({
    indices: [0, 1, 2],
    summary: { role: 'system', content: 'They met.' },
  })
  await conversation.append({ role: 'tool', content: 'done', toolCallId: 'c' })
  const loaded = await ui.load('chat')
  assert.deepEqual(
    loaded.map(({ role, parts }) => [role, parts[0]]),
    [
      ['system', { type: 'text', text: 'They met.' }],
      ['assistant', { type: 'text', text: 'Fine.' }],
      ['assistant', { type: 'text', text: 'done' }],
    ],
  )
  await validateUIMessages({ messages: loaded })
  await ui.save('chat', [...loaded, say('9', 'user', 'Go on')])
  await conversation.catchUp()
  assert.equal((await conversation.stats()).totalMessages, 7)
  assert.deepEqual((await new ModelMessageStore(store).load('chat'))[2], {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'c',
        toolName: '',
        output: { type: 'text', value: 'done' },
      },
    ],
  })
  await conversation.expand(0)
  assert.deepEqual(
    (await ui.load('chat')).map(({ id }) => id),
    ['1', '2', '3', '4', 'message-5', '9'],
  )
})

test('a summary stays in force for a page that still has the messages it stands for, and nothing is stored twice', async () => {
  await using store = await openStore('memory:')
  const page = new UIMessageStore(store)
  await page.save('chat', chat)
  await using conversation = await store.open('chat')
  await conversation.compress({
    indices: [0, 1, 2],
    summary: { role: 'system', content: 'They met.' },
  })
  const version = await conversation.version()
  const grown = [...chat, say('5', 'user', 'Go on')]
  for (const [messages, lists] of [
    [page, [chat, grown, grown]],
    [new UIMessageStore(store), [grown, grown]],
  ] as const) {
    for (const list of lists) await messages.save('chat', list)
    await conversation.catchUp()
    assert.deepEqual(
      [await conversation.version(), (await conversation.stats()).totalMessages],
      [version + 1, 6],
    )
    assert.deepEqual(
      (await page.load('chat')).map(({ id }) => id),
      ['message-4', '4', '5'],
    )
  }
  // Without one of them it is expanded to what remains.
  await page.save('chat', grown.toSpliced(1, 1))
  assert.deepEqual(await page.load('chat'), grown.toSpliced(1, 1))
  await conversation.catchUp()
  assert.equal((await conversation.stats()).totalMessages, 6)
})

test('chats that an earlier release saved go on', async () => {
  await using store = await openStore('memory:')
  await using conversation = await store.open('chat')
  const enclosed = ({ id, role, parts }: UIMessage) => ({
    role,
    content: parts,
    id,
    foreign: { kind: 'ai-ui', item: { id, role, parts: null }, home: ['parts'] },
  })
  // As it wrote them: APPEND, then REPLACE for an answer that was made again.
  await conversation.append(chat.slice(0, 3).map(enclosed) as never)
  await conversation.append(enclosed(say('x', 'assistant', 'Bad.')) as never)
  await conversation.apply([
    { operation: 'REPLACE', index: 3, message: enclosed(chat[3]!) as never },
  ])
  const messages = new UIMessageStore(store)
  assert.deepEqual(await messages.load('chat'), chat)
  const version = await conversation.version()
  assert.equal((await messages.save('chat', chat)).version, version)
  await messages.save('chat', [...chat, say('5', 'user', 'Go on')])
  await conversation.catchUp()
  assert.deepEqual(
    [await conversation.version(), (await conversation.stats()).totalMessages],
    [version + 1, 6],
  )
  await messages.save('chat', [])
  assert.deepEqual(await messages.load('chat'), [])
  await messages.save('chat', chat)
  assert.deepEqual(await messages.load('chat'), chat)
  await conversation.catchUp()
  assert.equal((await conversation.stats()).totalMessages, 6)
})

test('what JSON cannot hold is refused, and the chat stays as it was', async () => {
  await using store = await openStore('memory:')
  const messages = new UIMessageStore(store)
  await messages.save('chat', chat)
  for (const metadata of [{ at: new Date() }, { a: NaN }, { a: 'half \ud83d' }]) {
    await assert.rejects(messages.save('chat', [...chat, { ...say('9', 'user', 'x'), metadata }]), {
      name: 'UndertextError',
      code: 'invalid_argument',
    })
  }
  assert.deepEqual(await messages.load('chat'), chat)
})

test('random lists are loaded as they were saved, one after the other', async () => {
  await using store = await openStore('memory:')
  const part = fc.oneof(
    fc.record({
      type: fc.constantFrom(
        'text',
        'reasoning',
        'step-start',
        'tool-x',
        'tool-result',
        'tool-call',
      ),
      text,
    }),
    some({ type: text, toolCallId: text, input: anyValue, output: anyObject }),
  )
  const ui = some({ id: text, metadata: anyValue, foreign: anyValue }).chain(rest =>
    fc
      .record({
        role: fc.constantFrom('user', 'assistant', 'system'),
        parts: fc.array(part, { maxLength: 3 }),
      })
      .map(item => ({ ...rest, ...item }) as Item),
  )
  const model = fc.record({
    role: fc.constantFrom('user', 'assistant', 'system', 'tool'),
    content: fc.oneof(text, fc.array(part, { maxLength: 3 })),
  }) as fc.Arbitrary<Item>
  let chats = 0
  const both = [
    [new UIMessageStore(store), ui],
    [new ModelMessageStore(store), model],
  ] as [UIMessageStore, fc.Arbitrary<Item>][]
  for (const [messages, item] of both) {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(item, { maxLength: 4 }), { minLength: 1, maxLength: 3 }),
        async states => {
          const id = `chat-${++chats}`
          for (const state of states as unknown as UIMessage[][]) {
            await messages.save(id, state)
            assert.equal(JSON.stringify(await messages.load(id)), JSON.stringify(state))
          }
        },
      ),
      runs,
    )
  }
})
