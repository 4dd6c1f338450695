// What can be done with one message, as buttons.

import { pretty } from '../api/json'
import type { Row } from '../api/types'
import { ask } from '../operate/sheet_state'
import { storyOf } from '../model/story'
import { choose, client, head, messagePlace, shownVersion } from '../state'
import { useFetched } from './fetched'
import { opened, toggle } from './folds'
import { MenuButton } from './menu'
import { count } from './words'

const rawPlace = (id: string, row: Row) => `${id}/${row.ordinal}/raw`

const storyPlace = (id: string, row: Row) => `${id}/${row.ordinal}/story`

// The message as it is stored, and what became of it, when that was asked for.
export function Asked({ id, row }: { id: string; row: Row }) {
  return (
    <>
      {opened.value.has(storyPlace(id, row)) && <Story id={id} ordinal={row.ordinal} />}
      {opened.value.has(rawPlace(id, row)) && <pre class="json raw">{pretty(row.message)}</pre>}
    </>
  )
}

function Story({ id, ordinal }: { id: string; ordinal: number }) {
  const { value: blame, error } = useFetched(
    () => client.blame(id, ordinal),
    [id, ordinal, head.value],
  )
  if (error) return <p class="failed">{error}</p>
  return (
    <ol class="story">
      {(blame ? storyOf(blame) : []).map(chapter => (
        <li key={`${chapter.version}${chapter.what}`}>
          {chapter.what} by <code>{chapter.operation}</code>{' '}
          <button type="button" class="link" onClick={() => choose(chapter.version)}>
            version {count(chapter.version)}
          </button>
          {chapter.description && (
            <span class="quiet" dir="auto">
              {' '}
              {chapter.description}
            </span>
          )}
        </li>
      ))}
    </ol>
  )
}

export function Actions({ id, row, isHead }: { id: string; row: Row; isHead: boolean }) {
  const raw = rawPlace(id, row)
  const story = storyPlace(id, row)
  const index = String(row.index)
  const pinned = row.marks.includes('pinned')
  const about = `message ${index}`
  return (
    <span class="actions" role="group" aria-label={`What can be done with ${about}`}>
      <button
        type="button"
        onClick={() => toggle(raw)}
        aria-expanded={opened.value.has(raw)}
        aria-label={`JSON of ${about}`}
      >
        JSON
      </button>
      <button
        type="button"
        onClick={() => toggle(story)}
        aria-expanded={opened.value.has(story)}
        aria-label={`History of ${about}`}
      >
        History
      </button>
      <a href={messagePlace(id, shownVersion.value, row.ordinal)} aria-label={`Link to ${about}`}>
        Link
      </a>
      <MenuButton id={id} row={row} about={about} />
      {isHead && (
        <>
          {row.standsFor.length > 0 && (
            <button
              type="button"
              onClick={() => ask('EXPAND', { index })}
              aria-label={`Expand ${about}`}
            >
              Expand
            </button>
          )}
          <button
            type="button"
            onClick={() => ask('REPLACE', { index, message: pretty(row.message) })}
            aria-label={`Edit ${about}`}
          >
            Edit
          </button>
          <button
            type="button"
            onClick={() => ask(pinned ? 'UNMARK' : 'MARK', { indices: index, mark: 'pinned' })}
            aria-label={`${pinned ? 'Unpin' : 'Pin'} ${about}`}
          >
            {pinned ? 'Unpin' : 'Pin'}
          </button>
          <button
            type="button"
            onClick={() => ask('INSERT', { position: index })}
            aria-label={`Insert before ${about}`}
          >
            Insert
          </button>
          <button
            type="button"
            onClick={() => ask('DELETE', { indices: index })}
            aria-label={`Delete ${about}`}
          >
            Delete
          </button>
        </>
      )}
    </span>
  )
}
