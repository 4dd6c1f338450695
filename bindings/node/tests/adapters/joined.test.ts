// Messages that were joined or cut: each call is told once, and what came with a message of another kind does not break the framework's own.
import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import { protocol, type AgentInputItem } from '@openai/agents-core'
import { modelMessageSchema, validateUIMessages } from 'ai'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inMemory, openStore, type Message } from 'undertext'
import { ModelMessageStore, UIMessageStore } from 'undertext/ai'
import { UndertextChatMessageHistory } from 'undertext/langchain'
import { UndertextSession } from 'undertext/openai-agents'

// As LangChain has an answer of Anthropic's: the calls are parts, and tool_calls too.
function using(...ids: string[]): AIMessage {
  const content = [
    { type: 'text', text: 'I look.' },
    ...ids.map(id => ({ type: 'tool_use', id, name: 'f', input: { id } })),
  ]
  return new AIMessage({
    content,
    tool_calls: ids.map(id => ({ id, name: 'f', args: { id } })),
    response_metadata: { model: 'x' },
  })
}

const listing = (id: string, args: object = {}): AIMessage =>
  new AIMessage({ content: '', tool_calls: [{ id, name: 'f', args: { ...args } }] })
const callIds = (messages: BaseMessage[]): unknown[] =>
  messages.map(message => (message as AIMessage).tool_calls?.map(({ id }) => id))
const usedIds = (message: BaseMessage): unknown[] =>
  Array.isArray(message.content)
    ? message.content.flatMap(part => (part.type === 'tool_use' ? [part['id']] : []))
    : []

const joins: [name: string, given: AIMessage[], ids: string[]][] = [
  ['two that have calls as parts', [using('a'), using('b')], ['a', 'b']],
  ['two that have the same call as a part', [using('a'), using('a')], ['a', 'a']],
  ['a text and calls as parts', [new AIMessage('hm'), using('b')], ['b']],
  ['calls as parts and calls that are none', [using('a', 'b'), listing('c')], ['a', 'b', 'c']],
  ['calls that are no parts and calls that are', [listing('c'), using('a')], ['a', 'c']],
  ['two calls of one id', [listing('a', { x: 1 }), listing('a', { x: 2 })], ['a', 'a']],
]

for (const [name, given, ids] of joins) {
  test(`messages of LangChain that were merged, ${name}, have each call once`, async () => {
    const conversation = inMemory()
    const history = new UndertextChatMessageHistory(conversation)
    await history.addMessages(given)
    await conversation.merge([0, 1])
    const [merged, ...others] = await history.getMessages()
    assert.deepEqual([callIds([merged!]), others], [[ids], []])
    assert.ok(usedIds(merged!).every(id => ids.includes(id as string)))
  })
}

test('a message of LangChain that has calls as parts comes back whole, and each of its pieces has its own', async () => {
  const conversation = inMemory()
  const history = new UndertextChatMessageHistory(conversation)
  const unlisted = new AIMessage({ content: [{ type: 'tool_use', id: 'x', name: 'f', input: {} }] })
  const more = new AIMessage({
    content: using('a').content,
    tool_calls: [...using('a').tool_calls!, ...listing('b').tool_calls!],
  })
  const given = [using('a', 'b'), unlisted, more]
  await history.addMessages(given)
  assert.equal(JSON.stringify(await history.getMessages()), JSON.stringify(given))
  await conversation.split(0, [2])
  const pieces = (await history.getMessages()).slice(0, 2)
  assert.deepEqual(callIds(pieces), [['a'], ['b']])
  assert.deepEqual(
    pieces.map(({ text }) => text),
    ['I look.', ''],
  )
})

test('two calls of one id in a message are both told, each with its result', async () => {
  await using store = await openStore('memory:')
  await using conversation = await store.open('chat')
  const call = (x: number) => ({
    id: 'a',
    type: 'function' as const,
    function: { name: 'f', arguments: JSON.stringify({ x }) },
  })
  await conversation.append([
    { role: 'assistant', content: null, toolCalls: [call(1), call(2)] },
    ...['r1', 'r2'].map((content): Message => ({ role: 'tool', toolCallId: 'a', content })),
  ])
  const items = await new UndertextSession(conversation).getItems()
  assert.deepEqual(
    items.map(item => (item.type === 'function_call' ? item.arguments : item.type)),
    ['{"x":1}', '{"x":2}', 'function_call_result', 'function_call_result'],
  )
  const [asked] = await new ModelMessageStore(store).load('chat')
  assert.deepEqual(
    (asked!.content as { input: unknown }[]).map(({ input }) => input),
    [{ x: 1 }, { x: 2 }],
  )
  const page = await new UIMessageStore(store).load('chat')
  assert.deepEqual(
    page.map(({ parts }) => parts.map(part => 'output' in part && [part.input, part.output])),
    [
      [
        [{ x: 1 }, 'r1'],
        [{ x: 2 }, 'r2'],
      ],
    ],
  )
  const [message] = await new UndertextChatMessageHistory(conversation).getMessages()
  assert.deepEqual(
    (message as AIMessage).tool_calls?.map(({ args }) => args),
    [{ x: 1 }, { x: 2 }],
  )
})

