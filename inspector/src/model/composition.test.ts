import { expect, test } from 'vitest'
import type { Block, Row } from '../api/types'
import { composition, kinds, stackedKinds } from './composition'

let index = 0
const row = (role: Row['role'], tokens: number, blocks: Block[], standsFor: number[] = []): Row =>
  ({
    index,
    ordinal: index++,
    time: 0,
    tokens,
    marks: [],
    standsFor,
    role,
    blocks,
    message: {},
  }) as unknown as Row
const text = (said: string): Block => ({ kind: 'text', text: said })
const call = (callId: string, name: string, path: string): Block => ({
  kind: 'call',
  callId,
  name,
  arguments: { path },
})
const result = (callId: string, said: string): Block => ({
  kind: 'result',
  callId,
  blocks: [text(said)],
})

test('tokens are those of the messages, by kind and by tool', () => {
  const found = composition([
    row('system', 100, [text('be good')]),
    row('user', 10, [text('look')]),
    row('assistant', 20, [call('a', 'read', 'x.c')]),
    row('tool', 500, [result('a', 'first')]),
    row('assistant', 20, [call('b', 'grep', 'x')]),
    row('tool', 50, [result('b', 'found')]),
    row('assistant', 20, [call('c', 'read', 'x.c')]),
    row('tool', 400, [result('c', 'second')]),
    row('user', 30, [text('they talked')], [1, 2]),
  ])
  expect(found.total).toBe(1150)
  expect(kinds.map(kind => Math.round(found.byKind[kind]))).toEqual([100, 10, 0, 0, 60, 950, 30])
  expect(found.tools).toEqual([
    { name: 'read', results: 2, tokens: 900, repeated: 500 },
    { name: 'grep', results: 1, tokens: 50, repeated: 0 },
  ])
})

test('a message of several blocks is shared among them, and nothing is lost', () => {
  const found = composition([
    row('assistant', 100, [{ kind: 'reasoning', text: 'x'.repeat(49) }, text('y'.repeat(149))]),
  ])
  expect(found.byKind.reasoning).toBeCloseTo(25)
  expect(found.byKind.assistant).toBeCloseTo(75)
  expect(composition([row('user', 7, [])]).byKind.user).toBe(7)
})

test('each prompt ends a turn, and the last one is the whole', () => {
  const found = composition([
    row('user', 1, [text('a')]),
    row('assistant', 2, [text('b')]),
    row('user', 4, [text('c')]),
    row('assistant', 8, [text('d')]),
  ])
  expect(found.turns.map(turn => turn.byKind.user + turn.byKind.assistant)).toEqual([3, 15])
  expect(stackedKinds(found.turns).at(-1)).toEqual([3, 15])
  expect(composition([]).turns).toEqual([])
})
