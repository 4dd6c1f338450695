// What the engine changes in a conversation, the framework is told.
import type { AgentInputItem } from '@openai/agents-core'
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages'
import { modelMessageSchema, type ModelMessage, type UIMessage } from 'ai'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inMemory, openStore, type Conversation } from 'undertext'
import { ModelMessageStore, UIMessageStore } from 'undertext/ai'
import { UndertextChatMessageHistory } from 'undertext/langchain'
import { UndertextSession } from 'undertext/openai-agents'
import { z } from 'zod'

type Output =
  | { type: 'text'; value: string }
  | { type: 'json'; value: { rows: string[] } }
  | { type: 'content'; value: { type: 'text'; text: string }[] }

const long = 'secret '.repeat(300)
const outputs: Output[] = [
  { type: 'text', value: long },
  { type: 'json', value: { rows: [long] } },
  { type: 'content', value: [{ type: 'text', text: long }] },
]

const toolCall = (toolCallId: string) => ({
  type: 'tool-call' as const,
  toolCallId,
  toolName: 'db',
  input: { id: toolCallId },
})
const toolResult = (toolCallId: string, output: Output) => ({
  type: 'tool-result' as const,
  toolCallId,
  toolName: 'db',
  output,
})

const turn = (ids: string[], output: Output): ModelMessage[] => [
  { role: 'user', content: 'And now?' },
  { role: 'assistant', content: ids.map(toolCall) },
  { role: 'tool', content: ids.map(id => toolResult(id, output)) },
  { role: 'assistant', content: 'Done.' },
]

const edits: [
  name: string,
  edit: (conversation: Conversation) => Promise<unknown>,
  reads: RegExp,
][] = [
  [
    'clear_tool_results',
    conversation => conversation.compress({ strategy: { name: 'clear_tool_results', keep: 0 } }),
    /cleared|removed|result/i,
  ],
  [
    'truncateText',
    conversation => conversation.transform({ roles: ['tool'], truncateText: { maxChars: 20 } }),
    /^.{20}$/s,
  ],
  [
    'replaceText',
    conversation =>
      conversation.transform({ roles: ['tool'], replaceText: { find: 'secret', with: '***' } }),
    /\*\*\* \*\*\*/,
  ],
]

for (const [name, edit, reads] of edits) {
  test(`${name} is seen in the results of a model's tools, of every kind and several in a message`, async () => {
    await using store = await openStore('memory:')
    const chats = new ModelMessageStore(store)
    for (const output of outputs) {
      for (const ids of [['a'], ['a', 'b']]) {
        const id = `${output.type}-${ids.length}`
        const given = [...turn(ids, output), { role: 'user' as const, content: 'Thanks.' }]
        await chats.save(id, given)
        await using conversation = await store.open(id)
        await edit(conversation)
        const loaded = z.array(modelMessageSchema).parse(await chats.load(id))
        assert.deepEqual(
          loaded.map(({ role }) => role),
          given.map(({ role }) => role),
        )
        const results = loaded[2]!.content as ReturnType<typeof toolResult>[]
        assert.deepEqual(
          results.map(({ toolCallId, toolName }) => [toolCallId, toolName]),
          ids.map(each => [each, 'db']),
        )
        for (const result of results) {
          assert.equal(result.output.type, 'text')
          assert.match(result.output.value as string, reads)
          assert.ok(!(result.output.value as string).includes('secret secret secret secret'))
        }
        assert.deepEqual(
          (await chats.save(id, loaded)).version,
          await conversation.version(),
          'what was loaded is what is there',
        )
        await conversation.undo()
        assert.deepEqual(await chats.load(id), given)
      }
    }
  })
}

test('the results of a message are paired with their calls one by one, and strategies keep them whole', async () => {
  await using store = await openStore('memory:')
  const chats = new ModelMessageStore(store)
  const given = [
    ...turn(['a'], outputs[0]!),
    ...turn(['b', 'c'], outputs[1]!),
    { role: 'user' as const, content: 'Thanks.' },
  ]
  await chats.save('chat', given)
  await using conversation = await store.open('chat')
  assert.deepEqual(
    (await conversation.messages({ role: 'tool' })).map(({ toolCallId }) => toolCallId),
    ['a', 'b', 'c'],
  )
  for (const dialect of ['openai_chat', 'anthropic', 'openai_responses'] as const)
    assert.deepEqual((await conversation.validate({ dialect })).findings, [])
  for (let n = 1; n <= given.length; ++n) {
    await conversation.compress({ strategy: { name: 'keep_recent', n } })
    const left = await chats.load('chat')
    assert.deepEqual(left, given.slice(-left.length))
    assert.notEqual(left[0]!.role, 'tool')
    if (left.length < given.length) await conversation.undo()
  }
  // One of them can be taken away; the other stands for itself, and can be saved again.
  await conversation.delete({ ordinals: [6] })
  const left = await chats.load('chat')
  assert.deepEqual(
    (left[6]!.content as ReturnType<typeof toolResult>[]).map(({ toolCallId }) => toolCallId),
    ['c'],
  )
  await chats.save('chat', given)
  assert.deepEqual(await chats.load('chat'), given)
})

