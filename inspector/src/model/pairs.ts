// Tool calls and the messages that answer them. A message that is nothing but answers to one earlier message is shown inside of that one.

import type { Row } from '../api/types';
import { blocksOf, type Block } from './blocks';

// Answers further away than this from their call are shown where they stand.
export const foldReach = 64;

export type ResultBlock = Extract<Block, { kind: 'result' }>;

export interface Folding {
  answers: Map<number, Map<string, { row: Row; block: ResultBlock }>>; // index of the caller -> call id -> answer
  foldedInto: Map<number, number>; // index of the answer -> index of the caller
}

// Of rows in the order of their indices; there may be gaps.
export function fold(rows: Iterable<Row>): Folding {
  const callers = new Map<string, number>(); // call id -> index of the last message that made it
  const folding: Folding = { answers: new Map(), foldedInto: new Map() };
  for (const row of rows) {
    if (row.index === null) continue;
    const blocks = blocksOf(row.message);
    const caller = callerOf(blocks, callers, folding);
    if (caller !== null && row.index - caller <= foldReach) foldInto(folding, caller, row, blocks as ResultBlock[]);
    for (const block of blocks) if (block.kind === 'call' && block.id) callers.set(block.id, row.index);
  }
  return folding;
}

// The one message whose calls all of these blocks answer, each for the first time; else null.
function callerOf(blocks: Block[], callers: Map<string, number>, folding: Folding): number | null {
  let caller: number | null = null;
  for (const block of blocks) {
    if (block.kind !== 'result') return null;
    const of = callers.get(block.callId);
    if (of === undefined || (caller !== null && of !== caller) || folding.answers.get(of)?.has(block.callId)) return null;
    caller = of;
  }
  return caller;
}

function foldInto(folding: Folding, caller: number, row: Row, blocks: ResultBlock[]): void {
  const answers = folding.answers.get(caller) ?? new Map();
  for (const block of blocks) answers.set(block.callId, { row, block });
  folding.answers.set(caller, answers);
  if (row.index !== null) folding.foldedInto.set(row.index, caller);
}
