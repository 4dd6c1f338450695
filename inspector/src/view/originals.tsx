// Messages by their ordinals, visible or not: the originals of a summary, what a diff names.

import { useEffect, useState } from 'preact/hooks'
import type { Row } from '../api/types'
import { gist } from '../model/blocks'
import { client } from '../state'
import { Blocks } from './blocks'
import { opened, toggle } from './folds'
import { MessageMenu } from './menu'
import { count } from './words'

const shownMax = 100

export function Originals({
  id,
  ordinals,
  sign = '',
}: {
  id: string
  ordinals: number[]
  sign?: string
}) {
  const [rows, setRows] = useState<Row[] | null>(null)
  const [failed, setFailed] = useState('')
  const [limit, setLimit] = useState(shownMax)
  const asked = ordinals.slice(0, limit).join(',')
  useEffect(() => {
    const stop = new AbortController()
    client.rows(id, { ordinals: asked }, stop.signal).then(
      found => setRows(found.rows),
      (error: unknown) =>
        !stop.signal.aborted && setFailed(error instanceof Error ? error.message : String(error)),
    )
    return () => stop.abort()
  }, [id, asked])
  if (failed) return <p class="failed">{failed}</p>
  if (!rows) return <p class="quiet">Loading…</p>
  return (
    <>
      <RowLines id={id} rows={rows} sign={sign} hasMenu />
      {ordinals.length > limit && (
        <button class="more" type="button" onClick={() => setLimit(limit + shownMax)}>
          {count(ordinals.length - limit)} more
        </button>
      )}
    </>
  )
}

interface Lines {
  id: string
  sign?: string
  hasMenu?: boolean
}

export function RowLines({ rows, ...rest }: Lines & { rows: Row[] }) {
  return (
    <ul class="row-lines">
      {rows.map(row => (
        <RowLine key={row.ordinal} row={row} {...rest} />
      ))}
    </ul>
  )
}

function RowLine({ id, row, sign = '', hasMenu = false }: Lines & { row: Row }) {
  const place = `${id}/${row.ordinal}/line`
  const isOpen = opened.value.has(place)
  return (
    <li>
      <button class="row-line" type="button" aria-expanded={isOpen} onClick={() => toggle(place)}>
        {sign && (
          <span class={`sign sign-${sign}`}>{{ added: '+', removed: '−', moved: '↷' }[sign]}</span>
        )}
        <span class={`role role-${row.role}`}>{row.role}</span>
        <span class="row-gist">{gist(row.blocks) || '(empty)'}</span>
        <span class="tokens">{count(row.tokens)}</span>
      </button>
      {isOpen && (
        <div class="row-whole">
          <p class="quiet">ordinal {row.ordinal}</p>
          {hasMenu && <MessageMenu id={id} row={row} />}
          <Blocks blocks={row.blocks} at={place} />
        </div>
      )}
    </li>
  )
}
