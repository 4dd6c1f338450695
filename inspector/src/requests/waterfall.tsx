// The turns of a conversation by the time they took, with their cost and what the provider's cache did.

import { useState } from 'preact/hooks'
import type { RequestRecord } from '../api/types'
import { waterfall, type Fall } from '../model/waterfall'
import { client, placeOf } from '../state'
import { ColumnHeads } from '../view/column_heads'
import { useFetched } from '../view/fetched'
import { count, dollars, duration } from '../view/words'

// `records`: those that are listed, the oldest first.
export function Waterfall({ id, records }: { id: string; records: RequestRecord[] }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="ledger" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>Waterfall of turns</summary>
      {isOpen && <Falls id={id} records={records} />}
    </details>
  )
}

function Falls({ id, records }: { id: string; records: RequestRecord[] }) {
  const newest = records.at(-1)?.number
  const { value, error } = useFetched(() => client.turns(id), [id, newest], 0)
  if (error) return <p class="failed">{error}</p>
  if (!value) return <p class="quiet">Loading…</p>
  const { falls, wholeMs } = waterfall(records, value)
  if (!falls.length) return <p class="quiet">No request says how long it took.</p>
  return (
    <>
      <p class="quiet">
        {duration(wholeMs)} of waiting for models, without the pauses in between. The light part is
        the time to the first byte.
      </p>
      <table class="ledger-table waterfall">
        <ColumnHeads names={['Request', 'When', 'Duration', 'Dollars', 'Cache']} />
        <tbody>
          {falls.map(fall => (
            <FallRow key={fall.number} id={id} fall={fall} />
          ))}
        </tbody>
      </table>
    </>
  )
}

const percent = (part: number) => `${(100 * part).toFixed(2)}%`

function FallRow({ id, fall }: { id: string; fall: Fall }) {
  const { number, from, firstByte, until } = fall
  return (
    <tr>
      <th scope="row">
        <a href={placeOf(id, null, { number })} aria-label={`Turn of request ${number}`}>
          {count(number)}
        </a>
      </th>
      <td class="fall-track">
        <span class="fall-wait" style={{ left: percent(from), width: percent(firstByte - from) }} />
        <span
          class="fall-answer"
          style={{ left: percent(firstByte), width: percent(until - firstByte) }}
        />
      </td>
      <td>{duration(fall.durationMs)}</td>
      <td>{fall.dollars === null ? 'no price' : dollars(fall.dollars)}</td>
      <td>
        {fall.missed > 0 ? (
          <span class="status-bad">missed {count(fall.missed)}</span>
        ) : fall.readShare === null ? (
          '–'
        ) : (
          <span class={fall.readShare > 0 ? 'status-good' : 'quiet'}>
            read {Math.floor(100 * fall.readShare)}%
          </span>
        )}
      </td>
    </tr>
  )
}
