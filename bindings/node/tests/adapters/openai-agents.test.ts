import {
  Agent,
  MemorySession,
  Runner,
  setTracingDisabled,
  tool,
  Usage,
  type AgentInputItem,
  type Model,
  type ModelRequest,
  type ModelResponse,
  type SessionHistoryMutation,
} from '@openai/agents-core'
import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inMemory, MemoryConversation, openStore } from 'undertext'
import { UndertextSession } from 'undertext/openai-agents'
import { z } from 'zod'
import { anyObject, anyValue, runs, some, text, type Item } from './values.js'

setTracingDisabled(true)

const items = [
  { role: 'user', content: 'Weather in Lyon?' },
  {
    type: 'message',
    role: 'user',
    content: [
      { type: 'input_text', text: 'And here?' },
      { type: 'input_image', image: 'https://example.org/a.png' },
    ],
  },
  {
    type: 'reasoning',
    id: 'rs_1',
    content: [],
    rawContent: [{ type: 'reasoning_text', text: 'They want the weather.' }],
    providerData: { encrypted_content: 'gAAAA' },
  },
  {
    type: 'function_call',
    id: 'fc_1',
    callId: 'call-1',
    name: 'weather',
    status: 'completed',
    arguments: '{"city":"Lyon"}',
  },
  {
    type: 'function_call_result',
    callId: 'call-1',
    name: 'weather',
    status: 'completed',
    output: { type: 'text', text: '18 degrees' },
  },
  {
    type: 'function_call_result',
    callId: 'call-2',
    name: 'weather',
    status: 'completed',
    output: '',
  },
  {
    type: 'hosted_tool_call',
    id: 'ws_1',
    name: 'web_search_call',
    status: 'completed',
    output: 'found',
    providerData: { query: 'Lyon' },
  },
  {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'It is 18.' }],
  },
  { type: 'message', role: 'assistant', status: 'completed', content: [] },
  { type: 'unknown', providerData: { ['__proto__']: { polluted: true }, content: null } },
] as unknown as AgentInputItem[]

test('items come back byte for byte, all of them or the last ones', async () => {
  await using store = await openStore('memory:')
  for (const conversation of [
    new MemoryConversation(),
    inMemory(),
    await store.open('session-1'),
  ]) {
    const session = new UndertextSession(conversation)
    await session.addItems(items.slice(0, 3))
    await session.addItems(items.slice(3))
    await session.addItems([])
    assert.equal(JSON.stringify(await session.getItems()), JSON.stringify(items))
    assert.equal(JSON.stringify(await session.getItems(3)), JSON.stringify(items.slice(-3)))
    assert.equal(JSON.stringify(await session.getItems(1000)), JSON.stringify(items))
    assert.deepEqual(await session.getItems(0), [])
  }
})

test('a session has the name of its conversation, or the one it is given', async () => {
  await using store = await openStore('memory:')
  assert.equal(
    await new UndertextSession(await store.open('support-17')).getSessionId(),
    'support-17',
  )
  assert.equal(await new UndertextSession(inMemory(), 'mine').getSessionId(), 'mine')
  const nameless = new UndertextSession(inMemory())
  assert.equal(await nameless.getSessionId(), await nameless.getSessionId())
})

test('what the engine sees are roles, texts, and calls with their answers', async () => {
  const conversation = new MemoryConversation()
  await new UndertextSession(conversation).addItems(items.filter((_, i) => i !== 5))
  assert.deepEqual(
    conversation.messages().map(({ role }) => role),
    [
      'user',
      'user',
      'assistant',
      'assistant',
      'tool',
      'assistant',
      'assistant',
      'assistant',
      'assistant',
    ],
  )
  assert.equal(conversation.count({ role: 'tool', contains: '18 degrees' }).count, 1)
  const tokens = conversation.tokens({ perMessage: true }).messages!.map(each => each.tokens)
  assert.ok(tokens[2]! > 4, 'reasoning is counted')
  assert.deepEqual(conversation.delete({ indices: [4] }).warnings, [
    { code: 'tool_call_without_result', ordinal: 3, toolCallId: 'call-1' },
  ])
})

