// A session of the Agents SDK whose messages are compressed: what belongs together stays together, and a target out of reach or a model that is down stops nobody.
import type { AgentInputItem } from '@openai/agents-core'
import {
  AIMessage,
  HumanMessage,
  RemoveMessage,
  ToolMessage,
  type BaseMessage,
} from '@langchain/core/messages'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inMemory, openStore, type Settings } from 'undertext'
import { toLangChain } from 'undertext/langchain'
import { UndertextSaver } from 'undertext/langgraph'
import { UndertextSession } from 'undertext/openai-agents'

/** Nobody listens there. */
const down = {
  kind: 'openai' as const,
  baseUrl: 'http://127.0.0.1:1/v1',
  model: 'm',
  attempts: 1,
  timeoutMs: 2000,
}
const words = 'lorem ipsum dolor sit amet '.repeat(2)

const said = (i: number): AgentInputItem =>
  i % 2 === 0
    ? { role: 'user', content: `${i} ${words}` }
    : {
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: `${i} ${words}` }],
      }
const call = (callId: string): AgentInputItem => ({
  type: 'function_call',
  callId,
  name: 'job',
  arguments: '{}',
  status: 'completed',
})
const result = (callId: string, text: string): AgentInputItem => ({
  type: 'function_call_result',
  callId,
  name: 'job',
  status: 'completed',
  output: { type: 'text', text },
})
const reasoning = (i: number): AgentInputItem => ({
  type: 'reasoning',
  id: `rs_${i}`,
  content: [{ type: 'input_text', text: `thought ${i}` }],
})

async function sessionOf(items: AgentInputItem[], settings?: Settings) {
  const conversation = inMemory(settings)
  const session = new UndertextSession(conversation)
  await session.addItems(items)
  return { conversation, session }
}

test('a call that waits for its result is kept, and the result finds it', async () => {
  const { conversation, session } = await sessionOf([said(0), call('c'), said(2), said(3), said(4)])
  await conversation.compress({ strategy: { name: 'keep_recent', n: 2 } })
  await session.addItems([result('c', 'JOB RESULT 42')])
  const items = await session.getItems()
  const at = (type: string) => items.findIndex(item => item.type === type)
  assert.ok(at('function_call') >= 0 && at('function_call') < at('function_call_result'))
  assert.match(
    JSON.stringify((await conversation.render({ dialect: 'openai_responses' })).request),
    /JOB RESULT 42/,
  )
})

test('a session stays small where its target is out of reach', async () => {
  const { conversation, session } = await sessionOf([], {
    compressionConfig: {
      enabled: true,
      threshold: 300,
      targetTokens: 100,
      strategy: { name: 'keep_recent', n: 10 },
    },
  })
  for (let i = 0; i < 60; ++i) {
    await session.addItems([said(i)])
    assert.ok((await conversation.stats()).tokens <= 300 + 300 / 16)
  }
  const receipts = await conversation.receipts()
  assert.ok(receipts.length >= 2)
  for (const { targetReached } of receipts) assert.equal(targetReached, false)
})

test('reasoning stays with all the calls that follow from it', async () => {
  const turn = (i: number) => [
    said(0),
    reasoning(i),
    call(`a${i}`),
    call(`b${i}`),
    result(`a${i}`, `A ${words}`),
    result(`b${i}`, `B ${words}`),
    said(1),
  ]
  const whole = [...Array(6).keys()].flatMap(turn)
  const { conversation } = await sessionOf(whole)
  const { tokens } = await conversation.stats()
  for (const strategy of [
    'default',
    'sliding_window',
    'smart_summary',
    { name: 'keep_recent', n: 4 },
  ] as const) {
    for (let targetTokens = tokens >> 2; targetTokens < tokens; targetTokens += tokens >> 3) {
      const { conversation, session } = await sessionOf([...whole, said(2)])
      await conversation.compress({ strategy, targetTokens, progress: true })
      const text = JSON.stringify(await session.getItems())
      for (let i = 0; i < 6; ++i) {
        const has = [`rs_${i}`, `a${i}`, `b${i}`].map(id => text.includes(`"${id}"`))
        assert.ok(
          has.every(Boolean) || !has.some(Boolean),
          `${JSON.stringify(strategy)} ${targetTokens} ${i}`,
        )
      }
      assert.ok((await conversation.validate({ dialect: 'openai_responses' })).valid)
    }
  }
})

