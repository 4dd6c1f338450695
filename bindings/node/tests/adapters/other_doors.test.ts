// Messages that came by another door, or were redacted, as messages of each framework.
import { AIMessage, ToolMessage } from '@langchain/core/messages'
import type { AgentInputItem } from '@openai/agents-core'
import {
  convertToModelMessages,
  modelMessageSchema,
  validateUIMessages,
  type ModelMessage,
} from 'ai'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importMessages, inMemory, openStore, type Conversation, type Message } from 'undertext'
import { ModelMessageStore, UIMessageStore } from 'undertext/ai'
import { UndertextChatMessageHistory } from 'undertext/langchain'
import { UndertextSession } from 'undertext/openai-agents'
import { z } from 'zod'

const anthropic = {
  system: 'Be brief.',
  messages: [
    { role: 'user', content: 'Weather in Lyon and Oslo?' },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'a', name: 'weather', input: { city: 'Lyon' } },
        { type: 'tool_use', id: 'b', name: 'weather', input: { city: 'Oslo' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'a',
          content: [
            { type: 'text', text: '18' },
            { type: 'text', text: 'degrees' },
          ],
        },
        { type: 'tool_result', tool_use_id: 'b', content: 'no such town', is_error: true },
        { type: 'text', text: 'Go on.' },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'It is 18.' }] },
  ],
}

// The same conversation as each provider's API has it.
const dialects: [name: string, messages: Message[]][] = [
  ['anthropic', importMessages('anthropic', anthropic).messages],
  [
    'openai_chat',
    importMessages('openai_chat', {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Weather in Lyon and Oslo?' },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: ['Lyon', 'Oslo'].map((city, i) => ({
            id: 'ab'[i],
            type: 'function',
            function: { name: 'weather', arguments: JSON.stringify({ city }) },
          })),
        },
        { role: 'tool', tool_call_id: 'a', content: '18\ndegrees' },
        { role: 'tool', tool_call_id: 'b', content: 'no such town' },
        { role: 'user', content: 'Go on.' },
        { role: 'assistant', content: 'It is 18.' },
      ],
    }).messages,
  ],
]

async function imported(
  messages: Message[],
): Promise<{ store: Awaited<ReturnType<typeof openStore>>; conversation: Conversation }> {
  const store = await openStore('memory:')
  const conversation = await store.open('chat')
  await conversation.append(messages)
  return { store, conversation }
}

