// Turns one below the other, each where the one before it ended: the time that was spent waiting for models, without the pauses between turns.

import type { LedgerTurn, RequestRecord } from '../api/types'

export interface Fall {
  number: number
  from: number // of the whole, 0…1
  firstByte: number
  until: number
  durationMs: number
  dollars: number | null // null: no price is known
  readShare: number | null // of what was sent, from the provider's cache; null: nothing is known
  missed: number // tokens that should have been read from it
}

// `records` with the oldest first.
export function waterfall(
  records: readonly RequestRecord[],
  turns: readonly LedgerTurn[],
): { falls: Fall[]; wholeMs: number } {
  const byNumber = new Map(turns.map(turn => [turn.number, turn]))
  const timed = records.filter(record => (record.durationMs ?? 0) > 0)
  const wholeMs = timed.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0)
  let at = 0
  const falls = timed.map(({ number, durationMs = 0, firstByteMs = 0 }) => {
    const turn = byNumber.get(number)
    const from = at
    at += durationMs
    return {
      number,
      from: from / wholeMs,
      firstByte: (from + Math.min(firstByteMs, durationMs)) / wholeMs,
      until: at / wholeMs,
      durationMs,
      dollars: turn?.dollars ?? null,
      readShare: turn && turn.sent > 0 ? turn.read / turn.sent : null,
      missed: turn?.missed ?? 0,
    }
  })
  return { falls, wholeMs }
}
