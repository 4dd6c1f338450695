import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages'
import type { ChatResult } from '@langchain/core/outputs'
import { tool } from '@langchain/core/tools'
import { MemorySaver } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inMemory, openStore, type Conversation, type DataSettings, type Store } from 'undertext'
import { undertextMiddleware, type MiddlewareOptions } from 'undertext/langchain-agents'
import { z } from 'zod'

const settings: DataSettings = { compressionConfig: { enabled: true, threshold: 600 } }
const fox = 'the quick brown fox jumps over the lazy dog. '.repeat(30)

/** Says what its script says, and keeps what it was sent. */
class Scripted extends BaseChatModel {
  sent: BaseMessage[][] = []
  bound: string[] = []

  constructor(readonly script: AIMessage[]) {
    super({})
  }

  override _llmType(): string {
    return 'scripted'
  }

  override bindTools(tools: unknown[]): this {
    this.bound = tools.map(each => (each as { name: string }).name)
    return this
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = this.script[Math.min(this.sent.push(messages), this.script.length) - 1]!
    return { generations: [{ text: message.text, message }] }
  }
}

const calling = (id: number, name = 'read', args: object = { page: id }): AIMessage =>
  new AIMessage({ content: '', tool_calls: [{ name, args: { ...args }, id: `c${id}` }] })
const tenPages = (...then: AIMessage[]): Scripted =>
  new Scripted([
    ...Array.from({ length: 10 }, (_, i) => calling(i)),
    ...then,
    new AIMessage('Read.'),
  ])

const read = tool(async ({ page }) => `page ${page}: ${fox}`, {
  name: 'read',
  description: 'Reads a page.',
  schema: z.object({ page: z.number() }),
})

const agentOf = (model: Scripted, where: Conversation | Store, options?: MiddlewareOptions) =>
  createAgent({
    model,
    tools: [read],
    systemPrompt: 'Be brief.',
    middleware: [undertextMiddleware(where, options)],
    checkpointer: new MemorySaver(),
  })
const ask = { messages: [new HumanMessage('Read ten pages.')] }
const thread = (thread_id: string) => ({ configurable: { thread_id }, recursionLimit: 100 })
const texts = (messages: BaseMessage[]): string[] => messages.map(({ text }) => text)
const pagesIn = (messages: BaseMessage[]): number =>
  texts(messages).filter(text => text.includes(fox)).length

test('every call is within the window, and the state has every message', async () => {
  const model = tenPages()
  const conversation = inMemory(settings)
  const { messages } = await agentOf(model, conversation).invoke(ask, thread('t'))
  assert.equal(messages.length, 22)
  assert.equal(pagesIn(messages), 10)
  assert.equal(Math.max(...model.sent.map(pagesIn)), 1)
  assert.deepEqual(texts(model.sent.at(-1)!).slice(0, 2), ['Be brief.', 'Read ten pages.'])
  const log = JSON.stringify(await conversation.messages({ all: true }))
  for (let page = 0; page < 10; ++page) assert.ok(log.includes(`page ${page}: ${fox}`))
})

test('without an edit the model is sent what it would be sent without the middleware', async () => {
  const [one, other] = [tenPages(), tenPages()]
  await agentOf(one, inMemory()).invoke(ask, thread('t'))
  const plain = createAgent({ model: other, tools: [read], systemPrompt: 'Be brief.' })
  await plain.invoke(ask, { recursionLimit: 100 })
  const said = (model: Scripted) =>
    model.sent.map(messages =>
      messages.map(message => [
        message.getType(),
        message.content,
        (message as AIMessage).tool_calls,
        (message as ToolMessage).tool_call_id,
      ]),
    )
  assert.deepEqual(said(one), said(other))
})

test('what was compressed can be expanded, and the next call sees the originals', async () => {
  const model = tenPages()
  const conversation = inMemory(settings)
  const agent = agentOf(model, conversation)
  await agent.invoke(ask, thread('t'))
  const isStub = (message: object): boolean => JSON.stringify(message).includes('EXPAND')
  for (;;) {
    const index = (await conversation.messages()).findIndex(isStub)
    if (index < 0) break
    await conversation.expand(index)
  }
  await agent.invoke({ messages: [new HumanMessage('And the first?')] }, thread('t'))
  assert.equal(pagesIn(model.sent.at(-1)!), 10)
})

test('each message is stored once', async () => {
  const conversation = inMemory()
  const agent = agentOf(tenPages(), conversation)
  await agent.invoke(ask, thread('t'))
  const thanks = { messages: [new HumanMessage('Thanks.')] }
  const { messages } = await agent.invoke(thanks, thread('t'))
  const { totalMessages, totalBatches } = await conversation.stats()
  assert.deepEqual([totalMessages, totalBatches], [messages.length + 1, 1])
})

test('a store has a conversation for each thread', async () => {
  await using store = await openStore('memory:')
  for (const name of ['a', 'b'])
    await agentOf(tenPages(), store, { settings }).invoke(ask, thread(name))
  const names = (await store.list()).map(({ conversation }) => conversation)
  assert.deepEqual(names, ['langchain-js.a', 'langchain-js.b'])
  await using conversation = await store.open('langchain-js.a')
  assert.equal((await conversation.messages({ last: 1 }))[0]!.content, 'Read.')
})

test('a store without a thread is refused', async () => {
  await using store = await openStore('memory:')
  const agent = createAgent({ model: tenPages(), middleware: [undertextMiddleware(store)] })
  await assert.rejects(async () => agent.invoke(ask), /thread/)
})

test('the model reads what was hidden by the tools of the conversation', async () => {
  const model = tenPages(calling(10, 'context_expand', { ordinals: [3] }))
  await using store = await openStore('memory:')
  const options = { settings: { ...settings, contextTools: true } }
  const { messages } = await agentOf(model, store, options).invoke(ask, thread('t'))
  assert.deepEqual(model.bound.toSorted(), [
    'context_expand',
    'context_search',
    'context_status',
    'read',
  ])
  assert.match(messages.at(-2)!.text, /page 0: the quick/)
})

test('an artifact that is no JSON stays in the state', async () => {
  const framed = tool(async () => ['a page', new Map([[NaN, 1]])], {
    name: 'read',
    description: 'Reads a page.',
    schema: z.object({ page: z.number() }),
    responseFormat: 'content_and_artifact',
  })
  const model = new Scripted([calling(1), new AIMessage('Read.')])
  const agent = createAgent({
    model,
    tools: [framed],
    middleware: [undertextMiddleware(inMemory())],
  })
  const { messages } = await agent.invoke(ask)
  assert.ok((messages[2] as ToolMessage).artifact instanceof Map)
  assert.deepEqual(texts(model.sent.at(-1)!), ['Read ten pages.', '', 'a page'])
})

test('a call that fails leaves the conversation at the question', async () => {
  const conversation = inMemory()
  const model = tenPages()
  model._generate = async () => {
    throw new Error('overloaded')
  }
  await assert.rejects(async () => agentOf(model, conversation).invoke(ask, thread('t')), {
    message: /overloaded/,
  })
  assert.deepEqual(
    (await conversation.messages()).map(({ role }) => role),
    ['system', 'user'],
  )
})
