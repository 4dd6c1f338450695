// A store that the saver shares with others: with savers of other languages, with whoever appends to its conversations, with those who hold its bytes.
import { HumanMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { emptyCheckpoint, uuid6, type CheckpointTuple } from '@langchain/langgraph-checkpoint'
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openStore, type Message, type Store } from 'undertext'
import { UndertextSaver } from 'undertext/langgraph'

const thread = { configurable: { thread_id: 't' } }

async function saverOf(
  t: TestContext,
  url = 'memory:',
  patienceMs?: number,
): Promise<{ store: Store; saver: UndertextSaver }> {
  const store = await openStore(url, { patienceMs })
  t.after(() => store.close())
  const saver = new UndertextSaver(store)
  t.after(() => saver.close())
  return { store, saver }
}

function put(saver: UndertextSaver, said: string): Promise<RunnableConfig> {
  const versions = { messages: saver.getNextVersion(undefined) }
  const checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(0),
    channel_values: { messages: [new HumanMessage(said)] },
    channel_versions: versions,
  }
  return saver.put(thread, checkpoint, { source: 'loop', step: 1, parents: {} }, versions)
}

async function all(tuples: AsyncGenerator<CheckpointTuple>): Promise<CheckpointTuple[]> {
  const found: CheckpointTuple[] = []
  for await (const tuple of tuples) found.push(tuple)
  return found
}

const names = async (store: Store): Promise<string[]> =>
  (await store.list()).map(({ conversation }) => conversation)

test("a thread of Python's saver is another one, which nothing here touches", async t => {
  const { store, saver } = await saverOf(t)
  const theirs: Message[] = [
    { role: 'system', content: 'thread t', langgraph: { kind: 'thread', thread: 't' } },
    {
      role: 'system',
      content: 'checkpoint 1',
      langgraph: { kind: 'checkpoint', ns: '', id: '1', values: { messages: { version: 1 } } },
    },
  ]
  await using journal = await store.open('langgraph.t.0')
  await journal.append(theirs)
  await using list = await store.open('langgraph.t.0.messages')
  await list.append({ role: 'user', content: 'theirs' })
  assert.equal(await saver.getTuple(thread), undefined)
  await put(saver, 'ours')
  assert.equal((await all(saver.list({}))).length, 1)
  await saver.deleteThread('t')
  assert.deepEqual(await names(store), ['langgraph.t.0', 'langgraph.t.0.messages'])
  for (const conversation of [journal, list]) await conversation.catchUp()
  assert.deepEqual(
    [await journal.messages(), await list.messages()],
    [theirs, [{ role: 'user', content: 'theirs' }]],
  )
})

const strange: [name: string, message: Message][] = [
  ['of no record', { role: 'user', content: 'Hello' }],
  [
    "of Python's record",
    { role: 'system', content: 'thread t', langgraph: { kind: 'thread', thread: 't' } },
  ],
  [
    'of a record of another kind',
    {
      role: 'system',
      content: 'removed',
      record: { kind: 'removed', namespace: '', id: '1', checkpoints: [] },
    },
  ],
  [
    'of a checkpoint without values',
    {
      role: 'system',
      content: 'checkpoint',
      record: { kind: 'checkpoint', thread: 't', namespace: '', id: '1' },
    },
  ],
  [
    'of writes that are no list',
    {
      role: 'system',
      content: 'writes',
      record: { kind: 'writes', namespace: '', id: '1', task: 'x', writes: {} },
    },
  ],
]

for (const [name, message] of strange) {
  test(`a message ${name} is refused, and nothing is written to its thread`, async t => {
    const { store, saver } = await saverOf(t)
    const config = await put(saver, 'before')
    const before = await names(store)
    await using records = await store.open('langgraph-js.t.0')
    await records.append(message)
    await using list = await store.open('langgraph-js.t.0.messages')
    const versions = [await records.version(), await list.version()]
    const corrupt = {
      name: 'UndertextError',
      code: 'corrupt',
      message: /no record of this saver's/,
    }
    // A second time too: the first may not have gone past it.
    for (let i = 0; i < 2; ++i) {
      await assert.rejects(put(saver, 'after'), corrupt)
      await assert.rejects(saver.putWrites(config, [['x', 1]], 'task'), corrupt)
      await assert.rejects(saver.getTuple(thread), corrupt)
      await assert.rejects(all(saver.list({})), corrupt)
    }
    for (const conversation of [records, list]) await conversation.catchUp()
    assert.deepEqual([await records.version(), await list.version()], versions)
    assert.deepEqual(await names(store), before)
  })
}

// Reads from the store until it is told to end; Node itself has no SQLite before 22.
const reading = `
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None)
other.execute("BEGIN")
other.execute("select count(*) from sqlite_master").fetchall()
print("reads", flush=True)
sys.stdin.read()
`

async function read(t: TestContext, path: string): Promise<() => Promise<void>> {
  const child = spawn('python3', ['-c', reading, path], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => child.kill())
  await once(child.stdout, 'data')
  return async () => {
    child.stdin.end()
    await once(child, 'exit')
  }
}

// In another process: closing a file here would take away the locks that SQLite has on it.
function holds(folder: string, word: string): boolean {
  return spawnSync('grep', ['-rqF', word, folder]).status === 0
}

const noPython =
  spawnSync('python3', ['-c', 'import sqlite3']).status === 0
    ? false
    : 'there is no python3 with sqlite3'

test('a thread whose bytes others hold is deleted at once, and asked to be deleted again until no byte of it is left', {
  skip: noPython,
}, async t => {
  const folder = await mkdtemp(join(tmpdir(), 'undertext-langgraph-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'store.db')
  const { store, saver } = await saverOf(t, `sqlite:${path}`, 1)
  await put(saver, 'SECRETWORD')
  const end = await read(t, path)
  const unavailable = { name: 'UndertextError', code: 'unavailable' }
  await assert.rejects(saver.deleteThread('t'), unavailable)
  assert.deepEqual(await names(store), [])
  assert.equal(await saver.getTuple(thread), undefined)
  await assert.rejects(saver.deleteThread('t'), unavailable)
  assert.ok(holds(folder, 'SECRETWORD'))
  // It may begin again meanwhile.
  await put(saver, 'another')
  await assert.rejects(saver.deleteThread('t'), unavailable)
  await end()
  await saver.deleteThread('t')
  assert.ok(!holds(folder, 'SECRETWORD'))
  await saver.deleteThread('never')
})
