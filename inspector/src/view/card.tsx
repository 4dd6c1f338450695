// One message of the transcript.

import type { Row } from '../api/types';
import { blocksOf, roleClass } from '../model/blocks';
import { Actions, Asked } from './actions';
import { Blocks, Fold, type Answer } from './blocks';
import { Originals } from './originals';
import { count, plural, when } from './words';

export function Card({ id, row, answers, isHead }: { id: string; row: Row; answers: Map<string, Answer> | undefined; isHead: boolean }) {
  const at = `${id}/${row.ordinal}`;
  return (
    <>
      <header class="card-head">
        <span class={`role role-${roleClass(row.message)}`}>{row.message.role}</span>
        <span class="card-index">#{row.index}</span>
        {row.marks.map((mark) => (
          <span key={mark} class={mark === 'pinned' ? 'mark pinned' : 'mark'} dir="auto">
            {mark}
          </span>
        ))}
        {row.standsFor.length > 0 && <span class="mark stands">stands for {plural(row.standsForCount ?? row.standsFor.length, 'message')}</span>}
        <span class="card-space" />
        <Actions id={id} row={row} isHead={isHead} />
        <span class="tokens" title={`ordinal ${row.ordinal}${row.time ? ' · ' + when(row.time) : ''}`}>
          {count(row.tokens + answerTokens(answers))} <span class="unit">tokens</span>
        </span>
      </header>
      <Blocks blocks={blocksOf(row.message)} answers={answers} at={at} id={id} isHead={isHead} />
      {row.standsFor.length > 0 && (
        <Fold at={at + '/originals'} class="originals" label="Hidden originals" gist={plural(row.standsForCount ?? row.standsFor.length, 'message')}>
          <Originals id={id} ordinals={row.standsFor} />
        </Fold>
      )}
      <Asked id={id} row={row} />
    </>
  );
}

function answerTokens(answers: Map<string, Answer> | undefined): number {
  let sum = 0;
  for (const row of new Set([...(answers?.values() ?? [])].map((answer) => answer.row))) sum += row.tokens;
  return sum;
}
