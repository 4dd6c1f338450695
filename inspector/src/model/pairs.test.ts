import { expect, test } from 'vitest'
import type { Block, Row } from '../api/types'
import { fold, foldReach } from './pairs'
import { rowOf } from './row_of'

const call = (index: number, ...ids: string[]) =>
  rowOf(
    index,
    'assistant',
    ids.map(callId => ({ kind: 'call', callId, name: 't', arguments: {} })),
  )
const result = (callId: string): Block => ({
  kind: 'result',
  callId,
  blocks: [{ kind: 'text', text: callId }],
})
const answer = (index: number, ...ids: string[]) => rowOf(index, 'tool', ids.map(result))
const folded = (rows: Row[]) => [...fold(rows).foldedInto]

test('answers are folded into the message that asked, parallel ones too', () => {
  expect(folded([call(0, 'a', 'b'), answer(1, 'a'), answer(2, 'b')])).toEqual([
    [1, 0],
    [2, 0],
  ])
  expect(folded([call(0, 'a', 'b'), answer(1, 'a', 'b')])).toEqual([[1, 0]])
})

test('an answer without its call, or a second answer, stands by itself', () => {
  expect(folded([answer(0, 'a')])).toEqual([])
  expect(folded([call(0, 'a'), answer(1, 'a'), answer(2, 'a')])).toEqual([[1, 0]])
  expect(folded([call(0, ''), answer(1, '')])).toEqual([])
})

test('an id that is used again belongs to the newer call', () => {
  expect(folded([call(0, 'a'), answer(1, 'a'), call(2, 'a'), answer(3, 'a')])).toEqual([
    [1, 0],
    [3, 2],
  ])
})

test('an answer far away is shown where it stands', () => {
  expect(folded([call(0, 'a'), answer(foldReach + 1, 'a')])).toEqual([])
})

test('a turn that says more than the answers stands by itself', () => {
  expect(
    folded([call(0, 'a'), rowOf(1, 'user', [result('a'), { kind: 'text', text: 'and?' }])]),
  ).toEqual([])
})

test('an answer in the message of its call belongs to that call, and the message stays', () => {
  const blocks: Block[] = [
    { kind: 'call', callId: 'a', name: 'web_search', arguments: {}, byProvider: true },
    result('a'),
    { kind: 'text', text: 'so' },
  ]
  const folding = fold([rowOf(0, 'assistant', blocks)])
  expect(folding.answers.get(0)?.get('a')).toEqual({ row: null, block: blocks[1] })
  expect([...folding.foldedInto]).toEqual([])
})
