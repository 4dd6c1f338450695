import { load } from '@langchain/core/load'
import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from '@langchain/core/messages'
import { ChatPromptTemplate, MessagesPlaceholder } from '@langchain/core/prompts'
import { RunnableWithMessageHistory } from '@langchain/core/runnables'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inMemory, MemoryConversation, openStore } from 'undertext'
import { UndertextChatMessageHistory } from 'undertext/langchain'
import { anyObject, runs, some, text, type Item } from './values.js'

const call = {
  name: 'weather',
  args: { city: 'Lyon', camelCase: 1, snake_case: 2 },
  id: 'call-1',
  type: 'tool_call' as const,
}
const hidden = {
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'messages', 'HumanMessage'],
  kwargs: { content: 'not a message' },
}

const examples: BaseMessage[] = [
  new SystemMessage('Be brief.'),
  new HumanMessage({
    content: 'Weather?',
    id: 'h1',
    name: 'ann',
    additional_kwargs: { nested: { hidden } },
  }),
  new AIMessage({
    content: '',
    id: 'a1',
    tool_calls: [call],
    invalid_tool_calls: [
      {
        name: 'weather',
        args: '{"city',
        id: 'call-2',
        error: 'no JSON',
        type: 'invalid_tool_call',
      },
    ],
    usage_metadata: {
      input_tokens: 5,
      output_tokens: 7,
      total_tokens: 12,
      input_token_details: { cache_read: 1 },
    },
    response_metadata: { model_name: 'fake', finish_reason: 'tool_calls' },
  }),
  new ToolMessage({
    content: '18 degrees',
    tool_call_id: 'call-1',
    name: 'weather',
    artifact: { rows: [1, 2] },
    status: 'success',
  }),
  new AIMessage({
    content: [
      { type: 'text', text: 'It is 18.' },
      { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
    ],
  }),
  new AIMessage({
    content: [{ type: 'tool_use', id: 'call-3', name: 'weather', input: {} }],
    tool_calls: [{ ...call, id: 'call-3' }],
  }),
  new AIMessage({ content: [{ type: 'tool_use', id: 'call-4', name: 'weather', input: {} }] }),
  new ChatMessage({ content: 'As a critic: fine.', role: 'critic' }),
  new FunctionMessage({ content: '{}', name: 'old_function' }),
  new AIMessageChunk({
    content: 'chunk',
    tool_call_chunks: [{ name: 'f', args: '{}', id: 'c', index: 0, type: 'tool_call_chunk' }],
  }),
  new HumanMessage(''),
]

function same(actual: BaseMessage[], expected: BaseMessage[]): void {
  assert.deepEqual(
    actual.map(message => message.constructor),
    expected.map(message => message.constructor),
  )
  assert.equal(JSON.stringify(actual), JSON.stringify(expected))
}

test('messages of every class come back as they were, from memory and from a store', async () => {
  await using store = await openStore('memory:')
  for (const conversation of [new MemoryConversation(), inMemory(), await store.open('chat')]) {
    const history = new UndertextChatMessageHistory(conversation)
    await history.addMessages(examples.slice(0, 4))
    for (const message of examples.slice(4)) await history.addMessage(message)
    await history.addMessages([])
    same(await history.getMessages(), examples)
  }
})

test('what the engine sees of a message are its role, its text, its calls and the call it answers', async () => {
  const conversation = new MemoryConversation()
  await new UndertextChatMessageHistory(conversation).addMessages(examples.slice(0, 4))
  assert.deepEqual(
    conversation.messages().map(({ role }) => role),
    ['system', 'user', 'assistant', 'tool'],
  )
  assert.equal(conversation.count({ contains: '18 degrees' }).count, 1)
  const { findings } = conversation.validate({ dialect: 'openai_chat' })
  assert.deepEqual(findings, [])
  const [, , assistant, tool] = conversation.render({ dialect: 'openai_chat' }).request[
    'messages'
  ] as Item[]
  assert.deepEqual(assistant!['tool_calls'], [
    {
      id: 'call-1',
      type: 'function',
      function: { name: 'weather', arguments: JSON.stringify(call.args) },
    },
  ])
  assert.equal(tool!['tool_call_id'], 'call-1')
})

test('a text is stored once', async () => {
  const conversation = new MemoryConversation()
  await new UndertextChatMessageHistory(conversation).addMessages([
    new HumanMessage('only-once'),
    new AIMessage({ content: [{ type: 'text', text: 'only-once' }] }),
  ])
  for (const message of conversation.messages())
    assert.equal(JSON.stringify(message).split('only-once').length, 2)
})

test('clear() hides everything, and an UNDO brings it back', async () => {
  const conversation = inMemory()
  const history = new UndertextChatMessageHistory(conversation)
  await history.addMessages(examples)
  await history.clear()
  assert.deepEqual(await history.getMessages(), [])
  await conversation.undo()
  same(await history.getMessages(), examples)
})

test('a summary, and messages that came by another door, are read as messages of LangChain', async () => {
  const conversation = inMemory()
  const history = new UndertextChatMessageHistory(conversation)
  await history.addMessages([
    new HumanMessage('one'),
    new AIMessage('two'),
    new HumanMessage('three'),
  ])
  await conversation.compress({
    indices: [0, 1],
    summary: { role: 'system', content: 'one and two' },
  })
  await conversation.append([
    {
      role: 'assistant',
      content: null,
      toolCalls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
    },
    { role: 'tool', content: 'done', toolCallId: 'c' },
  ])
  const [summary, three, asked, answered] = await history.getMessages()
  assert.ok(
    summary instanceof SystemMessage &&
      three instanceof HumanMessage &&
      asked instanceof AIMessage &&
      answered instanceof ToolMessage,
  )
  assert.equal(summary.content, 'one and two')
  assert.deepEqual(
    asked.tool_calls?.map(({ name, args, id }) => ({ name, args, id })),
    [{ name: 'f', args: { a: 1 }, id: 'c' }],
  )
  assert.equal(answered.tool_call_id, 'c')
})

test('calls whose arguments are no JSON, and fields that only look like ours, are read', async () => {
  const conversation = inMemory()
  const item = {
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', 'AIMessage'],
    kwargs: { content: 'inside' },
  }
  await conversation.append([
    {
      role: 'assistant',
      content: null,
      toolCalls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a' } }],
    },
    ...[undefined, 5, [], ['kwargs'], ['kwargs', 'content', 'x'], ['__proto__', 'x']].map(home => ({
      role: 'user' as const,
      content: 'outside',
      foreign: { kind: 'langchain', item: home === undefined ? 5 : item, home },
    })),
    { role: 'user', content: 'outside', foreign: 'langchain' },
  ])
  const [called, ...others] = await new UndertextChatMessageHistory(conversation).getMessages()
  assert.deepEqual(
    (called as AIMessage).invalid_tool_calls?.map(({ id, args }) => [id, args]),
    [['c', '{"a']],
  )
  for (const other of others)
    assert.deepEqual([other.getType(), other.content], ['human', 'outside'])
})

test('a change of the text by the engine is a change of the message', async () => {
  const conversation = inMemory()
  const history = new UndertextChatMessageHistory(conversation)
  await history.addMessages([new HumanMessage({ content: 'my number is 12345', id: 'h' })])
  await conversation.transform({ indices: [0], replaceText: { find: '12345', with: '#' } })
  const [message] = await history.getMessages()
  assert.equal(message!.content, 'my number is #')
  assert.equal(message!.id, 'h')
})

test('what cannot be read again is refused, and nothing of the list is stored', async () => {
  class Mine extends HumanMessage {
    static override lc_name(): string {
      return 'Mine'
    }
  }
  const conversation = inMemory()
  const history = new UndertextChatMessageHistory(conversation)
  for (const refused of [new RemoveMessage({ id: 'h1' }), new Mine('x')]) {
    await assert.rejects(history.addMessages([new HumanMessage('a'), refused]), {
      name: 'UndertextError',
      code: 'unsupported',
    })
  }
  await assert.rejects(
    history.addMessages([new HumanMessage('a'), new HumanMessage('half \ud83d')]),
    { name: 'UndertextError', code: 'invalid_argument' },
  )
  assert.equal((await conversation.stats()).totalMessages, 0)
})

test('what LangChain would write but not read again is refused, and the history stays readable', async () => {
  const cyclic: Item = {}
  cyclic['self'] = cyclic
  const getter = {
    get a(): string {
      throw new Error('from a getter')
    },
  }
  const refused = [
    cyclic,
    getter,
    { a: NaN },
    { a: new Date(0) },
    { a: new Map([[1, 2]]) },
    { a: new Uint8Array(2) },
    { a: () => 1 },
    { a: 10n },
    { a: [undefined] },
    { a: new HumanMessage('nested') },
    JSON.parse('{"a":{"__proto__":{"b":1}}}') as Item,
  ]
  const conversation = inMemory()
  const history = new UndertextChatMessageHistory(conversation)
  await history.addMessage(new HumanMessage('before'))
  for (const [i, value] of refused.entries()) {
    for (const field of ['additional_kwargs', 'response_metadata']) {
      await assert.rejects(
        history.addMessages([
          new HumanMessage('a'),
          new HumanMessage({ content: 'b', [field]: value }),
        ]),
        { name: 'UndertextError', code: 'invalid_argument' },
        `${i} as ${field}`,
      )
    }
    await assert.rejects(
      history.addMessage(new ToolMessage({ content: 'c', tool_call_id: '1', artifact: value })),
      { name: 'UndertextError', code: 'invalid_argument' },
      `${i} as artifact`,
    )
  }
  for (const value of [null, undefined, 5, {}])
    await assert.rejects(history.addMessage(value as never), { name: 'UndertextError' })
  const kept = new HumanMessage({
    content: 'after',
    additional_kwargs: { text: '"__proto__":', missing: undefined },
  })
  await history.addMessage(kept)
  same(await history.getMessages(), [new HumanMessage('before'), kept])
})

test('whatever is stored inside a message is data', async () => {
  const prompt = {
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'prompts', 'prompt', 'PromptTemplate'],
    kwargs: { template: '{x}', inputVariables: ['x'] },
  }
  const secret = { lc: 1, type: 'secret', id: ['NO_SUCH_SECRET'] }
  const inside = { prompt, secret, hidden, unknown: { lc: 1, type: 'not_implemented', id: ['x'] } }
  const stored = (kwargs: Item) => ({
    role: 'user' as const,
    content: 'text',
    foreign: {
      kind: 'langchain',
      home: ['kwargs', 'content'],
      item: {
        lc: 1,
        type: 'constructor',
        id: ['langchain_core', 'messages', 'HumanMessage'],
        kwargs: { content: null, ...kwargs },
      },
    },
  })
  const conversation = inMemory()
  const history = new UndertextChatMessageHistory(conversation)
  await conversation.append([stored({ additional_kwargs: inside }), stored({ ...prompt })])
  await history.addMessage(new ToolMessage({ content: 'c', tool_call_id: '1', artifact: inside }))
  const [named, dressed, given] = await history.getMessages()
  assert.deepEqual(named!.additional_kwargs, inside)
  assert.ok(dressed instanceof HumanMessage && dressed.content === 'text')
  assert.deepEqual((given as ToolMessage).artifact, inside)
})