test('popItem takes the last item, and the conversation still has it', async () => {
  const conversation = inMemory()
  const session = new UndertextSession(conversation)
  assert.equal(await session.popItem(), undefined)
  await session.addItems(items)
  assert.equal(JSON.stringify(await session.popItem()), JSON.stringify(items.at(-1)))
  assert.equal(JSON.stringify(await session.getItems()), JSON.stringify(items.slice(0, -1)))
  assert.equal((await conversation.messages({ all: true })).length, items.length)
})

test('no item is popped twice by two who pop at once', async () => {
  await using store = await openStore('memory:')
  const numbered = Array.from({ length: 12 }, (_, i) => ({
    role: 'user',
    content: `item ${i}`,
  })) as AgentInputItem[]
  const sessions = [
    new UndertextSession(await store.open('s')),
    new UndertextSession(await store.open('s')),
  ]
  await sessions[0]!.addItems(numbered)
  const popped = await Promise.all(numbered.map((_, i) => sessions[i % 2]!.popItem()))
  assert.deepEqual(
    popped.map(item => JSON.stringify(item)).sort(),
    numbered.map(item => JSON.stringify(item)).sort(),
  )
  assert.deepEqual(await sessions[1]!.getItems(), [])
})

test('a call is rewritten as the session in memory of the SDK does it, and the first one is not lost', async () => {
  const call = (id: string, given: string): AgentInputItem => ({
    type: 'function_call',
    callId: id,
    name: 'f',
    status: 'completed',
    arguments: given,
  })
  const history = [items[0]!, call('a', '1'), call('b', '2'), call('a', '3'), items[7]!]
  const mutations = [
    { type: 'replace_function_call', callId: 'a', replacement: call('a', 'changed') },
    { type: 'replace_function_call', callId: 'none', replacement: call('none', 'changed') },
    { type: 'replace_function_call', callId: 'b', replacement: call('b', 'changed') },
  ] as SessionHistoryMutation[]
  const theirs = new MemorySession()
  const conversation = inMemory()
  const ours = new UndertextSession(conversation)
  for (const session of [theirs, ours]) {
    await session.addItems(history)
    await session.applyHistoryMutations({ mutations })
    await session.applyHistoryMutations({ mutations: [] })
  }
  assert.equal(JSON.stringify(await ours.getItems()), JSON.stringify(await theirs.getItems()))
  assert.equal((await conversation.messages({ all: true })).length, history.length + 2)
})

test('clearSession hides everything, and an UNDO brings it back', async () => {
  const conversation = inMemory()
  const session = new UndertextSession(conversation)
  await session.addItems(items)
  await session.clearSession()
  assert.deepEqual(await session.getItems(), [])
  await conversation.undo()
  assert.equal((await session.getItems()).length, items.length)
})

test('a summary, and messages that came by another door, are items', async () => {
  const conversation = inMemory()
  const session = new UndertextSession(conversation)
  await session.addItems(items.slice(0, 2))
  await conversation.compress({
    indices: [0, 1],
    summary: { role: 'system', content: 'They asked for the weather.' },
  })
  await conversation.append([
    {
      role: 'assistant',
      content: 'I look.',
      toolCalls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', content: 'done', toolCallId: 'c' },
  ])
  assert.deepEqual(await session.getItems(), [
    { type: 'message', role: 'system', content: 'They asked for the weather.' },
    {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'I look.' }],
    },
    { type: 'function_call', callId: 'c', name: 'f', arguments: '{}', status: 'completed' },
    {
      type: 'function_call_result',
      callId: 'c',
      name: 'f',
      status: 'completed',
      output: { type: 'text', text: 'done' },
    },
  ])
  assert.equal(((await session.popItem()) as Item | undefined)?.['type'], 'function_call_result')
  assert.equal(((await session.popItem()) as Item | undefined)?.['type'], 'function_call')
  assert.equal((await session.getItems()).length, 2)
})