test('a message of several results is replaced, moved and deleted as one', async () => {
  await using store = await openStore('memory:')
  const chats = new ModelMessageStore(store)
  const [asked, called, answered, done] = turn(['a', 'b', 'c'], outputs[1]!) as [
    ModelMessage,
    ModelMessage,
    ModelMessage,
    ModelMessage,
  ]
  const withApproval = {
    role: 'tool',
    providerOptions: { p: { x: 1 } },
    content: [
      { type: 'tool-approval-response', approvalId: 'y', approved: true },
      ...(answered.content as object[]),
    ],
  } as unknown as ModelMessage
  const states = [
    [asked, called, answered, done],
    [asked, called, withApproval, done],
    [answered, asked, called, done],
    [asked, done],
    [done, answered, answered, asked],
    [withApproval, asked],
    [asked, withApproval],
  ]
  for (const state of states) {
    await chats.save('chat', state)
    assert.equal(JSON.stringify(await chats.load('chat')), JSON.stringify(state))
  }
})

test('a picture that became text is the result of a function, and so is its call', async () => {
  const conversation = inMemory()
  const session = new UndertextSession(conversation)
  const shot = (callId: string): AgentInputItem[] => [
    { type: 'computer_call', callId, status: 'completed', action: { type: 'screenshot' } },
    {
      type: 'computer_call_result',
      callId,
      output: { type: 'computer_screenshot', data: 'A'.repeat(3000) },
    },
  ]
  const items: AgentInputItem[] = [
    { role: 'user', content: 'Look.' },
    ...shot('a'),
    ...shot('b'),
    { role: 'user', content: 'Well?' },
  ]
  await session.addItems(items)
  await conversation.compress({ strategy: { name: 'clear_tool_results', keep: 1 } })
  const [first, call, result, ...others] = await session.getItems()
  assert.deepEqual([first, ...others], [items[0], ...items.slice(3)])
  assert.deepEqual(call, {
    type: 'function_call',
    callId: 'a',
    name: 'computer',
    arguments: '{"type":"screenshot"}',
    status: 'completed',
  })
  assert.ok(
    result?.type === 'function_call_result' && result.callId === 'a' && result.name === 'computer',
  )
  assert.ok(JSON.stringify(result).length < 300)
})

test('an output that was cleared is still that of a shell or of a function', async () => {
  const conversation = inMemory()
  const session = new UndertextSession(conversation)
  const items: AgentInputItem[] = [
    { role: 'user', content: 'Run it.' },
    { type: 'shell_call', callId: 's', action: { commands: ['ls'] } },
    {
      type: 'shell_call_output',
      callId: 's',
      output: [{ stdout: long, stderr: '', outcome: { type: 'exit', exitCode: 0 } }],
    },
    {
      type: 'function_call',
      id: 'fc',
      callId: 'f',
      name: 'g',
      arguments: '{}',
      status: 'completed',
    },
    {
      type: 'function_call_result',
      callId: 'f',
      name: 'g',
      status: 'completed',
      output: [{ type: 'input_text', text: long }],
      providerData: { x: 1 },
    },
    {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Done.' }],
    },
  ]
  await session.addItems(items)
  await conversation.compress({ strategy: { name: 'clear_tool_results', keep: 0 } })
  const left = await session.getItems()
  assert.deepEqual(
    left.map(item => item.type ?? 'message'),
    [
      'message',
      'shell_call',
      'shell_call_output',
      'function_call',
      'function_call_result',
      'message',
    ],
  )
  assert.deepEqual([left[1], left[3]], [items[1], items[3]])
  assert.ok(!JSON.stringify(left).includes('secret secret'))
})

const summary = (messages: BaseMessage[]): unknown[] =>
  messages.map(message => [
    message.getType(),
    message.content,
    message instanceof AIMessage ? message.tool_calls?.map(({ id }) => id) : undefined,
  ])

