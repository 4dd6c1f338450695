// What the door for Node costs, beside what there is without it. Prints a JSON line for each: nanoseconds of CPU time a call, collecting garbage included, the least of 9 rounds:
// what the machine does besides only adds.
//   UNDERTEXT_NODE_ADDON=… node --expose-gc door.mjs CALLS_RUN LANGCHAIN_FOLDER
import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { inMemory, MemoryConversation } from '../../bindings/node/dist/src/index.js'

const [callsRun, langchainFolder] = process.argv.slice(2)
const count = 100_000
const message = i => ({
  role: i % 2 === 0 ? 'user' : 'assistant',
  content: `Message ${i}: a line of ordinary length, as they are sent a thousand times a day.`,
})

async function measure(what, how, calls, call) {
  let least = Infinity
  for (let round = 0; round < 9; ++round) {
    globalThis.gc?.()
    const start = process.cpuUsage()
    for (let i = 0; i < calls; ++i) {
      const result = call(i)
      if (result instanceof Promise) await result
    }
    const { user, system } = process.cpuUsage(start)
    least = Math.min(least, ((user + system) * 1000) / calls)
  }
  console.log(JSON.stringify({ what, how, ns: Math.round(least) }))
}

// The design of the documents: the array is copied, by way of JSON, whenever an operation begins a batch, and what is read is copied too.
class DeepCopies {
  messages = []
  append(one) {
    this.messages.push(JSON.parse(JSON.stringify(one)))
  }
  replace(index, one) {
    this.snapshot = JSON.parse(JSON.stringify(this.messages))
    this.messages[index] = JSON.parse(JSON.stringify(one))
  }
  last(role, n) {
    return JSON.parse(JSON.stringify(this.messages.filter(each => each.role === role).slice(-n)))
  }
}

const native = JSON.parse(execFileSync(callsRun))
console.log(JSON.stringify({ what: 'append', how: 'C++, with its JSON', ns: native.append }))
console.log(
  JSON.stringify({
    what: 'last 3 user messages of 100,000',
    how: 'C++, with its JSON',
    ns: native.last3,
  }),
)
await measure('append', 'JSON.stringify and JSON.parse of the message alone', 20_000, i =>
  JSON.parse(JSON.stringify(message(i))),
)

const now = new MemoryConversation()
await measure('append', 'MemoryConversation', 20_000, i => void now.append(message(i)))
const later = inMemory()
await measure('append', 'Conversation in memory (awaited)', 20_000, i => later.append(message(i)))

// How long the call itself holds the loop; what is written later is written in turns of the loop. By the clock: other threads have nothing to do with it.
const withTools = i =>
  i % 2 === 0
    ? {
        role: 'assistant',
        content: '',
        toolCalls: [
          {
            id: `call_${i}`,
            type: 'function',
            function: { name: 'read', arguments: `{"line":${i}}` },
          },
        ],
      }
    : { role: 'tool', toolCallId: `call_${i - 1}`, content: [{ type: 'text', text: `line ${i}` }] }
async function measureCall(what, how, make) {
  let least = Infinity
  for (let round = 0; round < 9; ++round) {
    const conversation = inMemory()
    const messages = make()
    globalThis.gc?.()
    const start = process.hrtime.bigint()
    const appended = conversation.append(messages)
    least = Math.min(least, Number(process.hrtime.bigint() - start))
    await appended
    await conversation.close()
  }
  console.log(JSON.stringify({ what, how, ns: least }))
}
for (const n of [1_000, 4_000, 20_000]) {
  const numbers = [...Array(n).keys()]
  await measureCall(
    `the call that appends ${n} messages`,
    'Conversation in memory, a list of words',
    () => numbers.map(message),
  )
  await measureCall(
    `the call that appends ${n} messages`,
    'Conversation in memory, a list with tool calls',
    () => numbers.map(withTools),
  )
  await measureCall(
    `the call that appends ${n} messages`,
    'Conversation in memory, an iterator',
    () => numbers.map(withTools).values(),
  )
}

const copies = new DeepCopies()
await measure('append', 'array with JSON deep copies', 20_000, i => void copies.append(message(i)))

const long = new MemoryConversation()
const promised = inMemory()
const array = new DeepCopies()
for (let i = 0; i < count; i += 1000) {
  const some = [...Array(1000).keys()].map(j => message(i + j))
  long.append(some)
  await promised.append(some)
  array.messages.push(...some)
}
const last = 'last 3 user messages of 100,000'
await measure(
  last,
  'MemoryConversation',
  5_000,
  () => void long.messages({ role: 'user', last: 3 }),
)
await measure(last, 'Conversation in memory (awaited)', 5_000, () =>
  promised.messages({ role: 'user', last: 3 }),
)
await measure(last, 'array with JSON deep copies', 20, () => void array.last('user', 3))

const replace = 'replace one message of 100,000'
await measure(replace, 'MemoryConversation', 2_000, i => void long.replace(i, message(i)))
await measure(replace, 'array with JSON deep copies', 3, i => void array.replace(i, message(i)))

const langchain = await import(
  pathToFileURL(createRequire(`${langchainFolder}/`).resolve('@langchain/core/messages'))
)
const theirs = [...Array(count).keys()].map(i =>
  i % 2 === 0
    ? new langchain.HumanMessage(message(i).content)
    : new langchain.AIMessage(message(i).content),
)
await measure(
  last,
  '@langchain/core filterMessages, then slice',
  5,
  () => void langchain.filterMessages(theirs, { includeTypes: ['human'] }).slice(-3),
)
// Not of all: it would take minutes.
const some = theirs.slice(0, 10_000)
const shorter = new MemoryConversation()
shorter.append([...Array(some.length).keys()].map(message))
const trim = 'all but the last 100 of 10,000 hidden'
await measure(trim, '@langchain/core trimMessages (each counts 1)', 1, async () => {
  await langchain.trimMessages(some, {
    maxTokens: 100,
    strategy: 'last',
    tokenCounter: list => list.length,
  })
})
await measure(trim, 'MemoryConversation: truncate, and undo', 2_000, () => {
  shorter.truncate({ keepLast: 100 })
  shorter.undo()
})
