// The engine and every adapter read the same of a message.
import { AIMessage } from '@langchain/core/messages'
import { protocol, type AgentInputItem } from '@openai/agents-core'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryConversation, openStore, readBlocks, type Block, type Message } from 'undertext'
import { ModelMessageStore, UIMessageStore } from 'undertext/ai'
import { UndertextChatMessageHistory } from 'undertext/langchain'
import { fromAgentItem, UndertextSession } from 'undertext/openai-agents'
import type { Item } from './values.js'

type Read = [id: unknown, input: unknown][]

const asking = (members: object): Message => ({ role: 'assistant', content: null, ...members })
const use = (id: string, input: object) => ({ type: 'tool_use', id, name: 'f', input })

const probes: [name: string, message: Message, calls: Read][] = [
  [
    'a part b and a listed a',
    asking({
      content: [use('b', { x: 1 })],
      toolCalls: [{ id: 'a', name: 'f', arguments: { x: 2 } }],
    }),
    [
      ['b', { x: 1 }],
      ['a', { x: 2 }],
    ],
  ],
  [
    'a part and a listed call of one id',
    asking({
      content: [use('a', { x: 1 })],
      toolCalls: [{ id: 'a', name: 'f', arguments: '{"x":1}' }],
    }),
    [['a', { x: 1 }]],
  ],
  [
    'arguments that are an empty text',
    asking({ toolCalls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] }),
    [['a', {}]],
  ],
  [
    'input and args',
    asking({
      toolCalls: [{ id: 'a', name: 'f', args: { from: 'args' }, input: { from: 'input' } }],
    }),
    [['a', { from: 'input' }]],
  ],
  [
    'an empty list beside another',
    asking({
      toolCalls: [],
      tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{"y":1}' } }],
    }),
    [['x', { y: 1 }]],
  ],
  [
    "the nested parts of the documents' messages",
    asking({ content: [{ type: 'tool_use', tool_use: { id: 'a', name: 'f', input: { x: 1 } } }] }),
    [['a', { x: 1 }]],
  ],
]

for (const [name, message, expected] of probes) {
  test(`every adapter reads the calls of a message with ${name} as the engine does`, async () => {
    await using store = await openStore('memory:')
    await using conversation = await store.open('chat')
    await conversation.append(message)
    const parsed = (given: unknown): unknown =>
      typeof given === 'string' ? JSON.parse(given) : given
    const [{ blocks } = { blocks: [] }] = await conversation.blocks()
    assert.deepEqual(
      blocks.flatMap(
        (block): Read => (block.kind === 'call' ? [[block.callId, parsed(block.arguments)]] : []),
      ),
      expected,
    )
    const [lang] = await new UndertextChatMessageHistory(conversation).getMessages()
    assert.deepEqual(
      (lang as AIMessage).tool_calls?.map(({ id, args }) => [id, args]),
      expected,
    )
    const items = await new UndertextSession(conversation).getItems()
    assert.deepEqual(
      items.map(item =>
        item.type === 'function_call' ? [item.callId, JSON.parse(item.arguments)] : item,
      ),
      expected,
    )
    const [model] = await new ModelMessageStore(store).load('chat')
    assert.deepEqual(
      (model!.content as { toolCallId: string; input: unknown }[]).map(({ toolCallId, input }) => [
        toolCallId,
        input,
      ]),
      expected,
    )
    const [page] = await new UIMessageStore(store).load('chat')
    assert.deepEqual(
      page!.parts.map(part => 'toolCallId' in part && [part.toolCallId, part.input]),
      expected,
    )
  })
}