test('arguments that are an empty text are none', async () => {
  await using store = await openStore('memory:')
  await using conversation = await store.open('chat')
  await conversation.append([
    {
      role: 'assistant',
      content: null,
      toolCalls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '' } }],
    },
  ])
  const [message] = await new UndertextChatMessageHistory(conversation).getMessages()
  assert.deepEqual((message as AIMessage).tool_calls, [
    { id: 'a', name: 'f', args: {}, type: 'tool_call' },
  ])
  assert.deepEqual(await new ModelMessageStore(store).load('chat'), [
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'f', input: {} }],
    },
  ])
})

const reasoning: Extract<AgentInputItem, { type: 'reasoning' }> = {
  type: 'reasoning',
  id: 'r',
  content: [{ type: 'input_text', text: 'sum' }],
  rawContent: ['one', 'two'].map(text => ({ type: 'reasoning_text' as const, text })),
}
const done: AgentInputItem = {
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'done' }],
}
const shell: AgentInputItem = {
  type: 'shell_call',
  id: 'sh',
  callId: 's',
  status: 'completed',
  action: { commands: ['ls'] },
}
const weather: AgentInputItem = {
  type: 'function_call',
  callId: 'w',
  name: 'weather',
  arguments: '{}',
  status: 'completed',
}
const hosted: AgentInputItem = {
  type: 'hosted_tool_call',
  name: 'web_search_call',
  status: 'completed',
}
const thinking: Message = {
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'x', signature: 's' },
    { type: 'text', text: 'y' },
  ],
}
const picture: Message = {
  role: 'user',
  content: [
    { type: 'text', text: 'see' },
    { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
  ],
}

const thought = (...texts: string[]) => ({
  type: 'reasoning',
  content: [],
  rawContent: texts.map(text => ({ type: 'reasoning_text', text })),
})
const answer = (...texts: string[]) => ({
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: texts.map(text => ({ type: 'output_text', text })),
})

const merges: [name: string, items: AgentInputItem[], others: Message[], expected: object[]][] = [
  ['thoughts and an answer', [reasoning, done], [], [reasoning, answer('done')]],
  ['an answer and thoughts', [done, reasoning], [], [reasoning, answer('done')]],
  ['a call of a shell and an answer', [shell, done], [], [shell, answer('done')]],
  ['calls of a function and of a shell', [weather, shell], [], [shell, weather]],
  ['a hosted call and an answer', [hosted, done], [], [hosted, answer('done')]],
  ["an answer and another library's thoughts", [done], [thinking], [answer('done', 'y')]],
  ["another library's thoughts after a hosted call", [hosted], [thinking], [hosted, answer('y')]],
  [
    'instructions and parts of instructions',
    [{ type: 'message', role: 'system', content: 'one' }],
    [{ role: 'system', content: [{ type: 'text', text: 'two' }] }],
    [{ type: 'message', role: 'system', content: 'one\ntwo' }],
  ],
  [
    "a picture and another library's picture",
    [
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_image', image: 'https://example.org/b.png' }],
      },
    ],
    [picture],
    [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_image', image: 'https://example.org/b.png' },
          { type: 'input_text', text: 'see' },
        ],
      },
    ],
  ],
]

for (const [name, items, others, expected] of merges) {
  test(`items of the Agents SDK that were merged, ${name}, are items that it takes`, async () => {
    const conversation = inMemory()
    const session = new UndertextSession(conversation)
    await session.addItems(items)
    if (others.length > 0) await conversation.append(others)
    await conversation.merge([0, 1])
    const read = await session.getItems()
    assert.deepEqual(read, expected)
    for (const item of read)
      assert.ok(protocol.ModelItem.safeParse(item).success, JSON.stringify(item))
  })
}

test('an item of a kind that is not known yet stays an item when it is merged', async () => {
  const conversation = inMemory()
  const session = new UndertextSession(conversation)
  const later = { type: 'of_a_later_sdk', x: 1 } as unknown as AgentInputItem
  await session.addItems([later, done])
  await conversation.merge([0, 1])
  assert.deepEqual(await session.getItems(), [later, done])
})

