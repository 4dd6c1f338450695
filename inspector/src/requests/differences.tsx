// What differs between two requests, path by path.

import { useState } from 'preact/hooks'
import type { Excerpt, ShownChange } from '../model/excerpt'
import { count, plural } from '../view/words'

const shownMax = 20

export function Differences({ changes, leftOut }: { changes: ShownChange[]; leftOut: number }) {
  const [most, setMost] = useState(shownMax)
  const all = changes.length + leftOut
  if (all === 0) return <p class="quiet">Both requests are the same.</p>
  return (
    <>
      <p class="quiet">{plural(all, 'difference')}</p>
      <ul class="changes">
        {changes.slice(0, most).map((change, i) => (
          <li key={i}>
            <code class="path">{change.path || 'the whole'}</code>{' '}
            <span class="quiet">
              {change.before ? (change.after ? 'changed' : 'removed') : 'added'}
            </span>
            <pre class="excerpt" tabIndex={0} aria-label={`Difference ${i + 1}`}>
              {change.before && <Side sign="removed" excerpt={change.before} />}
              {change.after && <Side sign="added" excerpt={change.after} />}
            </pre>
          </li>
        ))}
      </ul>
      {changes.length > most && (
        <button class="more" type="button" onClick={() => setMost(most + 100)}>
          {count(changes.length - most)} more
        </button>
      )}
      {changes.length <= most && leftOut > 0 && (
        <p class="quiet">{count(leftOut)} more are left out.</p>
      )}
    </>
  )
}

function Side({
  sign,
  excerpt: { lead, text, trail, leftOut },
}: {
  sign: 'added' | 'removed'
  excerpt: Excerpt
}) {
  return (
    <span class={`excerpt-line line-${sign}`}>
      <span class={`sign sign-${sign}`}>{sign === 'added' ? '+' : '−'}</span>{' '}
      <span class="quiet">{lead}</span>
      {lead || trail ? <mark>{text}</mark> : text}
      <span class="quiet">{leftOut ? `… ${count(leftOut)} more characters` : trail}</span>
      {'\n'}
    </span>
  )
}