test("the nested result of the documents' messages is a result of every adapter", async () => {
  await using store = await openStore('memory:')
  await using conversation = await store.open('chat')
  await conversation.append([
    asking({ toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }] }),
    {
      role: 'tool',
      content: [{ type: 'tool_result', tool_result: { tool_use_id: 'a', content: 'done' } }],
    },
  ])
  const [, lang] = await new UndertextChatMessageHistory(conversation).getMessages()
  assert.deepEqual([(lang as { tool_call_id?: string }).tool_call_id, lang!.content], ['a', 'done'])
  const result = {
    type: 'function_call_result',
    callId: 'a',
    name: 'f',
    status: 'completed',
    output: { type: 'text', text: 'done' },
  }
  assert.deepEqual((await new UndertextSession(conversation).getItems())[1], result)
  assert.deepEqual((await new ModelMessageStore(store).load('chat'))[1]!.content, [
    {
      type: 'tool-result',
      toolCallId: 'a',
      toolName: 'f',
      output: { type: 'text', value: 'done' },
    },
  ])
})

test('a picture in a result is one of LangChain, and what a provider ran itself stays where it was', async () => {
  const conversation = new MemoryConversation()
  const ran = [
    { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
    { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
    { type: 'text', text: 'found' },
  ]
  const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' }
  conversation.append([
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'a',
          content: [
            { type: 'text', text: 'seen' },
            { type: 'image', source },
          ],
        },
      ],
    },
    { role: 'assistant', content: ran },
  ])
  const [result, answer, ...others] = await new UndertextChatMessageHistory(
    conversation,
  ).getMessages()
  assert.deepEqual(result!.content, [
    { type: 'text', text: 'seen' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
  ])
  assert.deepEqual([answer!.content, (answer as AIMessage).tool_calls, others], [ran, [], []])
})

type Kind = Exclude<AgentInputItem['type'], undefined>

