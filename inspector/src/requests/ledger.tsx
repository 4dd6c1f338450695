// What the requests of a conversation cost, by day and model, and the misses that should have been hits.

import { useState } from 'preact/hooks'
import type { Ledger, LedgerFinding, LedgerRow, LedgerTotals } from '../api/types'
import { client, placeOf } from '../state'
import { ColumnHeads } from '../view/column_heads'
import { useFetched } from '../view/fetched'
import { count, dollars, plural } from '../view/words'

const findingsShown = 5

// `newest`: the number of the last request, with which the figures change.
export function ConversationLedger({ id, newest }: { id: string; newest: number }) {
  const { value, error } = useFetched(() => client.ledger(id), [id, newest], 300)
  if (error) return <p class="failed">{error}</p>
  if (!value || value.totals.turns === 0) return null
  return (
    <section class="ledger" aria-labelledby="ledger-title">
      <h3 id="ledger-title">Cost</h3>
      <LedgerTable rows={value.days} totals={value.totals} />
      <Notes totals={value.totals} />
      <Findings id={id} ledger={value} />
    </section>
  )
}

export function StoreLedger() {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="ledger" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>Cost of all conversations</summary>
      {isOpen && <StoreRows />}
    </details>
  )
}

function StoreRows() {
  const { value, error } = useFetched(() => client.storeLedger(), [], 0)
  if (error) return <p class="failed">{error}</p>
  if (!value) return <p class="quiet">Loading…</p>
  return value.length ? (
    <LedgerTable rows={value} />
  ) : (
    <p class="quiet">No requests are recorded.</p>
  )
}

const columns = ['Day', 'Model', 'Turns', 'Sent', 'Read', 'Written', 'Missed', 'Out', 'Dollars']

function LedgerTable({ rows, totals }: { rows: LedgerRow[]; totals?: LedgerTotals }) {
  return (
    <table class="ledger-table">
      <ColumnHeads names={columns} />
      <tbody>
        {rows.map(row => (
          <Row
            key={`${row.day} ${row.model}`}
            day={row.day}
            model={row.model}
            totals={row.totals}
          />
        ))}
        {totals && rows.length > 1 && <Row day="all" model="" totals={totals} />}
      </tbody>
    </table>
  )
}

function Row({ day, model, totals }: { day: string; model: string; totals: LedgerTotals }) {
  return (
    <tr>
      <th scope="row">{day}</th>
      <td data-label="Model" class="wide model">
        <span dir="auto">{model}</span>
      </td>
      <td data-label="Turns">{count(totals.turns)}</td>
      <td data-label="Sent">{count(totals.sent)}</td>
      <td data-label="Read">{count(totals.read)}</td>
      <td data-label="Written">{count(totals.written)}</td>
      <td data-label="Missed">{count(totals.missed)}</td>
      <td data-label="Out">{count(totals.output)}</td>
      <td data-label="Dollars">
        {totals.unpriced === totals.turns ? 'no price' : dollars(totals.dollars)}
      </td>
    </tr>
  )
}

function Notes({ totals }: { totals: LedgerTotals }) {
  return (
    <p class="quiet">
      {totals.turns - totals.reported === 0
        ? 'All figures are the upstream’s.'
        : `${plural(totals.turns - totals.reported, 'turn')} without figures of the upstream: ${dollars(totals.dollarsExpected)} of this is expected, off by up to ${dollars(totals.dollarsError)}.`}
      {totals.dollarsMissed > 0 && ` Missed cache: ${dollars(totals.dollarsMissed)}.`}
    </p>
  )
}

function Findings({ id, ledger: { findings } }: { id: string; ledger: Ledger }) {
  if (!findings.length) return null
  return (
    <ul class="ledger-findings" aria-label="Misses that should have been hits">
      {findings
        .slice(-findingsShown)
        .reverse()
        .map(finding => (
          <li key={finding.number}>
            <a href={placeOf(id, null, { number: finding.number })}>
              Request {count(finding.number)}
            </a>{' '}
            missed {plural(finding.missed, 'token')} ({dollars(finding.dollars)}){' '}
            <Cause finding={finding} />
          </li>
        ))}
      {findings.length > findingsShown && (
        <li class="quiet">and {count(findings.length - findingsShown)} earlier ones</li>
      )}
    </ul>
  )
}

function Cause({ finding: { against, cause, at } }: { finding: LedgerFinding }) {
  if (cause === 'upstream')
    return (
      <>
        that request {count(against)} had left: its prefix is the same, and the upstream did not
        serve it.
      </>
    )
  if (at?.kind !== 'broken') return <>that request {count(against)} had left: its prefix changed.</>
  return (
    <>
      that request {count(against)} had left: <code class="path">{at.path}</code> differs from byte{' '}
      {count(at.byteInValue ?? 0)} on.
    </>
  )
}