test('a stored message that its class does not take is read by its role and text', async () => {
  const conversation = inMemory()
  const item = {
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', 'AIMessageChunk'],
    kwargs: { content: null, tool_call_chunks: 7 },
  }
  await conversation.append([
    { role: 'user', content: 'before' },
    {
      role: 'assistant',
      content: 'text',
      foreign: { kind: 'langchain', home: ['kwargs', 'content'], item },
    },
  ])
  const messages = await new UndertextChatMessageHistory(conversation).getMessages()
  assert.deepEqual(
    messages.map(message => [message.getType(), message.content]),
    [
      ['human', 'before'],
      ['ai', 'text'],
    ],
  )
})

test('another class that a stored message names is not made', async () => {
  const conversation = inMemory()
  const item = {
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'prompts', 'chat', 'ChatPromptTemplate'],
    kwargs: { content: null },
  }
  await conversation.append({
    role: 'user',
    content: 'just text',
    foreign: { kind: 'langchain', item, home: ['kwargs', 'content'] },
  })
  const [message] = await new UndertextChatMessageHistory(conversation).getMessages()
  assert.ok(message instanceof HumanMessage)
  assert.equal(message.content, 'just text')
})

test('RunnableWithMessageHistory remembers over turns and after a restart', async () => {
  await using store = await openStore('memory:')
  const prompt = ChatPromptTemplate.fromMessages([
    new MessagesPlaceholder('history'),
    ['human', '{input}'],
  ])
  const ask = async (input: string, answer: string): Promise<BaseMessage> => {
    const seen = new FakeListChatModel({ responses: [answer] })
    const runnable = new RunnableWithMessageHistory({
      runnable: prompt.pipe(seen),
      getMessageHistory: async (id: string) =>
        new UndertextChatMessageHistory(await store.open(id)),
      inputMessagesKey: 'input',
      historyMessagesKey: 'history',
    })
    return (await runnable.invoke(
      { input },
      { configurable: { sessionId: 'session-1' } },
    )) as BaseMessage
  }
  assert.equal((await ask('I am Ann.', 'Hello Ann.')).content, 'Hello Ann.')
  await ask('Who am I?', 'You are Ann.')
  await using conversation = await store.open('session-1')
  assert.deepEqual(
    (await new UndertextChatMessageHistory(conversation).getMessages()).map(
      ({ content }) => content,
    ),
    ['I am Ann.', 'Hello Ann.', 'Who am I?', 'You are Ann.'],
  )
})