// All kinds that the SDK has; a new one does not compile until it stands here.
const kinds: Record<Kind, [item: AgentInputItem, blocks: Block[]][]> = {
  message: [
    [{ type: 'message', role: 'user', content: 'q' }, [{ kind: 'text', text: 'q' }]],
    [
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'refusal', refusal: 'no' }],
      },
      [{ kind: 'text', type: 'refusal', text: 'no' }],
    ],
  ],
  function_call: [
    [
      { type: 'function_call', callId: 'f', name: 'g', arguments: '{"x":1}', status: 'completed' },
      [{ kind: 'call', callId: 'f', name: 'g', arguments: '{"x":1}' }],
    ],
  ],
  function_call_result: [
    [
      { type: 'function_call_result', callId: 'f', name: 'g', status: 'completed', output: 'done' },
      [{ kind: 'result', callId: 'f', name: 'g', blocks: [{ kind: 'text', text: 'done' }] }],
    ],
    [
      {
        type: 'function_call_result',
        callId: 'f',
        name: 'g',
        status: 'completed',
        output: { type: 'image', image: 'https://example.org/a.png' },
      },
      [
        {
          kind: 'result',
          callId: 'f',
          name: 'g',
          blocks: [
            { kind: 'media', media: 'image', source: 'url', data: 'https://example.org/a.png' },
          ],
        },
      ],
    ],
  ],
  shell_call: [
    [
      { type: 'shell_call', callId: 's', action: { commands: ['ls'] } },
      [
        {
          kind: 'call',
          type: 'shell_call',
          callId: 's',
          name: 'shell',
          arguments: { commands: ['ls'] },
        },
      ],
    ],
  ],
  shell_call_output: [
    [
      {
        type: 'shell_call_output',
        callId: 's',
        output: [{ stdout: 'out', stderr: 'err', outcome: { type: 'exit', exitCode: 1 } }],
      },
      [
        {
          kind: 'result',
          type: 'shell_call_output',
          callId: 's',
          blocks: [
            { kind: 'text', text: 'out' },
            { kind: 'text', text: 'err' },
          ],
        },
      ],
    ],
  ],
  apply_patch_call: [
    [
      {
        type: 'apply_patch_call',
        callId: 'p',
        status: 'completed',
        operation: { type: 'delete_file', path: 'a' },
      },
      [
        {
          kind: 'call',
          type: 'apply_patch_call',
          callId: 'p',
          name: 'apply_patch',
          arguments: { type: 'delete_file', path: 'a' },
        },
      ],
    ],
  ],
  apply_patch_call_output: [
    [
      { type: 'apply_patch_call_output', callId: 'p', status: 'failed', output: 'no such file' },
      [
        {
          kind: 'result',
          type: 'apply_patch_call_output',
          callId: 'p',
          isError: true,
          blocks: [{ kind: 'text', text: 'no such file' }],
        },
      ],
    ],
  ],
  computer_call: [
    [
      { type: 'computer_call', callId: 'c', status: 'completed', action: { type: 'screenshot' } },
      [
        {
          kind: 'call',
          type: 'computer_call',
          callId: 'c',
          name: 'computer',
          arguments: { type: 'screenshot' },
        },
      ],
    ],
  ],
  computer_call_result: [
    [
      {
        type: 'computer_call_result',
        callId: 'c',
        output: { type: 'computer_screenshot', data: 'data:image/png;base64,AAAA' },
      },
      [
        {
          kind: 'result',
          callId: 'c',
          blocks: [
            { kind: 'media', media: 'image', source: 'base64', data: 'AAAA', mime: 'image/png' },
          ],
        },
      ],
    ],
  ],
  tool_search_call: [
    [
      { type: 'tool_search_call', callId: 't', execution: 'client', arguments: { query: 'x' } },
      [
        {
          kind: 'call',
          type: 'tool_search_call',
          callId: 't',
          name: 'tool_search',
          arguments: { query: 'x' },
        },
      ],
    ],
    [
      { type: 'tool_search_call', execution: 'server', arguments: { query: 'x' } },
      [
        {
          kind: 'call',
          type: 'tool_search_call',
          name: 'tool_search',
          arguments: { query: 'x' },
          byProvider: true,
        },
      ],
    ],
  ],
  tool_search_output: [
    [
      { type: 'tool_search_output', callId: 't', execution: 'client', tools: [{ name: 'g' }] },
      [
        {
          kind: 'result',
          type: 'tool_search_output',
          callId: 't',
          blocks: [{ kind: 'opaque', json: { name: 'g' } }],
        },
      ],
    ],
  ],
  hosted_tool_call: [
    [
      {
        type: 'hosted_tool_call',
        id: 'h',
        name: 'web_search_call',
        arguments: '{"q":1}',
        status: 'completed',
        output: 'found',
      },
      [
        {
          kind: 'call',
          type: 'hosted_tool_call',
          name: 'web_search_call',
          arguments: '{"q":1}',
          byProvider: true,
          blocks: [{ kind: 'text', text: 'found' }],
        },
      ],
    ],
  ],
  reasoning: [
    [
      {
        type: 'reasoning',
        id: 'r',
        content: [{ type: 'input_text', text: 'sum' }],
        rawContent: [{ type: 'reasoning_text', text: 'raw' }],
      },
      [{ kind: 'reasoning', text: 'sum\nraw' }],
    ],
    [
      { type: 'reasoning', id: 'r', content: [], providerData: { encrypted_content: 'gAAA' } },
      [{ kind: 'reasoning' }],
    ],
  ],
  compaction: [
    [
      { type: 'compaction', encrypted_content: 'gAAA' },
      [
        {
          kind: 'opaque',
          type: 'compaction',
          json: { type: 'compaction', encrypted_content: 'gAAA' },
        },
      ],
    ],
  ],
  unknown: [
    [
      { type: 'unknown', id: 'u' },
      [{ kind: 'opaque', type: 'unknown', json: { type: 'unknown', id: 'u' } }],
    ],
  ],
}

for (const [kind, cases] of Object.entries(kinds)) {
  test(`the engine sees what an item of the Agents SDK is: ${kind}`, async () => {
    const conversation = new MemoryConversation()
    const session = new UndertextSession(conversation)
    await session.addItems(cases.map(([item]) => item))
    assert.deepEqual(
      conversation.blocks().map(({ blocks }) => blocks),
      cases.map(([, blocks]) => blocks),
    )
    assert.deepEqual(
      await session.getItems(),
      cases.map(([item]) => item),
    )
    for (const [item] of cases)
      assert.ok(protocol.ModelItem.safeParse(item).success, JSON.stringify(item))
  })
}

