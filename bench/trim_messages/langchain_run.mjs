// Times LangChain's trimMessages on the first n messages of a conversation, for each n until one call takes too long.
//
//     node langchain_run.mjs FILE SECONDS_MAX N…        with @langchain/core in a node_modules above the working folder
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(process.cwd() + '/')
const core = await import(pathToFileURL(require.resolve('@langchain/core/messages')))
const { AIMessage, HumanMessage, SystemMessage, ToolMessage, trimMessages } = core.default ?? core
const { version } = require('@langchain/core/package.json')

function made(message) {
  const { role, content } = message
  if (role === 'system') return new SystemMessage(content)
  if (role === 'user') return new HumanMessage(content)
  if (role === 'tool') return new ToolMessage({ content, tool_call_id: message.tool_call_id })
  const tool_calls = (message.tool_calls ?? []).map(c => ({
    id: c.id,
    name: c.function.name,
    args: JSON.parse(c.function.arguments),
  }))
  return new AIMessage({ content, tool_calls })
}

function count(messages) {
  let tokens = 0
  for (const m of messages) tokens += Math.floor(m.content.length / 4)
  return tokens
}

const [path, secondsMax, ...sizes] = process.argv.slice(2)
const everything = readFileSync(path, 'utf8')
  .split('\n')
  .filter(Boolean)
  .map(line => made(JSON.parse(line)))
for (const n of sizes.map(Number)) {
  const messages = everything.slice(0, n)
  const tokensMax = Math.floor(count(messages) / 2)
  const times = []
  let kept
  while (times.length < 5 && times.reduce((a, b) => a + b, 0) < 3) {
    const start = performance.now()
    kept = await trimMessages(messages, {
      maxTokens: tokensMax,
      tokenCounter: count,
      strategy: 'last',
      includeSystem: true,
      startOn: 'human',
    })
    times.push((performance.now() - start) / 1000)
  }
  times.sort((a, b) => a - b)
  console.log(
    JSON.stringify({
      by: '@langchain/core (Node)',
      version,
      n,
      seconds: times[Math.floor(times.length / 2)],
      kept: kept.length,
      tokens: count(kept),
      tokens_max: tokensMax,
    }),
  )
  if (times[times.length - 1] > Number(secondsMax)) break
}
