import { AIMessage, HumanMessage, RemoveMessage, type BaseMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import {
  Annotation,
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import {
  emptyCheckpoint,
  uuid6,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  type SerializerProtocol,
} from '@langchain/langgraph-checkpoint'
import fc from 'fast-check'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openStore, type Store } from 'undertext'
import { UndertextSaver } from 'undertext/langgraph'
import { runs, text } from './values.js'

const metadata: CheckpointMetadata = { source: 'loop', step: 1, parents: {} }

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'undertext-langgraph-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

async function inMemory(t: TestContext): Promise<{ store: Store; saver: UndertextSaver }> {
  const store = await openStore('memory:')
  t.after(() => store.close())
  const saver = new UndertextSaver(store)
  t.after(() => saver.close())
  return { store, saver }
}

// Puts a checkpoint of which all values are new.
async function put(
  saver: UndertextSaver,
  config: RunnableConfig,
  channel_values: Record<string, unknown>,
): Promise<RunnableConfig> {
  const versions = Object.fromEntries(
    Object.keys(channel_values).map(channel => [channel, saver.getNextVersion(undefined)]),
  )
  const checkpoint: Checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(0),
    channel_values,
    channel_versions: versions,
  }
  return saver.put(config, checkpoint, metadata, versions)
}

async function values(
  saver: UndertextSaver,
  config: RunnableConfig,
): Promise<Record<string, unknown>> {
  return (await saver.getTuple(config))!.checkpoint.channel_values
}

async function all(tuples: AsyncGenerator<CheckpointTuple>): Promise<CheckpointTuple[]> {
  const found: CheckpointTuple[] = []
  for await (const tuple of tuples) found.push(tuple)
  return found
}

const contents = (messages: unknown): unknown[] =>
  (messages as BaseMessage[]).map(({ content }) => content)

function chatGraph(saver: UndertextSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode('answer', ({ messages }) => ({
      messages: [
        new AIMessage({ content: `answer to ${messages.at(-1)!.content as string}`, id: uuid6(0) }),
      ],
    }))
    .addEdge(START, 'answer')
    .addEdge('answer', END)
    .compile({ checkpointer: saver })
}

const ask = (content: string): { messages: BaseMessage[] } => ({
  messages: [new HumanMessage({ content, id: uuid6(0) })],
})

test('a graph goes on after a restart, and its messages are in a conversation that others can read', async t => {
  const url = `sqlite:${join(await folderFor(t), 'store.db')}`
  const config = { configurable: { thread_id: 'thread-1' } }
  for (const question of ['one', 'two', 'three']) {
    await using store = await openStore(url)
    const saver = new UndertextSaver(store)
    await chatGraph(saver).invoke(ask(question), config)
    await saver.close()
  }
  await using store = await openStore(url)
  const saver = new UndertextSaver(store)
  const state = await chatGraph(saver).getState(config)
  const expected = ['one', 'answer to one', 'two', 'answer to two', 'three', 'answer to three']
  assert.deepEqual(contents(state.values.messages), expected)
  assert.ok(
    state.values.messages.every(
      (message: unknown) => message instanceof HumanMessage || message instanceof AIMessage,
    ),
  )
  await using conversation = await store.open('langgraph-js.thread-1.0.messages', undefined, {
    make: 'never',
  })
  assert.deepEqual(
    (await conversation.messages()).map(({ role, content }) => `${role}: ${String(content)}`),
    expected.map((content, i) => `${i % 2 ? 'assistant' : 'user'}: ${content}`),
  )
  await saver.close()
})

test('an interrupt waits in the store, and the answer goes on from it in another process', async t => {
  const url = `sqlite:${join(await folderFor(t), 'store.db')}`
  const State = Annotation.Root({ said: Annotation<string> })
  const config = { configurable: { thread_id: 't' } }
  const run = async <T>(
    work: (graph: {
      invoke(input: unknown, config: unknown): Promise<unknown>
      getState(config: unknown): Promise<{ next: string[]; tasks: { interrupts: unknown[] }[] }>
    }) => Promise<T>,
  ): Promise<T> => {
    await using store = await openStore(url)
    const saver = new UndertextSaver(store)
    const graph = new StateGraph(State)
      .addNode('approve', () => ({ said: interrupt('sure?') as string }))
      .addEdge(START, 'approve')
      .compile({ checkpointer: saver })
    const result = await work(graph as never)
    await saver.close()
    return result
  }
  await run(graph => graph.invoke({ said: '' }, config))
  await run(async graph => {
    const state = await graph.getState(config)
    assert.deepEqual(state.next, ['approve'])
    assert.equal(state.tasks[0]!.interrupts.length, 1)
  })
  assert.deepEqual(await run(graph => graph.invoke(new Command({ resume: 'yes' }), config)), {
    said: 'yes',
  })
})