// LangChain loses a member of this name, so it is refused.
const readable = anyObject.map(
  made => JSON.parse(JSON.stringify(made).replaceAll('"__proto__":', '"proto":')) as Item,
)

test('random messages come back as LangChain itself would write and read them', async () => {
  const kwargs = fc
    .tuple(
      fc.oneof(
        text,
        fc.array(fc.oneof(fc.record({ type: fc.constant('text'), text }), readable), {
          maxLength: 3,
        }),
      ),
      some({ id: text, name: text, additional_kwargs: readable, response_metadata: readable }),
    )
    .map(([content, rest]) => ({ ...rest, content }) as { content: string })
  const message = fc.oneof(
    kwargs.map(given => new HumanMessage(given)),
    kwargs.map(given => new SystemMessage(given)),
    fc
      .tuple(
        kwargs,
        fc.array(fc.record({ name: text, args: readable, id: text }), { maxLength: 2 }),
      )
      .map(([given, tool_calls]) => new AIMessage({ ...given, tool_calls })),
    fc
      .tuple(kwargs, text, readable)
      .map(
        ([given, tool_call_id, artifact]) => new ToolMessage({ ...given, tool_call_id, artifact }),
      ),
    fc.tuple(kwargs, text).map(([given, role]) => new ChatMessage({ ...given, role })),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 5 }), async messages => {
      const history = new UndertextChatMessageHistory(new MemoryConversation())
      await history.addMessages(messages)
      const expected = await Promise.all(
        messages.map(each => load<BaseMessage>(JSON.stringify(each), { maxDepth: 1000 })),
      )
      same(await history.getMessages(), expected)
    }),
    runs,
  )
})
