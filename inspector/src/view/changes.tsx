// What changed between two versions.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { VersionEntry } from '../api/types'
import { ask } from '../operate/sheet_state'
import { client, conversation, head, shownVersion, versions, versionsChanged } from '../state'
import { useFetched } from './fetched'
import { Originals } from './originals'
import { change, count, plural } from './words'

const compareFrom = signal<number | null>(null) // null: the version before

export function compareWith(version: number): void {
  compareFrom.value = version
}

export function Changes() {
  versionsChanged.value
  const id = conversation.value?.id ?? ''
  const to = shownVersion.value
  const from = Math.min(compareFrom.value ?? Math.max(0, to - 1), head.value)
  const { value: diff, error } = useFetched(() => client.diff(id, from, to), [id, from, to], 80)
  useEffect(() => {
    void versions.load(from, from)
  }, [from, id])
  const [before, after] = [versions.get(from), versions.get(to)]
  return (
    <>
      <form class="compare" onSubmit={event => event.preventDefault()}>
        <label>
          From version
          <input
            type="number"
            min={0}
            max={head.value}
            value={from}
            onInput={e => setFrom(e.currentTarget.value)}
          />
        </label>
        <span aria-hidden="true">→</span>
        <span class="compare-to">{count(to)}</span>
        {compareFrom.value !== null && (
          <button type="button" onClick={() => (compareFrom.value = null)}>
            The one before
          </button>
        )}
      </form>
      {before && after && (
        <dl class="sums">
          <dt>Messages</dt>
          <dd>
            {count(before.messageCount)} → {count(after.messageCount)}{' '}
            <span class="delta">{change(before.messageCount, after.messageCount)}</span>
          </dd>
          <dt>Tokens</dt>
          <dd>
            {count(before.tokens)} → {count(after.tokens)}{' '}
            <span class="delta">{change(before.tokens, after.tokens)}</span>
          </dd>
          {from + 1 === to && <What entry={after} />}
        </dl>
      )}
      {error && <p class="failed">{error}</p>}
      {diff && (
        <div class="diff">
          <Part id={id} sign="added" title="Added" ordinals={diff.added} />
          <Part
            id={id}
            sign="removed"
            title="Removed"
            ordinals={diff.removed}
            onShow={
              to === head.value
                ? () => ask('SHOW', { ordinals: diff.removed.join(', ') })
                : undefined
            }
          />
          <Part id={id} sign="moved" title="Moved" ordinals={diff.moved} />
          {diff.added.length + diff.removed.length + diff.moved.length === 0 && (
            <p class="quiet">The same messages in the same order.</p>
          )}
        </div>
      )}
    </>
  )
}

// What made a version out of the one before it.
function What({ entry }: { entry: VersionEntry }) {
  return (
    <>
      <dt>Operation</dt>
      <dd>
        <code>{entry.operation ?? 'start'}</code>
        {entry.restores !== undefined && ` back to ${entry.restores}`}
      </dd>
      {entry.description && (
        <>
          <dt>Why</dt>
          <dd dir="auto">{entry.description}</dd>
        </>
      )}
    </>
  )
}

function setFrom(text: string): void {
  if (/^\d+$/.test(text)) compareFrom.value = Math.min(Number(text), head.value)
}

function Part({
  id,
  sign,
  title,
  ordinals,
  onShow,
}: {
  id: string
  sign: string
  title: string
  ordinals: number[]
  onShow?: (() => void) | undefined
}) {
  if (!ordinals.length) return null
  return (
    <section>
      <h3>
        {title} <span class="quiet">{plural(ordinals.length, 'message')}</span>
      </h3>
      {onShow && (
        <button type="button" onClick={onShow}>
          Show again
        </button>
      )}
      <Originals
        key={`${ordinals.length}:${ordinals[0]}`}
        id={id}
        ordinals={ordinals}
        sign={sign}
      />
    </section>
  )
}