test('a session whose models are down is summarised by the digest', async () => {
  const settings: Settings = {
    summarisers: { down, 'down too': down },
    compressionConfig: {
      enabled: true,
      threshold: 400,
      targetTokens: 250,
      strategy: { name: 'default', summariser: 'down', fallbacks: ['down too'] },
    },
  }
  const { conversation, session } = await sessionOf([], settings)
  for (let i = 0; i < 40; ++i) {
    await session.addItems([said(i)])
    await conversation.waitForCompression()
    assert.ok((await conversation.stats()).tokens <= 400 + 400 / 16)
  }
  const [receipt] = await conversation.receipts()
  assert.equal(receipt!.summariser, 'digest')
  assert.equal(receipt!.reason!.split('cannot be reached').length, 3)
})

test('a graph keeps a call that waits, makes the progress that can be made, and does without a model that is down', async () => {
  await using store = await openStore('memory:')
  const saver = new UndertextSaver(store)
  const speak = ({ messages }: typeof MessagesAnnotation.State) => ({
    messages: [new AIMessage({ id: `answer ${messages.length}`, content: `answer ${words}` })],
  })
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('speak', speak)
    .addEdge(START, 'speak')
    .compile({ checkpointer: saver })
  const config = { configurable: { thread_id: 't' } }
  const messages = async () => (await graph.getState(config)).values['messages'] as BaseMessage[]
  const waiting = { name: 'job', args: {}, id: 'c', type: 'tool_call' as const }
  await graph.updateState(
    config,
    {
      messages: [
        new HumanMessage('start the job'),
        new AIMessage({ content: '', tool_calls: [waiting] }),
      ],
    },
    'speak',
  )
  for (let i = 0; i < 8; ++i)
    await graph.invoke({ messages: [new HumanMessage(`${i} ${words}`)] }, config)

  // By a fork, whose view becomes the state of the graph.
  const compress = async (strategy: { name: string; [argument: string]: unknown }) => {
    await using conversation = await store.open('langgraph-js.t.0.messages', {
      summarisers: { down },
    })
    await using fork = await conversation.fork()
    const answer = await fork.compress({ strategy, targetTokens: 200, progress: true })
    const left = (await Promise.all((await fork.messages()).map(toLangChain))).flat()
    await graph.updateState(
      config,
      {
        messages: [...(await messages()).map(({ id }) => new RemoveMessage({ id: id! })), ...left],
      },
      'speak',
    )
    return answer
  }
  const digested = await compress({ name: 'smart_summary', summariser: 'down' })
  assert.equal(digested.receipt!.summariser, 'digest')
  assert.match(digested.receipt!.reason!, /cannot be reached/)
  for (let i = 0; i < 8; ++i)
    await graph.invoke({ messages: [new HumanMessage(`again ${i} ${words}`)] }, config)
  const shorter = await compress({ name: 'keep_recent', n: 12 })
  assert.equal(shorter.targetReached, false)
  await graph.updateState(
    config,
    { messages: [new ToolMessage({ content: 'JOB RESULT 42', tool_call_id: 'c' })] },
    'speak',
  )
  const left = await messages()
  assert.equal(
    left.filter(message => message instanceof AIMessage && message.tool_calls?.[0]?.id === 'c')
      .length,
    1,
  )
  assert.equal(left.at(-1)!.content, 'JOB RESULT 42')
})
