// What can be done with one message, as buttons.

import { pretty } from '../api/json';
import type { Row } from '../api/types';
import { ask } from '../operate/sheet_state';
import { opened, toggle } from './folds';

const rawPlace = (id: string, row: Row) => `${id}/${row.ordinal}/raw`;

// The message as it is stored, when that was asked for.
export function RawJson({ id, row }: { id: string; row: Row }) {
  return opened.value.has(rawPlace(id, row)) ? <pre class="json raw">{pretty(row.message)}</pre> : null;
}

export function Actions({ id, row, isHead }: { id: string; row: Row; isHead: boolean }) {
  const raw = rawPlace(id, row);
  const index = String(row.index);
  const pinned = row.marks.includes('pinned');
  const about = `message ${index}`;
  return (
    <span class="actions" role="group" aria-label={`What can be done with ${about}`}>
      <button type="button" onClick={() => toggle(raw)} aria-expanded={opened.value.has(raw)} aria-label={`JSON of ${about}`}>
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