// Calls that a client answers, and their results.
const pairs = (['function', 'shell', 'apply_patch', 'computer', 'tool_search'] as const).map(
  tool => {
    const answers = {
      function: 'function_call_result',
      shell: 'shell_call_output',
      apply_patch: 'apply_patch_call_output',
      computer: 'computer_call_result',
      tool_search: 'tool_search_output',
    } as const
    return [tool, kinds[`${tool}_call`][0]![0], kinds[answers[tool]][0]![0]] as const
  },
)

for (const [tool, call, result] of pairs) {
  test(`a call of ${tool} and its result are a pair, and no strategy takes one alone`, async () => {
    const question: AgentInputItem = { role: 'user', content: 'q' }
    const conversation = new MemoryConversation()
    const session = new UndertextSession(conversation)
    await session.addItems([question, call, result, question])
    const toolCallId = (call as { callId: string }).callId
    assert.deepEqual(conversation.delete({ indices: [2] }).warnings, [
      { code: 'tool_call_without_result', ordinal: 1, toolCallId },
    ])
    conversation.undo()
    assert.deepEqual(conversation.delete({ indices: [1] }).warnings, [
      { code: 'tool_result_without_call', ordinal: 2, toolCallId },
    ])
    conversation.undo()
    conversation.delete({ indices: [2], pairs: 'shrink' })
    assert.deepEqual(await session.getItems(), [question, question])
    conversation.undo()
    for (const n of [1, 2, 3]) {
      conversation.compress({ strategy: { name: 'keep_recent', n } })
      const left = conversation
        .blocks()
        .flatMap(({ blocks }) => blocks.flatMap(block => ('callId' in block ? [block.kind] : [])))
      assert.ok(left.length === 0 || left.join() === 'call,result', left.join())
      conversation.undo()
    }
  })
}

test('items that were stored as functions of a model, before they were parts, come back as they were', async () => {
  const item = (kind: Kind): Item => kinds[kind][0]![0] as unknown as Item
  const stored = (enclosed: object) => ({ foreign: { kind: 'openai-agents', ...enclosed } })
  const asked = (kind: Kind, given: unknown): Message =>
    asking({
      toolCalls: [
        {
          id: item(kind)['callId'],
          type: 'function',
          function: { name: kind, arguments: JSON.stringify(given) },
        },
      ],
      ...stored({ item: item(kind) }),
    })
  const answered = (kind: Kind, content: unknown, enclosed: object): Message => ({
    role: 'tool',
    toolCallId: item(kind)['callId'] as string,
    content: content as string,
    ...stored(enclosed),
  })
  const moved = (kind: Kind): Message =>
    answered(kind, item(kind)['output'], {
      item: { ...item(kind), output: null },
      home: ['output'],
    })
  const messages: [Kind, Message][] = [
    ['shell_call', asked('shell_call', item('shell_call')['action'])],
    ['shell_call_output', moved('shell_call_output')],
    ['apply_patch_call', asked('apply_patch_call', item('apply_patch_call')['operation'])],
    ['apply_patch_call_output', moved('apply_patch_call_output')],
    ['computer_call', asked('computer_call', item('computer_call')['action'])],
    [
      'computer_call_result',
      answered('computer_call_result', JSON.stringify(item('computer_call_result')['output']), {
        item: item('computer_call_result'),
      }),
    ],
  ]
  const conversation = new MemoryConversation()
  conversation.append(messages.map(([, message]) => message))
  assert.deepEqual(
    await new UndertextSession(conversation).getItems(),
    messages.map(([kind]) => item(kind)),
  )
})

test('an item is read alike whether it is in a conversation or not', () => {
  for (const [item, blocks] of Object.values(kinds).flat())
    assert.deepEqual(readBlocks(fromAgentItem(item)), blocks)
})