test('time travel: each branch of a thread has its own messages, and the one it left keeps its', async t => {
  const { store, saver } = await inMemory(t)
  const graph = chatGraph(saver)
  const config = { configurable: { thread_id: 't' } }
  await graph.invoke(ask('one'), config)
  await graph.invoke(ask('two'), config)
  const states = []
  for await (const state of graph.getStateHistory(config)) states.push(state)
  const afterOne = states.find(
    ({ values, next }) => contents(values.messages ?? []).length === 2 && next.length === 0,
  )!
  await graph.invoke(ask('other'), afterOne.config)
  assert.deepEqual(contents((await graph.getState(config)).values.messages), [
    'one',
    'answer to one',
    'other',
    'answer to other',
  ])
  assert.deepEqual(contents((await graph.getState(states[0]!.config)).values.messages), [
    'one',
    'answer to one',
    'two',
    'answer to two',
  ])
  // A copy of a checkpoint names values without bringing them.
  const copied = await graph.updateState(states[0]!.config, null, '__copy__')
  assert.deepEqual(contents((await graph.getState(copied)).values.messages), [
    'one',
    'answer to one',
    'two',
    'answer to two',
  ])
  // The branch that was left goes on, and none of its messages is stored again.
  await graph.invoke(ask('three'), states[0]!.config)
  await using list = await store.open('langgraph-js.t.0.messages')
  assert.equal((await list.stats()).totalMessages, 8)
})

test('a subgraph has its own namespace, and messages can be removed and changed', async t => {
  const { saver } = await inMemory(t)
  const inner = new StateGraph(MessagesAnnotation)
    .addNode('inside', () => ({
      messages: [new AIMessage({ content: 'from inside', id: 'inside' })],
    }))
    .addEdge(START, 'inside')
    .compile({ checkpointer: true })
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('child', inner)
    .addNode('tidy', ({ messages }) => ({
      messages: [
        new RemoveMessage({ id: messages[0]!.id! }),
        new AIMessage({ content: 'tidied', id: 'inside' }),
        new AIMessage({ content: 'new', id: 'new' }),
      ],
    }))
    .addEdge(START, 'child')
    .addEdge('child', 'tidy')
    .compile({ checkpointer: saver })
  const config = { configurable: { thread_id: 't' } }
  await graph.invoke(ask('first'), config)
  assert.deepEqual(contents((await graph.getState(config)).values.messages), ['tidied', 'new'])
  const seen = new Map<string, string[]>()
  for await (const { config: its, checkpoint } of saver.list(config)) {
    const namespace = its.configurable!['checkpoint_ns'] as string
    seen.set(namespace, [
      ...(seen.get(namespace) ?? []),
      contents(checkpoint.channel_values['messages'] ?? []).join(),
    ])
  }
  assert.deepEqual(seen.get(''), ['tidied,new', 'first,from inside', 'first', ''])
  assert.equal(seen.get('child')?.[0], 'first,from inside')
})

test('a message that is in many checkpoints is stored once, and so is any value that stays', async t => {
  const { store, saver } = await inMemory(t)
  const messages: BaseMessage[] = []
  const large = 'x'.repeat(10_000)
  let config: RunnableConfig = { configurable: { thread_id: 't' } }
  let versions: Record<string, number> = {}
  for (let i = 0; i < 50; ++i) {
    messages.push(new HumanMessage({ content: `message ${i}`, id: `${i}` }))
    const fresh = {
      messages: saver.getNextVersion(versions['messages']),
      ...(i === 0 ? { large: 1 } : {}),
    }
    versions = { ...versions, ...fresh }
    config = await saver.put(
      config,
      {
        ...emptyCheckpoint(),
        id: uuid6(i),
        channel_values: { messages: [...messages], large },
        channel_versions: { ...versions },
      },
      metadata,
      fresh,
    )
  }
  const { messages: last, large: kept } = await values(saver, config)
  assert.equal(JSON.stringify(last), JSON.stringify(messages))
  assert.equal(kept, large)
  await using list = await store.open('langgraph-js.t.0.messages')
  assert.equal((await list.stats()).totalMessages, 50)
  await using records = await store.open('langgraph-js.t.0')
  const written = (await records.messages({ all: true })).map(record => JSON.stringify(record))
  assert.equal(written.filter(record => record.includes(large)).length, 1)
  assert.ok(written.slice(1).every(record => record.length < 2000))
})

