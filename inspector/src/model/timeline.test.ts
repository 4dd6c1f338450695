import { expect, test } from 'vitest'
import type { OperationName, VersionEntry } from '../api/types'
import { describe, draw, kindOf } from './timeline'

const size = { column: 10, lane: 20, top: 30, lanes: 3 }
const entry = (
  version: number,
  operation: OperationName | null,
  batchIndex: number,
  restores?: number,
): VersionEntry => ({
  version,
  parent: version ? version - 1 : null,
  operation,
  batchIndex,
  timestamp: 0,
  description: null,
  messageCount: 1,
  tokens: 2,
  ...(restores === undefined ? {} : { restores }),
})

test('a version is a column and a batch is a lane', () => {
  const drawing = draw([entry(0, null, 0), entry(1, 'APPEND', 0), entry(2, 'CLEAR', 1)], size)
  expect(drawing.nodes.map(node => [node.x, node.y])).toEqual([
    [5, 30],
    [15, 30],
    [25, 50],
  ])
  expect(drawing.steps.map(step => [step.from, step.to])).toEqual([
    [0, 1],
    [1, 2],
  ])
  expect(drawing.width).toBe(30)
})

test('batches too deep for the drawing share the last lane', () => {
  expect(draw([entry(0, 'CLEAR', 9)], size).nodes[0]?.y).toBe(70)
})

test('what brings a version back is joined to it, when both are drawn', () => {
  const drawing = draw(
    [
      entry(4, 'APPEND', 0),
      entry(5, 'CLEAR', 1),
      entry(6, 'UNDO', 0, 4),
      entry(7, 'RESTORE', 0, 2),
    ],
    size,
  )
  expect(drawing.returns.map(edge => [edge.from, edge.to])).toEqual([[6, 4]])
})

test('going back to a batch is joined to the last version of it', () => {
  const drawing = draw(
    [
      entry(0, null, 0),
      entry(1, 'APPEND', 0),
      entry(2, 'START_BATCH', 1),
      entry(3, 'APPEND', 1),
      entry(4, 'ROLLBACK', 0),
    ],
    size,
  )
  expect(drawing.returns.map(edge => [edge.from, edge.to])).toEqual([[4, 1]])
})

test('no versions make an empty drawing', () => {
  expect(draw([], size).nodes).toEqual([])
})

test('operations are of few kinds, and a version can be told in words', () => {
  expect([kindOf(null), kindOf('TRUNCATE'), kindOf('UNDO'), kindOf('COMPRESS')]).toEqual([
    'start',
    'edit',
    'back',
    'compress',
  ])
  expect(describe(entry(6, 'UNDO', 0, 4))).toBe(
    'version 6, UNDO, back to version 4, batch 0, 1 messages, 2 tokens',
  )
})
