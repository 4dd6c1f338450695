// How a store grows with the checkpoints of one chat, beside LangGraph's own savers.   growth.js [TURNS]
// A turn of this graph is three checkpoints and two messages. LangGraph's saver for SQLite is run with the SQLite of Node (22.13 or later).
import { AIMessage, HumanMessage } from '@langchain/core/messages'
import {
  END,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from 'undertext'
import { UndertextSaver } from 'undertext/langgraph'

const turns = Number(process.argv[2] ?? 334)
const words =
  'the weather in Lyon is mild today and the forecast for the coming week promises some rain in the evenings with clear mornings'.split(
    ' ',
  )

// Some 400 characters, never the same twice.
function paragraph(seed: number): string {
  return (
    Array.from(
      { length: 70 },
      (_, i) => words[(seed * 31 + i * (7 + (seed % 5))) % words.length],
    ).join(' ') + ` ${seed}`
  )
}

async function chat(
  saver: BaseCheckpointSaver,
): Promise<{ checkpoints: number; messages: number; seconds: number }> {
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('answer', ({ messages }) => ({
      messages: [new AIMessage({ content: paragraph(messages.length), id: randomUUID() })],
    }))
    .addEdge(START, 'answer')
    .addEdge('answer', END)
    .compile({ checkpointer: saver })
  const config = { configurable: { thread_id: 'chat' } }
  const started = performance.now()
  for (let turn = 0; turn < turns; ++turn)
    await graph.invoke(
      { messages: [new HumanMessage({ content: paragraph(2 * turn), id: randomUUID() })] },
      config,
    )
  const seconds = (performance.now() - started) / 1000
  let checkpoints = 0
  for await (const _ of saver.list(config)) ++checkpoints
  return { checkpoints, messages: (await graph.getState(config)).values.messages.length, seconds }
}

function report(
  name: string,
  { checkpoints, messages, seconds }: Awaited<ReturnType<typeof chat>>,
  bytes: number,
): void {
  console.log(
    `${name.padEnd(24)} ${checkpoints} checkpoints, ${messages} messages: ${(bytes / 1e6).toFixed(1)} MB, ${((seconds * 1000) / turns).toFixed(1)} ms a turn`,
  )
}

async function sizeOf(path: string): Promise<number> {
  const sizes = await Promise.all(
    ['', '-wal'].map(async suffix => (await stat(path + suffix).catch(() => undefined))?.size ?? 0),
  )
  return sizes.reduce((a, b) => a + b)
}

type Statement = Record<'get' | 'all' | 'run', (...values: unknown[]) => unknown>

// The few methods of better-sqlite3 that SqliteSaver calls; there undefined is NULL.
function sqliteOfNode(path: string): ConstructorParameters<typeof SqliteSaver>[0] | undefined {
  let sqlite
  try {
    sqlite = createRequire(import.meta.url)('node:sqlite') as {
      DatabaseSync: new (
        path: string,
      ) => { exec(sql: string): void; prepare(sql: string): Statement; close(): void }
    }
  } catch {
    return undefined
  }
  const database = new sqlite.DatabaseSync(path)
  const prepare = (sql: string): Statement => {
    const statement = database.prepare(sql)
    const bound =
      (name: keyof Statement) =>
      (...values: unknown[]) =>
        statement[name](...values.map(value => value ?? null))
    return { get: bound('get'), all: bound('all'), run: bound('run') }
  }
  return {
    exec: (sql: string) => database.exec(sql),
    prepare,
    pragma: (sql: string) => database.exec(`PRAGMA ${sql}`),
    close: () => database.close(),
    transaction:
      (work: (...given: unknown[]) => void) =>
      (...given: unknown[]) => {
        database.exec('BEGIN')
        work(...given)
        database.exec('COMMIT')
      },
  } as unknown as ConstructorParameters<typeof SqliteSaver>[0]
}

const folder = await mkdtemp(join(tmpdir(), 'undertext-growth-'))
try {
  const path = join(folder, 'undertext.db')
  const store = await openStore(`sqlite:${path}`)
  const saver = new UndertextSaver(store)
  const made = await chat(saver)
  await saver.close()
  await store.close()
  report('undertext/langgraph', made, await sizeOf(path))

  const database = sqliteOfNode(join(folder, 'theirs.db'))
  if (database === undefined)
    console.log('SqliteSaver              skipped: this Node has no SQLite')
  else {
    const theirs = await chat(new SqliteSaver(database))
    database.close()
    report('SqliteSaver', theirs, await sizeOf(join(folder, 'theirs.db')))
  }

  const memory = new MemorySaver()
  const inMemory = await chat(memory)
  let bytes = 0
  const measure = (value: unknown): void => {
    if (value instanceof Uint8Array) bytes += value.length
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(measure)
  }
  measure([memory.storage, memory.writes])
  report('MemorySaver', inMemory, bytes)
} finally {
  await rm(folder, { recursive: true })
}