test('branches whose versions have the same number keep their own values', async t => {
  const { saver } = await inMemory(t)
  const make = (
    parent: RunnableConfig,
    said: string | undefined,
    step: number,
  ): Promise<RunnableConfig> => {
    const channel_values = { said, messages: [new HumanMessage({ content: said ?? '', id: said })] }
    const newVersions: Record<string, number> = said === undefined ? {} : { said: 5, messages: 5 }
    return saver.put(
      parent,
      {
        ...emptyCheckpoint(),
        id: uuid6(step),
        channel_values: said === undefined ? {} : channel_values,
        channel_versions: { said: 5, messages: 5 },
      },
      metadata,
      newVersions,
    )
  }
  const root = await saver.put(
    { configurable: { thread_id: 't' } },
    { ...emptyCheckpoint(), id: uuid6(0) },
    metadata,
    {},
  )
  const [left, right] = [await make(root, 'left', 1), await make(root, 'right', 2)]
  const below = await make(left, undefined, 3)
  for (const [config, said] of [
    [left, 'left'],
    [right, 'right'],
    [below, 'left'],
  ] as const) {
    const { said: its, messages } = await values(saver, config)
    assert.equal(its, said)
    assert.deepEqual(contents(messages), [said])
  }
})

test('writers of several stores at once lose nothing', async t => {
  const url = `sqlite:${join(await folderFor(t), 'store.db')}`
  const stores = await Promise.all([openStore(url), openStore(url), openStore(url)])
  const savers = stores.map(store => new UndertextSaver(store))
  const base = await put(
    savers[0]!,
    { configurable: { thread_id: 't' } },
    { messages: [new HumanMessage('base')] },
  )
  const made = await Promise.all(
    Array.from({ length: 24 }, async (_, i) => {
      const saver = savers[i % savers.length]!
      const config = await put(saver, base, {
        messages: [new HumanMessage('base'), new HumanMessage(`branch ${i}`)],
        i,
      })
      await saver.putWrites(config, [['out', i]], `task ${i}`)
      return config
    }),
  )
  for (const saver of savers) {
    for (const [i, config] of made.entries()) {
      const tuple = (await saver.getTuple(config))!
      assert.deepEqual(contents(tuple.checkpoint.channel_values['messages']), [
        'base',
        `branch ${i}`,
      ])
      assert.equal(tuple.checkpoint.channel_values['i'], i)
      assert.deepEqual(tuple.pendingWrites, [[`task ${i}`, 'out', i]])
    }
  }
  assert.equal((await all(savers[1]!.list(base))).length, 1)
  assert.equal((await all(savers[1]!.list({ configurable: { thread_id: 't' } }))).length, 25)
  assert.deepEqual((await stores[0]!.check()).damage, [])
  await Promise.all(savers.map(saver => saver.close()))
  await Promise.all(stores.map(store => store.close()))
})

// Each line that the writer prints is a checkpoint that was put.
async function write(url: string, count: number, killAfter = Infinity): Promise<string[]> {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('langgraph-writer.js', import.meta.url)), url, String(count)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ids: string[] = []
  for await (const id of createInterface(child.stdout)) {
    ids.push(id)
    if (ids.length === killAfter) child.kill('SIGKILL')
  }
  return ids
}

test('what was put is there whole after a process was killed, and another that wrote meanwhile is not disturbed', async t => {
  const url = `sqlite:${join(await folderFor(t), 'store.db')}`
  const [whole, killed] = await Promise.all([write(url, 20), write(url, 1_000_000, 10)])
  assert.equal(whole.length, 20)
  await using store = await openStore(url)
  const saver = new UndertextSaver(store)
  const found = new Map(
    (await all(saver.list({ configurable: { thread_id: 't' } }))).map(tuple => [
      tuple.checkpoint.id,
      tuple,
    ]),
  )
  for (const id of [...whole, ...killed]) assert.ok(found.has(id), id)
  for (const { checkpoint, metadata: said } of found.values()) {
    const messages = contents(checkpoint.channel_values['messages'])
    assert.equal(messages.length, said!.step)
    assert.deepEqual(
      messages,
      Array.from({ length: said!.step }, (_, i) => `${(messages[0] as string).split(' ')[0]} ${i}`),
    )
  }
  assert.deepEqual((await store.check()).damage, [])
  await saver.close()
})