test('what JSON cannot hold is refused, and nothing of the list is stored', async () => {
  const conversation = inMemory()
  const session = new UndertextSession(conversation)
  for (const providerData of [
    { a: NaN },
    { a: new Uint8Array(2) },
    { a: 1n },
    { a: 'half \ud83d' },
  ]) {
    await assert.rejects(
      session.addItems([items[0]!, { role: 'user', content: 'x', providerData }]),
      { name: 'UndertextError', code: 'invalid_argument' },
    )
  }
  assert.equal((await conversation.stats()).totalMessages, 0)
})

class ScriptedModel implements Model {
  readonly requests: ModelRequest[] = []
  constructor(readonly outputs: Item[][]) {}
  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    // The runner goes on with the list it gave.
    this.requests.push(structuredClone({ input: request.input }) as ModelRequest)
    return {
      usage: new Usage(),
      output: this.outputs[this.requests.length - 1] as unknown as ModelResponse['output'],
    }
  }
  async *getStreamedResponse(): AsyncGenerator<never> {
    throw new Error('not asked for')
  }
}

test('the runner goes on with a session, after a restart too', async () => {
  await using store = await openStore('memory:')
  const say = (value: string): Item => ({
    type: 'message',
    id: 'msg',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: value }],
  })
  const model = new ScriptedModel([
    [
      {
        type: 'function_call',
        id: 'fc',
        callId: 'call-1',
        name: 'weather',
        status: 'completed',
        arguments: '{"city":"Lyon"}',
      },
    ],
    [say('It is 18.')],
    [say('Lyon.')],
  ])
  const weather = tool({
    name: 'weather',
    description: 'The weather',
    parameters: z.object({ city: z.string() }),
    execute: async () => '18 degrees',
  })
  const agent = new Agent({ name: 'assistant', model, tools: [weather] })
  const runner = new Runner({ tracingDisabled: true })
  const first = await runner.run(agent, 'Weather in Lyon?', {
    session: new UndertextSession(await store.open('s')),
  })
  assert.equal(first.finalOutput, 'It is 18.')
  await runner.run(agent, 'Which city?', { session: new UndertextSession(await store.open('s')) })
  const kinds = (model.requests[2]!.input as Item[]).map(item => item['type'] ?? item['role'])
  assert.deepEqual(kinds, [
    'message',
    'function_call',
    'function_call_result',
    'message',
    'message',
  ])
  assert.deepEqual(
    (await (await store.open('s')).messages()).map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant'],
  )
})

test('random items come back byte for byte', async () => {
  const content = fc.oneof(text, fc.array(anyObject, { maxLength: 3 }), anyValue)
  const types = fc.constantFrom(
    'message',
    'function_call',
    'function_call_result',
    'shell_call_output',
    'computer_call',
    'reasoning',
    'made_up',
  )
  const item = some({
    type: types,
    role: fc.constantFrom('user', 'assistant', 'system', 'else'),
    content,
    callId: text,
    name: text,
    arguments: fc.oneof(text, anyValue),
    output: fc.oneof(content, fc.record({ type: fc.constant('text'), text })),
    id: fc.oneof(text, anyValue),
    foreign: anyValue,
    providerData: anyObject,
  }).filter(({ type, role }) => role !== 'else' || (type !== undefined && type !== 'message'))
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(item, anyObject), { minLength: 1, maxLength: 5 }),
      async made => {
        const session = new UndertextSession(new MemoryConversation())
        await session.addItems(made as unknown as AgentInputItem[])
        assert.equal(JSON.stringify(await session.getItems()), JSON.stringify(made))
      },
    ),
    runs,
  )
})
