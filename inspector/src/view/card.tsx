// One message of the transcript.

import { pretty } from '../api/json';
import type { Row } from '../api/types';
import { blocksOf, roleClass } from '../model/blocks';
import { ask } from '../operate/sheet_state';
import { Blocks, Fold, type Answer } from './blocks';
import { opened, toggle } from './folds';
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
        <Actions row={row} at={at} isHead={isHead} />
        <span class="tokens" title={`ordinal ${row.ordinal}${row.time ? ' · ' + when(row.time) : ''}`}>
          {count(row.tokens + answerTokens(answers))} <span class="unit">tokens</span>
        </span>
      </header>
      <Blocks blocks={blocksOf(row.message)} answers={answers} at={at} />
      {row.standsFor.length > 0 && (
        <Fold at={at + '/originals'} class="originals" label="Hidden originals" gist={plural(row.standsForCount ?? row.standsFor.length, 'message')}>
          <Originals id={id} ordinals={row.standsFor} />
        </Fold>
      )}
      {opened.value.has(at + '/raw') && <pre class="json raw">{pretty(row.message)}</pre>}
    </>
  );
}

function answerTokens(answers: Map<string, Answer> | undefined): number {
  let sum = 0;
  for (const row of new Set([...(answers?.values() ?? [])].map((answer) => answer.row))) sum += row.tokens;
  return sum;
}

function Actions({ row, at, isHead }: { row: Row; at: string; isHead: boolean }) {
  const index = String(row.index);
  const pinned = row.marks.includes('pinned');
  const about = `message ${index}`;
  return (
    <span class="actions" role="group" aria-label={`What can be done with ${about}`}>
      <button type="button" onClick={() => toggle(at + '/raw')} aria-expanded={opened.value.has(at + '/raw')} aria-label={`JSON of ${about}`}>
        JSON
      </button>
      {isHead && (
        <>
          {row.standsFor.length > 0 && (
            <button type="button" onClick={() => ask('EXPAND', { index })} aria-label={`Expand ${about}`}>
              Expand
            </button>
          )}
          <button type="button" onClick={() => ask('REPLACE', { index, message: pretty(row.message) })} aria-label={`Edit ${about}`}>
            Edit
          </button>
          <button type="button" onClick={() => ask(pinned ? 'UNMARK' : 'MARK', { indices: index, mark: 'pinned' })} aria-label={`${pinned ? 'Unpin' : 'Pin'} ${about}`}>
            {pinned ? 'Unpin' : 'Pin'}
          </button>
          <button type="button" onClick={() => ask('INSERT', { position: index })} aria-label={`Insert before ${about}`}>
            Insert
          </button>
          <button type="button" onClick={() => ask('DELETE', { indices: index })} aria-label={`Delete ${about}`}>
            Delete
          </button>
        </>
      )}
    </span>
  );
}
