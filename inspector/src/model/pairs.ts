// Tool calls and the results that answer them. A message that is nothing but answers to one earlier message is shown inside of that one,
// and so is the answer that a message holds itself, as those of tools that the provider runs.

import type { Block, ResultBlock, Row } from '../api/types'

// Answers further away than this from their call are shown where they stand.
export const foldReach = 64

export interface Answer {
  row: Row | null // null: the message of the call
  block: ResultBlock
}

export interface Folding {
  answers: Map<number, Map<string, Answer>> // index of the caller -> call id -> answer
  foldedInto: Map<number, number> // index of the answer -> index of the caller
}

// Of rows in the order of their indices; there may be gaps.
export function fold(rows: Iterable<Row>): Folding {
  const callers = new Map<string, number>() // call id -> index of the last message that made it
  const folding: Folding = { answers: new Map(), foldedInto: new Map() }
  for (const row of rows) {
    if (row.index === null) continue
    const caller = callerOf(row.blocks, callers, folding)
    if (caller !== null && row.index - caller <= foldReach) {
      folding.foldedInto.set(row.index, caller)
      for (const block of row.blocks) answer(folding, caller, row, block)
    }
    for (const block of row.blocks) {
      if (block.kind === 'call' && block.callId) callers.set(block.callId, row.index)
      if (block.kind === 'result' && callers.get(block.callId ?? '') === row.index)
        answer(folding, row.index, null, block)
    }
  }
  return folding
}

// The one message whose calls all of these blocks answer, each for the first time; else null.
function callerOf(blocks: Block[], callers: Map<string, number>, folding: Folding): number | null {
  let caller: number | null = null
  for (const block of blocks) {
    if (block.kind !== 'result' || !block.callId) return null
    const of = callers.get(block.callId)
    if (
      of === undefined ||
      (caller !== null && of !== caller) ||
      folding.answers.get(of)?.has(block.callId)
    )
      return null
    caller = of
  }
  return caller
}

function answer(folding: Folding, caller: number, row: Row | null, block: Block): void {
  if (block.kind !== 'result' || !block.callId) return
  const answers = folding.answers.get(caller) ?? new Map<string, Answer>()
  if (!answers.has(block.callId)) answers.set(block.callId, { row, block })
  folding.answers.set(caller, answers)
}
