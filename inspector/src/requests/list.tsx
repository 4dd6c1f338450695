// The requests of a conversation, the newest first. New ones appear by themselves.

import { useEffect, useMemo, useState } from 'preact/hooks'
import type { RequestRecord } from '../api/types'
import { Records } from '../model/records'
import { client, head, placeOf } from '../state'
import { ColumnHeads } from '../view/column_heads'
import { count, duration, plural, when } from '../view/words'
import { ConversationLedger, StoreLedger } from './ledger'
import { Waterfall } from './waterfall'

const pollMs = 2000

const columns = [
  'Request',
  'Time',
  'Model',
  'Status',
  'Tokens in',
  'Cached',
  'Out',
  'First byte',
  'Duration',
]

export function RequestList({ id }: { id: string }) {
  const { records, error, older } = useRecords(id)
  const newest = useMemo(() => [...records.known].reverse(), [records.known])
  return (
    <>
      <header class="requests-head">
        <h2>Requests</h2>
        <span class="quiet">as they were recorded, the newest first</span>
      </header>
      {error && <p class="failed">{error}</p>}
      {newest.length === 0 && !error && (
        <p class="quiet">
          None yet. Requests that go through <code>undertext gateway</code> are recorded, and appear
          here.
        </p>
      )}
      {newest[0] && <ConversationLedger id={id} newest={newest[0].number} />}
      {newest[0] && <Waterfall id={id} records={records.known} />}
      {newest.length > 0 && (
        <table class="requests" onKeyDown={moveByKey}>
          <ColumnHeads names={columns} />
          <tbody>
            {newest.map(record => (
              <Row key={record.number} id={id} record={record} />
            ))}
          </tbody>
        </table>
      )}
      {records.hasOlder && (
        <button class="more" type="button" onClick={older}>
          Older requests
        </button>
      )}
      <StoreLedger />
      <p class="visually-hidden" role="status">
        {plural(newest[0]?.number ?? 0, 'request')}
      </p>
    </>
  )
}

// No event tells of a request that changed nothing, so the list asks, while somebody can see it.
function useRecords(id: string) {
  const records = useMemo(() => new Records(asked => client.requests(id, asked)), [id])
  const [error, setError] = useState('')
  const [, redraw] = useState(0)
  const show = (work: Promise<unknown>) =>
    work.then(
      isNews => (setError(''), isNews !== false && redraw(n => n + 1)),
      (failed: unknown) => setError(failed instanceof Error ? failed.message : String(failed)),
    )
  useEffect(() => {
    const look = () => void (document.visibilityState === 'visible' && show(records.catchUp()))
    look()
    const timer = setInterval(look, pollMs)
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }, [records, head.value])
  return { records, error, older: () => void show(records.older()) }
}

function Row({ id, record }: { id: string; record: RequestRecord }) {
  const { usage } = record
  return (
    <tr>
      <th scope="row">
        <a
          href={placeOf(id, null, { number: record.number })}
          aria-label={`Request ${record.number}`}
        >
          {count(record.number)}
        </a>
      </th>
      <td data-label="Time" class="wide">
        {when(record.timestamp)}
      </td>
      <td data-label="Model" class="wide model">
        <span dir="auto">{record.model}</span>
        {record.kind !== 'turn' && <span class="badge">{record.kind.replace('_', ' ')}</span>}
      </td>
      <td data-label="Status">
        <Status record={record} />
      </td>
      <td data-label="Tokens in">{usage ? count(usage.prompt) : '–'}</td>
      <td data-label="Cached">{usage ? <Share part={usage.cached} of={usage.prompt} /> : '–'}</td>
      <td data-label="Out">{usage ? count(usage.completion) : '–'}</td>
      <td data-label="First byte">{duration(record.firstByteMs)}</td>
      <td data-label="Duration">{duration(record.durationMs)}</td>
    </tr>
  )
}

export function Status({ record: { status, torn } }: { record: RequestRecord }) {
  const isGood = status >= 200 && status < 300
  return (
    <span class={isGood && !torn ? 'status-good' : 'status-bad'}>
      {status || 'no answer'}
      {torn && ' torn'}
    </span>
  )
}

export function Share({ part, of }: { part: number; of: number }) {
  return (
    <>
      {count(part)} {of > 0 && <span class="quiet">{Math.floor((100 * part) / of)}%</span>}
    </>
  )
}

// From row to row, as in the transcript.
function moveByKey(event: KeyboardEvent): void {
  const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key]
  const links = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('tbody a')]
  const at = links.indexOf(event.target as HTMLElement)
  if (by === undefined || at < 0 || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  links[at + by]?.focus()
}
