// What every compression did, with what it hid.

import type { Receipt } from '../api/types'
import { ask } from '../operate/sheet_state'
import { choose, client, conversation, head, shownVersion, tell } from '../state'
import { Fold } from './blocks'
import { useFetched } from './fetched'
import { Originals } from './originals'
import { count, plural, when } from './words'

export function Receipts() {
  const id = conversation.value?.id ?? ''
  const { value: receipts, error } = useFetched(() => client.receipts(id), [id, head.value])
  if (error) return <p class="failed">{error}</p>
  if (!receipts) return <p class="quiet">Loading…</p>
  if (!receipts.length) return <p class="quiet">Nothing has been compressed yet.</p>
  return (
    <ol class="receipts">
      {[...receipts].reverse().map(receipt => (
        <li key={receipt.version}>
          <ReceiptCard id={id} receipt={receipt} />
        </li>
      ))}
    </ol>
  )
}

function ReceiptCard({ id, receipt }: { id: string; receipt: Receipt }) {
  const saved = receipt.tokensBefore - receipt.tokensAfter
  const share = receipt.tokensBefore ? Math.round((100 * saved) / receipt.tokensBefore) : 0
  return (
    <section class="receipt" aria-label={`Compression at version ${receipt.version}`}>
      <h3>
        {receipt.strategy ?? 'by hand'}
        <button
          type="button"
          class="link"
          onClick={() => choose(receipt.version)}
          aria-current={shownVersion.value === receipt.version ? 'true' : undefined}
        >
          version {count(receipt.version)}
        </button>
      </h3>
      <p class="receipt-sums">
        {count(receipt.tokensBefore)} → {count(receipt.tokensAfter)} tokens{' '}
        <span class="delta">−{share}%</span>
        <progress
          max={receipt.tokensBefore || 1}
          value={receipt.tokensAfter}
          aria-label={`${share} percent less`}
        />
      </p>
      <p class="quiet">
        {[receipt.summariser, receipt.model, receipt.reason, when(receipt.timestamp)]
          .filter(Boolean)
          .join(' · ')}
      </p>
      {receipt.summaries.map(summary => (
        <div class="receipt-summary" key={summary.ordinal}>
          <Fold
            at={`${id}/receipt/${receipt.version}/${summary.ordinal}`}
            class="originals"
            label={`Hidden originals`}
            gist={plural(summary.standsFor.length, 'message')}
          >
            <Originals id={id} ordinals={summary.standsFor} />
          </Fold>
          <button
            type="button"
            onClick={() => void expand(id, summary.ordinal)}
            aria-label={`Expand the summary of version ${receipt.version}`}
          >
            Expand
          </button>
        </div>
      ))}
      {receipt.summaries.length === 0 && (
        <Fold
          at={`${id}/receipt/${receipt.version}`}
          class="originals"
          label="Hidden originals"
          gist={plural(receipt.ordinals.length, 'message')}
        >
          <Originals id={id} ordinals={receipt.ordinals} />
        </Fold>
      )}
    </section>
  )
}

async function expand(id: string, ordinal: number): Promise<void> {
  try {
    const { rows } = await client.rows(id, { ordinals: String(ordinal) })
    const index = rows[0]?.index ?? null
    if (index === null)
      tell(new Error('This summary is not in the view now, so there is nothing to expand.'))
    else ask('EXPAND', { index: String(index) })
  } catch (error) {
    tell(error)
  }
}