test('a write is kept as it came first, an error as it came last', async t => {
  const { saver } = await inMemory(t)
  const config = await put(saver, { configurable: { thread_id: 't' } }, {})
  await saver.putWrites(
    config,
    [
      ['a', 1],
      ['b', 2],
    ],
    'task',
  )
  await saver.putWrites(
    config,
    [
      ['a', 'again'],
      ['b', 'again'],
      ['c', 3],
    ],
    'task',
  )
  await saver.putWrites(config, [['__error__', 'first']], 'task')
  await saver.putWrites(config, [['__error__', 'second']], 'task')
  await saver.putWrites(
    config,
    [
      ['__proto__', 4],
      ['constructor', 5],
    ],
    'other',
  )
  assert.deepEqual((await saver.getTuple(config))!.pendingWrites, [
    ['task', 'a', 1],
    ['task', 'b', 2],
    ['task', 'c', 3],
    ['task', '__error__', 'second'],
    ['other', '__proto__', 4],
    ['other', 'constructor', 5],
  ])
})

test('names of threads, namespaces and channels may be anything', async t => {
  const { saver } = await inMemory(t)
  const names = [
    '__proto__',
    'constructor',
    'a/b:c|d',
    '日本語',
    '.',
    'A',
    'a',
    ' ',
    'x'.repeat(300),
    'langgraph-js.t.0',
  ]
  const made: [RunnableConfig, string][] = []
  for (const name of names) {
    for (const checkpoint_ns of ['', name]) {
      const channels = Object.fromEntries([
        [name, name],
        ['messages', [new HumanMessage(name)]],
        [`list ${name}`, [new HumanMessage(name)]],
      ])
      made.push([
        await put(saver, { configurable: { thread_id: name, checkpoint_ns } }, channels),
        name,
      ])
    }
  }
  for (const [config, name] of made) {
    const found = await values(saver, config)
    assert.deepEqual(Object.getOwnPropertyDescriptor(found, name)?.value, name)
    assert.deepEqual(contents(found['messages']), [name])
    assert.deepEqual(contents(found[`list ${name}`]), [name])
  }
  assert.equal((await all(saver.list({}))).length, made.length)
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
})

test('a thread without a name is refused', async t => {
  const { saver } = await inMemory(t)
  for (const thread_id of [undefined, '', 5, null]) {
    await assert.rejects(put(saver, { configurable: { thread_id } }, {}), {
      name: 'UndertextError',
      code: 'invalid_argument',
      field: 'thread_id',
    })
  }
})

test('a checkpoint that cannot be stored is refused, and the thread stays as it was', async t => {
  const { store } = await inMemory(t)
  // LangGraph's own writes a note in place of what it cannot serialize.
  const saver = new UndertextSaver(store, {
    dumpsTyped: async (value: unknown) => ['json', Buffer.from(JSON.stringify(value))],
    loadsTyped: async (_type: string, text: string | Uint8Array) =>
      JSON.parse(text as string) as unknown,
  })
  const config = await put(saver, { configurable: { thread_id: 't' } }, { said: 'before' })
  await assert.rejects(
    put(saver, config, { messages: [new HumanMessage('x')], bad: 1n, worse: 2n }),
    TypeError,
  )
  await assert.rejects(
    saver.putWrites(
      config,
      [
        ['a', 1],
        ['bad', 1n],
        ['worse', 2n],
      ],
      'task',
    ),
    TypeError,
  )
  await assert.rejects(put(saver, config, { said: 'x'.repeat(17 * 2 ** 20) }), {
    name: 'UndertextError',
    code: 'too_large',
  })
  await assert.rejects(put(saver, { configurable: { thread_id: 't', checkpoint_ns: 5 } }, {}), {
    name: 'UndertextError',
    code: 'invalid_argument',
    field: 'checkpoint_ns',
  })
  const tuple = (await saver.getTuple({ configurable: { thread_id: 't' } }))!
  assert.equal(tuple.checkpoint.channel_values['said'], 'before')
  assert.deepEqual(tuple.pendingWrites, [])
  assert.deepEqual(
    (await store.list()).map(({ conversation }) => conversation),
    ['langgraph-js.t.0'],
  )
  await saver.close()
})

