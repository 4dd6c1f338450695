import { expect, test } from 'vitest'
import type { LedgerTurn, RequestRecord } from '../api/types'
import { waterfall } from './waterfall'

const record = (number: number, durationMs?: number, firstByteMs?: number) =>
  ({ number, durationMs, firstByteMs }) as RequestRecord
const turn = (number: number, sent: number, read: number, missed: number) =>
  ({ number, sent, read, missed, dollars: 0.5 }) as LedgerTurn

test('each turn begins where the one before it ended', () => {
  const { falls, wholeMs } = waterfall(
    [record(1, 1000, 200), record(2), record(3, 3000, 9000)],
    [turn(1, 10, 0, 0), turn(3, 100, 25, 40)],
  )
  expect(wholeMs).toBe(4000)
  expect(
    falls.map(({ number, from, firstByte, until }) => [number, from, firstByte, until]),
  ).toEqual([
    [1, 0, 0.05, 0.25],
    [3, 0.25, 1, 1],
  ])
  expect(falls[1]).toMatchObject({ dollars: 0.5, readShare: 0.25, missed: 40 })
})

test('of a request without a turn nothing is known', () => {
  expect(waterfall([record(1, 5)], []).falls[0]).toMatchObject({ dollars: null, readShare: null })
  expect(waterfall([], [])).toEqual({ falls: [], wholeMs: 0 })
})
