// What an operation would do.

import type { Preview } from '../api/types'
import { RowLines } from '../view/originals'
import { change, count, plural } from '../view/words'

const parted: Record<string, string> = {
  tool_call_without_result: 'A tool call would stand without its result',
  tool_result_without_call: 'A tool result would stand without its call',
  reasoning_without_call: 'Reasoning would stand without the calls that follow from it',
}

export function PreviewView({ id, preview }: { id: string; preview: Preview }) {
  const { before, after, diff } = preview
  const warnings = preview.results.flatMap(result => result.warnings ?? [])
  const outcome = preview.results.at(-1)
  return (
    <>
      <dl class="sums">
        <dt>Messages</dt>
        <dd>
          {count(before.messages)} → {count(after.messages)}{' '}
          <span class="delta">{change(before.messages, after.messages)}</span>
        </dd>
        <dt>Tokens</dt>
        <dd>
          {count(before.tokens)} → {count(after.tokens)}{' '}
          <span class="delta">{change(before.tokens, after.tokens)}</span>
        </dd>
        <dt>Version</dt>
        <dd>
          {count(before.version)} → {count(after.version)}
        </dd>
      </dl>
      {outcome?.outcome === 'fits' && <p>It fits already: nothing would be hidden.</p>}
      {warnings.map((warning, i) => (
        <p class="warning" key={i}>
          {parted[warning.code] ?? warning.code}
          {warning.toolCallId === undefined ? null : (
            <>
              : <code>{warning.toolCallId}</code>
            </>
          )}
        </p>
      ))}
      <Part id={id} preview={preview} sign="added" title="Added" total={diff.added.length} />
      <Part
        id={id}
        preview={preview}
        sign="removed"
        title="Removed from the view"
        total={diff.removed.length}
      />
      {diff.moved.length > 0 && <p>{plural(diff.moved.length, 'message')} would move.</p>}
      {diff.added.length + diff.removed.length + diff.moved.length === 0 && (
        <p class="quiet">The same messages in the same order.</p>
      )}
    </>
  )
}

function Part({
  id,
  preview,
  sign,
  title,
  total,
}: {
  id: string
  preview: Preview
  sign: 'added' | 'removed'
  title: string
  total: number
}) {
  const rows = preview.rows.filter(row => row.change === sign)
  if (!total) return null
  return (
    <section>
      <h4>
        {title} <span class="quiet">{plural(total, 'message')}</span>
      </h4>
      <RowLines id={`${id}/preview/${preview.after.version}`} rows={rows} sign={sign} />
      {rows.length < total && <p class="quiet">and {count(total - rows.length)} more</p>}
    </section>
  )
}