for (const [dialect, messages] of dialects) {
  const isAnthropic = dialect === 'anthropic'

  test(`calls and results of ${dialect} are LangChain's`, async () => {
    const { store, conversation } = await imported(messages)
    const read = await new UndertextChatMessageHistory(conversation).getMessages()
    assert.deepEqual(
      read.map(message => message.getType()),
      ['system', 'human', 'ai', 'tool', 'tool', 'human', 'ai'],
    )
    const [, , asked, first, second] = read
    assert.ok(
      asked instanceof AIMessage && first instanceof ToolMessage && second instanceof ToolMessage,
    )
    assert.equal(asked.text, 'I look.')
    assert.deepEqual(
      asked.tool_calls?.map(({ id, name, args }) => [id, name, args]),
      [
        ['a', 'weather', { city: 'Lyon' }],
        ['b', 'weather', { city: 'Oslo' }],
      ],
    )
    assert.deepEqual(
      [first.tool_call_id, second.tool_call_id, second.content],
      ['a', 'b', 'no such town'],
    )
    assert.equal(second.status === 'error', isAnthropic)
    await store.close()
  })

  test(`calls and results of ${dialect} are the Agents SDK's`, async () => {
    const { store, conversation } = await imported(messages)
    const session = new UndertextSession(conversation)
    const call = (callId: string, city: string) => ({
      type: 'function_call',
      callId,
      name: 'weather',
      arguments: JSON.stringify({ city }),
      status: 'completed',
    })
    const result = (callId: string, text: string) => ({
      type: 'function_call_result',
      callId,
      name: 'weather',
      status: 'completed',
      output: { type: 'text', text },
    })
    const items = [
      call('a', 'Lyon'),
      call('b', 'Oslo'),
      result('a', '18\ndegrees'),
      result('b', 'no such town'),
      { type: 'message', role: 'user', content: 'Go on.' },
    ] as AgentInputItem[]
    assert.deepEqual((await session.getItems()).slice(3, -1), items)
    await session.popItem()
    for (const item of items.toReversed()) assert.equal((await session.popItem())?.type, item.type)
    assert.equal((await session.getItems()).length, 3)
    await store.close()
  })

  test(`calls and results of ${dialect} are those of a model, and can be saved again`, async () => {
    const { store, conversation } = await imported(messages)
    const chats = new ModelMessageStore(store)
    const loaded = z.array(modelMessageSchema).parse(await chats.load('chat')) as ModelMessage[]
    const call = (toolCallId: string, city: string) => ({
      type: 'tool-call',
      toolCallId,
      toolName: 'weather',
      input: { city },
    })
    const result = (toolCallId: string, type: string, value: string) => ({
      type: 'tool-result',
      toolCallId,
      toolName: 'weather',
      output: { type, value },
    })
    assert.deepEqual(loaded[2], {
      role: 'assistant',
      content: [{ type: 'text', text: 'I look.' }, call('a', 'Lyon'), call('b', 'Oslo')],
    })
    const answers = loaded
      .filter(({ role }) => role === 'tool')
      .flatMap(({ content }): unknown => content)
    assert.deepEqual(answers, [
      result('a', 'text', '18\ndegrees'),
      result('b', isAnthropic ? 'error-text' : 'text', 'no such town'),
    ])
    assert.deepEqual(loaded.slice(-2), [
      { role: 'user', content: 'Go on.' },
      { role: 'assistant', content: 'It is 18.' },
    ])
    await savesAgain(chats as never, conversation, loaded)
    await store.close()
  })

  test(`calls and results of ${dialect} are those of a page, and can be saved again`, async () => {
    const { store, conversation } = await imported(messages)
    const chats = new UIMessageStore(store)
    const loaded = await validateUIMessages({ messages: await chats.load('chat') })
    assert.deepEqual(
      loaded.map(({ role }) => role),
      ['system', 'user', 'assistant', 'user', 'assistant'],
    )
    const part = { type: 'dynamic-tool', toolName: 'weather' }
    const failed = isAnthropic
      ? { state: 'output-error', errorText: 'no such town' }
      : { state: 'output-available', output: 'no such town' }
    assert.deepEqual(loaded[2]!.parts, [
      { type: 'text', text: 'I look.' },
      {
        ...part,
        toolCallId: 'a',
        input: { city: 'Lyon' },
        state: 'output-available',
        output: '18\ndegrees',
      },
      { ...part, toolCallId: 'b', input: { city: 'Oslo' }, ...failed },
    ])
    assert.deepEqual(
      (await convertToModelMessages(loaded)).map(({ role }) => role),
      ['system', 'user', 'assistant', 'tool', 'user', 'assistant'],
    )
    await savesAgain(chats, conversation, loaded)
    await store.close()
  })
}

// Nothing changes for what is as it was, and any list can take its place.
async function savesAgain(
  chats: UIMessageStore,
  conversation: Conversation,
  loaded: object[],
): Promise<void> {
  const list = loaded as Awaited<ReturnType<UIMessageStore['load']>>
  const version = await conversation.version()
  const stored = (await conversation.messages({ all: true })).length
  await chats.save('chat', list)
  await conversation.catchUp()
  assert.equal(await conversation.version(), version)
  const next = { ...list[1]!, id: 'next' }
  await chats.save('chat', [...list, next])
  await conversation.catchUp()
  assert.equal((await conversation.messages({ all: true })).length, stored + 1)
  for (const state of [
    list.slice(0, 3),
    [next, ...list],
    [...list.slice(3), ...list.slice(0, 3)],
    list.slice(2, 4),
    list.toReversed(),
    list,
  ]) {
    await chats.save('chat', state)
    assert.deepEqual(await chats.load('chat'), state)
  }
}