test('each piece of thoughts is thoughts', async () => {
  const conversation = inMemory()
  const session = new UndertextSession(conversation)
  // Thoughts as they were stored before they were one part.
  const { rawContent, ...others } = reasoning
  await conversation.append({
    role: 'assistant',
    id: 'r',
    content: rawContent as never,
    foreign: { kind: 'openai-agents', item: { ...others, rawContent: null }, home: ['rawContent'] },
  })
  assert.deepEqual(await session.getItems(), [reasoning])
  await conversation.split(0, [1])
  const [first, second] = await session.getItems()
  assert.deepEqual(
    [first, second],
    [{ ...reasoning, rawContent: [{ type: 'reasoning_text', text: 'one' }] }, thought('two')],
  )
})

test("parts of another library's do not make a chat unreadable for the AI SDK, and parts of one's own stay", async () => {
  await using store = await openStore('memory:')
  const pages = new UIMessageStore(store)
  const later = { type: 'of-a-later-sdk', x: 1 }
  await pages.save('page', [
    { id: '1', role: 'user', parts: [{ type: 'text', text: 'q' }] },
    { id: '2', role: 'assistant', parts: [{ type: 'reasoning', text: 'hm' }] },
  ])
  await using page = await store.open('page')
  await page.append(thinking)
  await page.merge([1, 2])
  const read = await validateUIMessages({ messages: await pages.load('page') })
  assert.deepEqual(read[1]!.parts, [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'y' },
  ])
  await pages.save('later', [{ id: '1', role: 'assistant', parts: [later as never] }])
  await using unknown = await store.open('later')
  await unknown.append(thinking)
  await unknown.merge([0, 1])
  assert.deepEqual((await pages.load('later'))[0]!.parts, [later, { type: 'text', text: 'y' }])

  const models = new ModelMessageStore(store)
  for (const [id, given, joined, content] of [
    [
      'user',
      { role: 'user', content: [{ type: 'image', image: 'https://example.org/b.png' }] },
      picture,
      [
        { type: 'image', image: 'https://example.org/b.png' },
        { type: 'text', text: 'see' },
      ],
    ],
    [
      'system',
      { role: 'system', content: 'one' },
      { role: 'system', content: [{ type: 'text', text: 'two' }] },
      'one\ntwo',
    ],
    [
      'assistant',
      { role: 'assistant', content: 'one' },
      thinking,
      [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'y' },
      ],
    ],
  ] as const) {
    await models.save(id, [given as never])
    await using conversation = await store.open(id)
    await conversation.append(joined as Message)
    await conversation.merge([0, 1])
    const [message] = await models.load(id)
    assert.deepEqual(modelMessageSchema.parse(message).content, content)
  }
})

test('a result of another door has the name of its call, also where that is not among the items asked for', async () => {
  const conversation = inMemory()
  const session = new UndertextSession(conversation)
  await conversation.append([
    {
      role: 'assistant',
      content: null,
      toolCalls: [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } }],
    },
    { role: 'tool', toolCallId: 'a', content: 'r' },
  ])
  const result = {
    type: 'function_call_result',
    callId: 'a',
    name: 'weather',
    status: 'completed',
    output: { type: 'text', text: 'r' },
  }
  assert.deepEqual(await session.getItems(1), [result])
  assert.deepEqual(await session.popItem(), result)
})

test('a message that only looks like one of an adapter is read by what it says', async () => {
  await using store = await openStore('memory:')
  await using conversation = await store.open('chat')
  const content = [
    { type: 'thinking', thinking: 'x' },
    { type: 'text', text: 'y' },
  ]
  const messages = [5, 'x', {}, null].flatMap((strange): Message[] => [
    {
      role: 'assistant',
      content,
      foreign: {
        kind: 'ai-ui',
        item: { id: '1', role: 'assistant', parts: null },
        home: ['parts'],
        strange,
      },
    },
    {
      role: 'assistant',
      content,
      foreign: {
        kind: 'ai-model',
        item: { role: 'assistant', content: null },
        home: ['content'],
        strange,
      },
    },
    {
      role: 'assistant',
      content,
      foreign: {
        kind: 'openai-agents',
        item: { role: 'assistant', content: null },
        home: ['content'],
        strange,
      },
    },
  ])
  await conversation.append(messages)
  const page = await validateUIMessages({ messages: await new UIMessageStore(store).load('chat') })
  assert.deepEqual(
    page.map(({ parts }) => parts),
    messages.map(() => [{ type: 'text', text: 'y' }]),
  )
  assert.ok(
    (await new ModelMessageStore(store).load('chat')).every(
      message => modelMessageSchema.safeParse(message).success,
    ),
  )
  assert.ok(
    (await new UndertextSession(conversation).getItems()).every(
      item => protocol.ModelItem.safeParse(item).success,
    ),
  )
})