test('merged messages of LangChain have the calls of both, pieces of one have them where the engine has', async () => {
  const conversation = inMemory()
  const history = new UndertextChatMessageHistory(conversation)
  const calling = (content: string, id: string): AIMessage =>
    new AIMessage({ content, id: `m-${id}`, tool_calls: [{ name: 'f', args: { id }, id }] })
  await history.addMessages([
    new HumanMessage('q'),
    calling('one two', 'a'),
    calling('', 'b'),
    new ToolMessage({ content: 'ra', tool_call_id: 'a' }),
    new ToolMessage({ content: 'rb', tool_call_id: 'b' }),
  ])
  await conversation.merge([1, 2])
  assert.deepEqual(summary(await history.getMessages()).slice(0, 2), [
    ['human', 'q', undefined],
    ['ai', 'one two', ['a', 'b']],
  ])
  await conversation.undo()
  await conversation.split(1, [3])
  const pieces = (await history.getMessages()).slice(1, 3)
  assert.deepEqual(summary(pieces), [
    ['ai', 'one', []],
    ['ai', ' two', ['a']],
  ])
  assert.deepEqual(
    pieces.map(({ id }) => id),
    ['m-a', undefined],
  )
})

test('merged items of the Agents SDK are all there, and so are the pieces of one', async () => {
  const conversation = inMemory()
  const session = new UndertextSession(conversation)
  const call = (callId: string): AgentInputItem => ({
    type: 'function_call',
    callId,
    name: 'f',
    arguments: '{}',
    status: 'completed',
  })
  const said: AgentInputItem = {
    type: 'message',
    id: 'm',
    role: 'assistant',
    status: 'completed',
    content: [
      { type: 'output_text', text: 'a' },
      { type: 'refusal', refusal: 'b' },
    ],
  }
  const hosted = (name: string): AgentInputItem => ({
    type: 'hosted_tool_call',
    name,
    status: 'completed',
  })
  await session.addItems([
    { role: 'user', content: 'q' },
    call('a'),
    call('b'),
    said,
    hosted('x'),
    hosted('y'),
  ])
  await conversation.merge([1, 2])
  assert.deepEqual((await session.getItems()).slice(1, 3), [call('a'), call('b')])
  await conversation.merge([1, 2])
  const { id: _, ...merged } = said as { id?: string }
  assert.deepEqual((await session.getItems()).slice(1, 4), [merged, call('a'), call('b')])
  await conversation.undo()
  await conversation.merge([3, 4])
  assert.deepEqual((await session.getItems()).slice(4), [hosted('x'), hosted('y')])
  await conversation.split(2, [1])
  const pieces = (await session.getItems()).slice(3, 5) as {
    id?: string
    content: { type: string }[]
  }[]
  assert.deepEqual(
    pieces.map(({ id, content }) => [id, content.map(({ type }) => type)]),
    [
      ['m', ['output_text']],
      [undefined, ['refusal']],
    ],
  )
})

test('merged messages of the AI SDK have the parts and calls of both, pieces of one have calls where the engine has', async () => {
  await using store = await openStore('memory:')
  const [models, pages] = [new ModelMessageStore(store), new UIMessageStore(store)]
  const text = { type: 'text' as const, text: 'hm' }
  await models.save('model', [
    { role: 'user', content: 'q' },
    { role: 'assistant', content: 'one' },
    { role: 'assistant', content: [toolCall('a'), text, toolCall('b')] },
  ])
  await using model = await store.open('model')
  await model.split(2, [2])
  const pieces = (await models.load('model')).slice(2)
  assert.deepEqual(pieces[0], { role: 'assistant', content: [toolCall('a'), text] })
  const has = (await model.blocks())
    .slice(2)
    .map(({ blocks }) => blocks.flatMap(block => (block.kind === 'call' ? [block.callId] : [])))
  assert.deepEqual(
    pieces.map(({ content }) =>
      (content as { toolCallId?: string }[]).flatMap(({ toolCallId }) => toolCallId ?? []),
    ),
    has,
  )
  await model.undo()
  await model.merge([1, 2])
  assert.deepEqual((await models.load('model'))[1], {
    role: 'assistant',
    content: [{ type: 'text', text: 'one' }, toolCall('a'), text, toolCall('b')],
  })

  const file = { type: 'file' as const, mediaType: 'image/png', url: 'data:image/png;base64,AAAA' }
  await pages.save('page', [{ id: 'u', role: 'user', parts: [text, file] }])
  await using page = await store.open('page')
  await page.split(0, [1])
  assert.deepEqual(await pages.load('page'), [
    { id: 'u', role: 'user', parts: [text] },
    { id: 'message-2', role: 'user', parts: [file] },
  ] satisfies UIMessage[])
})
