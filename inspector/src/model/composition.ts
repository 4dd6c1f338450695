// What a context is made of: the tokens of its messages by kind, results by their tool, and over its turns. A message's tokens are shared among its blocks by their
// length, since they are counted for the message as a whole.

import type { Block, Row } from '../api/types'
import { argumentsText, textIn, toolName } from './blocks'

export const kinds = [
  'system',
  'user',
  'assistant',
  'reasoning',
  'calls',
  'results',
  'summaries',
] as const
export type Kind = (typeof kinds)[number]

export interface ToolShare {
  name: string
  results: number
  tokens: number
  repeated: number // tokens of results whose call was made again later, with the same arguments
}

export interface Composition {
  total: number
  byKind: Record<Kind, number>
  tools: ToolShare[] // the largest first
  turns: { index: number; byKind: Record<Kind, number> }[] // what stood in the context when each prompt of the user's was reached, and at the end
}

const none = (): Record<Kind, number> => ({
  system: 0,
  user: 0,
  assistant: 0,
  reasoning: 0,
  calls: 0,
  results: 0,
  summaries: 0,
})

function kindOf(row: Row, block: Block): Kind {
  if (block.kind === 'call') return 'calls'
  if (block.kind === 'result') return 'results'
  if (row.standsFor.length > 0) return 'summaries'
  if (block.kind === 'reasoning') return 'reasoning'
  return row.role === 'tool' ? 'results' : row.role
}

interface Made {
  name: string
  key: string // the same for the same call
}

// Of rows in the order of their indices.
export function composition(rows: Row[]): Composition {
  const calls = new Map<string, Made>()
  const last = new Map<string, string>() // key -> id of the last call of it
  for (const row of rows)
    for (const block of row.blocks) {
      if (block.kind !== 'call' || !block.callId) continue
      const made = { name: toolName(block), key: `${toolName(block)} ${argumentsText(block)}` }
      calls.set(block.callId, made)
      last.set(made.key, block.callId)
    }
  const found: Composition = { total: 0, byKind: none(), tools: [], turns: [] }
  const tools = new Map<string, ToolShare>()
  for (const row of rows) {
    const isPrompt = row.role === 'user' && row.blocks.some(block => block.kind === 'text')
    if (isPrompt && found.total > 0)
      found.turns.push({ index: row.index ?? 0, byKind: { ...found.byKind } })
    found.total += row.tokens
    const parts = row.blocks.length > 0 ? row.blocks : [{ kind: 'text', text: '' } as Block]
    const sizes = parts.map(block => 1 + textIn([block]).length)
    const whole = sizes.reduce((sum, size) => sum + size, 0)
    parts.forEach((block, i) => {
      const tokens = (row.tokens * (sizes[i] ?? 0)) / whole
      found.byKind[kindOf(row, block)] += tokens
      if (block.kind !== 'result') return
      const made = calls.get(block.callId ?? '')
      const name = made?.name ?? block.name ?? 'tool'
      const tool = tools.get(name) ?? { name, results: 0, tokens: 0, repeated: 0 }
      tool.results += 1
      tool.tokens += tokens
      if (made && last.get(made.key) !== block.callId) tool.repeated += tokens
      tools.set(name, tool)
    })
  }
  if (rows.length > 0)
    found.turns.push({ index: rows.at(-1)?.index ?? 0, byKind: { ...found.byKind } })
  found.tools = [...tools.values()].sort((a, b) => b.tokens - a.tokens)
  return found
}

// For each kind, the sum of it and of those before it, turn by turn.
export function stackedKinds(turns: Composition['turns']): number[][] {
  const sums = turns.map(() => 0)
  return kinds.map(kind => turns.map(({ byKind }, i) => (sums[i] = (sums[i] ?? 0) + byKind[kind])))
}
