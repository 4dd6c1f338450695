// Threads of which something was pruned or redacted.
import { AIMessage, HumanMessage, type BaseMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { openStore, type Store } from 'undertext'
import { UndertextSaver } from 'undertext/langgraph'

const thread = { configurable: { thread_id: 't' } }

function graphOf(saver: UndertextSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode('echo', ({ messages }) => ({
      messages: [new AIMessage(`re ${messages.at(-1)!.content as string}`)],
    }))
    .addEdge(START, 'echo')
    .addEdge('echo', END)
    .compile({ checkpointer: saver })
}

const contents = (messages: BaseMessage[]): unknown[] => messages.map(({ content }) => content)

async function say(saver: UndertextSaver, said: string): Promise<unknown[]> {
  return contents(
    (await graphOf(saver).invoke({ messages: [new HumanMessage(said)] }, thread)).messages,
  )
}

async function saverOf(t: TestContext, store: Store): Promise<UndertextSaver> {
  const saver = new UndertextSaver(store)
  t.after(() => saver.close())
  return saver
}

// A thread of three turns, whose lists before the last one are pruned; and the checkpoint after the first turn.
async function pruned(t: TestContext): Promise<{ store: Store; old: RunnableConfig }> {
  const store = await openStore('memory:')
  t.after(() => store.close())
  const saver = await saverOf(t, store)
  await say(saver, 'one')
  const old = (await saver.getTuple(thread))!.config
  await say(saver, 'two')
  await say(saver, 'three')
  await using list = await store.open('langgraph-js.t.0.messages')
  await list.pruneVersions({ versions: 1 })
  return { store, old }
}

test('a checkpoint whose messages were pruned says so, and its thread goes on', async t => {
  const { store, old } = await pruned(t)
  const saver = await saverOf(t, store)
  await assert.rejects(saver.getTuple(old), {
    name: 'UndertextError',
    code: 'not_found',
    message: /messages of the checkpoint are gone: .*pruned/,
  })
  assert.deepEqual(await say(saver, 'four'), [
    'one',
    're one',
    'two',
    're two',
    'three',
    're three',
    'four',
    're four',
  ])
  assert.deepEqual(
    (await store.list()).map(({ conversation }) => conversation),
    ['langgraph-js.t.0', 'langgraph-js.t.0.messages'],
  )
  const later = await say(await saverOf(t, store), 'five')
  assert.equal(later.length, 10)
})

test('a graph that goes on from a list pruned meanwhile is not disturbed', async t => {
  const { store, old } = await pruned(t)
  const saver = await saverOf(t, store)
  const { checkpoint, metadata } = (await saver.getTuple(thread))!
  const version = saver.getNextVersion(undefined)
  const made = {
    ...checkpoint,
    id: `${checkpoint.id}-x`,
    channel_values: { messages: [new HumanMessage('another branch')] },
    channel_versions: { messages: version },
  }
  const config = await saver.put(old, made, metadata!, { messages: version })
  assert.deepEqual(
    contents(
      (await saver.getTuple(config))!.checkpoint.channel_values['messages'] as BaseMessage[],
    ),
    ['another branch'],
  )
  assert.deepEqual(
    (await store.list()).map(({ conversation }) => conversation),
    ['langgraph-js.t.0', 'langgraph-js.t.0.messages'],
  )
})

test('a thread of which messages were redacted or pruned is deleted, and begins again', async t => {
  const { store, old } = await pruned(t)
  const saver = await saverOf(t, store)
  await assert.rejects(saver.getTuple(old))
  await using list = await store.open('langgraph-js.t.0.messages')
  await list.redact([0], 'me')
  assert.deepEqual(await say(saver, 'four'), [
    '[redacted]',
    're one',
    'two',
    're two',
    'three',
    're three',
    'four',
    're four',
  ])
  await saver.deleteThread('t')
  assert.deepEqual(await store.list(), [])
  assert.equal(await saver.getTuple(thread), undefined)
  assert.deepEqual(await say(saver, 'first'), ['first', 're first'])
})

test('a thread whose records cannot be read can be deleted', async t => {
  const { store } = await pruned(t)
  const saver = await saverOf(t, store)
  await using records = await store.open('langgraph-js.t.0')
  await records.redact([0], 'me')
  await assert.rejects(saver.getTuple(thread), { name: 'UndertextError', code: 'corrupt' })
  await saver.deleteThread('t')
  assert.deepEqual(await store.list(), [])
})