test('what was given may be changed afterwards', async t => {
  const { saver } = await inMemory(t)
  const checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(0),
    channel_values: { list: ['a'], messages: [new HumanMessage('a')] } as Record<string, unknown[]>,
    channel_versions: { list: 1, messages: 1 },
  }
  const saving = saver.put({ configurable: { thread_id: 't' } }, checkpoint, metadata, {
    list: 1,
    messages: 1,
  })
  checkpoint.channel_values['list']!.push('b')
  checkpoint.channel_values['messages']!.push(new HumanMessage('b'))
  const found = await values(saver, await saving)
  assert.deepEqual(found['list'], ['a'])
  assert.deepEqual(contents(found['messages']), ['a'])
})

// Stands for one that encrypts: nothing it makes can be read.
const secretive: SerializerProtocol = {
  async dumpsTyped(data: unknown) {
    return ['secret', Buffer.from(JSON.stringify(data)).map(byte => byte ^ 0xff)]
  },
  async loadsTyped(_type: string, data: Uint8Array | string) {
    return JSON.parse(
      Buffer.from(data as Uint8Array)
        .map(byte => byte ^ 0xff)
        .toString(),
    ) as unknown
  },
}

test('nothing that an encrypting serializer hides is in the store', async t => {
  const folder = await folderFor(t)
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`)
  const saver = new UndertextSaver(store, secretive)
  const config = await put(
    saver,
    { configurable: { thread_id: 't' } },
    { messages: [new HumanMessage('hidden-text')], other: 'hidden-text' },
  )
  await saver.putWrites(config, [['other', 'hidden-text']], 'task')
  assert.equal((await values(saver, config))['other'], 'hidden-text')
  assert.equal((await saver.getTuple(config))!.pendingWrites![0]![2], 'hidden-text')
  await saver.close()
  await store.close()
  for (const file of await readdir(folder))
    assert.ok(!(await readFile(join(folder, file))).includes('hidden-text'))
})

test('a thread that was deleted is gone from the store, for every process, and may begin again', async t => {
  const { store, saver } = await inMemory(t)
  const other = new UndertextSaver(store)
  const thread = { configurable: { thread_id: 't' } }
  await saver.deleteThread('t')
  for (const said of ['first', 'second', 'third']) {
    const config = await put(saver, thread, { messages: [new HumanMessage(said)] })
    await put(
      saver,
      { configurable: { thread_id: 'tt' } },
      { messages: [new HumanMessage('neighbour')] },
    )
    assert.deepEqual(contents((await values(other, thread))['messages']), [said])
    await (said === 'second' ? other : saver).deleteThread('t')
    for (const each of [saver, other]) {
      assert.equal(await each.getTuple(thread), undefined)
      assert.equal(await each.getTuple(config), undefined)
      assert.deepEqual(await all(each.list(thread)), [])
    }
    assert.deepEqual(
      (await store.list()).map(({ conversation }) => conversation),
      ['langgraph-js.tt.0', 'langgraph-js.tt.0.messages'],
    )
  }
  await other.close()
})

test('random values come back as LangGraph would have read them', async t => {
  const { saver } = await inMemory(t)
  const message = fc
    .tuple(fc.oneof(text, fc.constant('half \ud83d')), text)
    .map(([content, id]) => new HumanMessage({ content, id }))
  const value = fc.oneof(
    text,
    fc.double(),
    fc.array(message),
    fc.uint8Array(),
    fc.array(text),
    fc.constant(undefined),
    fc.constant(new Map([['a', new Set([1])]])),
  )
  let threads = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.dictionary(text, value, { maxKeys: 3 }), { minLength: 1, maxLength: 4 }),
      async states => {
        let config: RunnableConfig = { configurable: { thread_id: `t${++threads}` } }
        for (const state of states) {
          config = await put(saver, config, state)
          const expected = Object.fromEntries(
            await Promise.all(
              Object.entries(state).map(
                async ([channel, given]) =>
                  [
                    channel,
                    await saver.serde.loadsTyped(...(await saver.serde.dumpsTyped(given))),
                  ] as const,
              ),
            ),
          )
          assert.deepEqual(await values(saver, config), expected)
        }
      },
    ),
    runs,
  )
})