test('after a redaction calls and results are still there, and their texts are not', async () => {
  await using store = await openStore('memory:')
  const chats = new ModelMessageStore(store)
  const result = (toolCallId: string) => ({
    type: 'tool-result' as const,
    toolCallId,
    toolName: 'f',
    output: { type: 'json' as const, value: { secret: toolCallId } },
  })
  await chats.save('chat', [
    { role: 'user', content: 'q' },
    {
      role: 'assistant',
      content: ['a', 'b'].map(toolCallId => ({
        type: 'tool-call',
        toolCallId,
        toolName: 'f',
        input: { secret: 1 },
      })),
    },
    { role: 'tool', content: [result('a'), result('b')] },
  ])
  await using conversation = await store.open('chat')
  await conversation.redact([1, 3], 'me')
  const [, asked, ...answers] = z
    .array(modelMessageSchema)
    .parse(await chats.load('chat')) as ModelMessage[]
  assert.deepEqual(asked, {
    role: 'assistant',
    content: [
      { type: 'text', text: '[redacted]' },
      ...['a', 'b'].map(toolCallId => ({
        type: 'tool-call',
        toolCallId,
        toolName: 'redacted',
        input: {},
      })),
    ],
  })
  assert.deepEqual(
    answers.flatMap(({ content }): unknown => content),
    [
      result('a'),
      {
        type: 'tool-result',
        toolCallId: 'b',
        toolName: 'redacted',
        output: { type: 'text', value: '[redacted]' },
      },
    ],
  )

  await using items = await store.open('items')
  const session = new UndertextSession(items)
  await session.addItems([
    { role: 'user', content: 'q' },
    {
      type: 'function_call',
      callId: 'k',
      name: 'f',
      arguments: '{"secret":1}',
      status: 'completed',
    },
    {
      type: 'function_call_result',
      callId: 'k',
      name: 'f',
      status: 'completed',
      output: { type: 'text', text: 'secret' },
    },
  ])
  await items.redact([1, 2], 'me')
  const [, , call, answer] = await session.getItems()
  assert.deepEqual(call, {
    type: 'function_call',
    callId: 'k',
    name: 'redacted',
    arguments: '{}',
    status: 'completed',
  })
  assert.deepEqual(answer, {
    type: 'function_call_result',
    callId: 'k',
    name: 'redacted',
    status: 'completed',
    output: { type: 'text', text: '[redacted]' },
  })
})

test('text parts are joined by a newline, and a call without a text is a call', async () => {
  await using store = await openStore('memory:')
  await using conversation = await store.open('chat')
  await conversation.append([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
    },
    {
      role: 'assistant',
      content: null,
      toolCalls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
    },
  ])
  const call = { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: { a: 1 } }
  assert.deepEqual(await new ModelMessageStore(store).load('chat'), [
    { role: 'user', content: 'one\ntwo' },
    { role: 'assistant', content: [call] },
  ])
  assert.deepEqual(
    (await new UIMessageStore(store).load('chat')).map(({ parts }) => parts),
    [
      [{ type: 'text', text: 'one\ntwo' }],
      [
        {
          type: 'dynamic-tool',
          toolName: 'f',
          toolCallId: 'c',
          input: { a: 1 },
          state: 'input-available',
        },
      ],
    ],
  )
  assert.deepEqual((await new UndertextSession(conversation).getItems())[0], {
    type: 'message',
    role: 'user',
    content: 'one\ntwo',
  })
})

test('a message without text or calls is an item, which can be asked for and popped', async () => {
  const conversation = inMemory()
  const session = new UndertextSession(conversation)
  await conversation.append([
    { role: 'user', content: 'q' },
    { role: 'assistant', content: [{ type: 'image', source: {} }] },
  ])
  const item = {
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: '' }],
  }
  assert.deepEqual(await session.getItems(1), [item])
  assert.deepEqual(await session.popItem(), item)
  assert.equal((await session.getItems()).length, 1)
})

test('a call that came by another door is rewritten too, and what stands beside it stays', async () => {
  const conversation = inMemory()
  const session = new UndertextSession(conversation)
  await conversation.append([
    { role: 'user', content: 'q' },
    {
      role: 'assistant',
      content: 'I look.',
      toolCalls: ['a', 'b'].map(id => ({
        id,
        type: 'function',
        function: { name: 'f', arguments: '{}' },
      })),
    },
  ])
  const before = await session.getItems()
  const replacement = { ...before[2]!, arguments: '{"changed":1}' } as Extract<
    AgentInputItem,
    { type: 'function_call' }
  >
  await session.applyHistoryMutations({
    mutations: [{ type: 'replace_function_call', callId: 'a', replacement }],
  })
  assert.deepEqual(await session.getItems(), before.with(2, replacement))
})
