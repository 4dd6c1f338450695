// The graph of versions as a drawing: one column a version, one lane a batch, curves to the version that was brought back.

import type { VersionEntry } from '../api/types'

export type Kind = 'append' | 'edit' | 'compress' | 'expand' | 'batch' | 'back' | 'mark' | 'start'

const kinds: Record<string, Kind> = {
  APPEND: 'append',
  COMPRESS: 'compress',
  EXPAND: 'expand',
  START_BATCH: 'batch',
  END_BATCH: 'back',
  ROLLBACK: 'back',
  UNDO: 'back',
  REDO: 'back',
  RESTORE: 'back',
  MARK: 'mark',
  UNMARK: 'mark',
}

export function kindOf(operation: string | null): Kind {
  return operation === null ? 'start' : (kinds[operation] ?? 'edit')
}

export interface Size {
  column: number
  lane: number
  top: number
  lanes: number // deeper batches share the last one
}

export interface Node {
  version: number
  x: number
  y: number
  kind: Kind
  entry: VersionEntry
}

export interface Edge {
  from: number // versions
  to: number
  path: string
}

export interface Drawing {
  nodes: Node[]
  steps: Edge[] // from a version to the next
  returns: Edge[] // from a version to the one whose state it brought back
  width: number
  height: number
}

// Of entries in rising order of their versions, without gaps; the first one stands in column 0.
export function draw(entries: VersionEntry[], size: Size): Drawing {
  const first = entries[0]?.version ?? 0
  const x = (version: number) => (version - first + 0.5) * size.column
  const y = (batch: number) => size.top + Math.min(batch, size.lanes - 1) * size.lane
  const nodes = entries.map(entry => ({
    version: entry.version,
    x: x(entry.version),
    y: y(entry.batchIndex),
    kind: kindOf(entry.operation),
    entry,
  }))
  const steps: Edge[] = []
  const returns: Edge[] = []
  nodes.forEach((node, i) => {
    const last = nodes[i - 1]
    if (last) steps.push({ from: last.version, to: node.version, path: step(last, node) })
    const to = broughtBack(nodes, i)
    if (to) returns.push({ from: node.version, to: to.version, path: arc(node, to, size.top) })
  })
  const lanes = Math.min(Math.max(0, ...entries.map(entry => entry.batchIndex)), size.lanes - 1)
  return {
    nodes,
    steps,
    returns,
    width: entries.length * size.column,
    height: size.top + (lanes + 0.5) * size.lane,
  }
}

// The version whose state this one brought back: the one it names, or the last one of the batch that was returned to.
function broughtBack(nodes: Node[], at: number): Node | undefined {
  const { entry } = nodes[at]!
  if (entry.restores !== undefined) return nodes[entry.restores - nodes[0]!.version]
  if (entry.operation !== 'ROLLBACK' && entry.operation !== 'END_BATCH') return undefined
  for (let i = at - 1; i >= 0; --i)
    if (nodes[i]!.entry.batchIndex === entry.batchIndex) return nodes[i]
  return undefined
}

function step(from: Node, to: Node): string {
  const middle = (from.x + to.x) / 2
  return from.y === to.y
    ? `M${from.x} ${from.y}H${to.x}`
    : `M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${to.x} ${to.y}`
}

// Above the lanes, the higher the further it goes, as far as there is room.
function arc(from: Node, to: Node, top: number): string {
  const rise = Math.min(top - 6, 10 + Math.abs(from.x - to.x) / 8)
  const peak = Math.max(2, Math.min(from.y, to.y) - rise)
  return `M${from.x} ${from.y - 6}C${from.x} ${peak} ${to.x} ${peak} ${to.x} ${to.y - 6}`
}

// A sentence about a version, for people who hear the timeline.
export function describe(entry: VersionEntry): string {
  const what = entry.operation ?? 'the empty conversation'
  const back = entry.restores === undefined ? '' : `, back to version ${entry.restores}`
  const note = entry.description ? `: ${entry.description}` : ''
  return `version ${entry.version}, ${what}${back}, batch ${entry.batchIndex}, ${entry.messageCount} messages, ${entry.tokens} tokens${note}`
}
