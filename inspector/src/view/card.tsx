// One message of the transcript.

import type { Row } from '../api/types'
import type { Answer } from '../model/pairs'
import { shownVersion } from '../state'
import { Actions, Asked } from './actions'
import { Blocks, Fold } from './blocks'
import { OpenedMenu } from './menu'
import { Originals } from './originals'
import { count, plural, when } from './words'

export function Card({
  id,
  row,
  answers,
  isHead,
}: {
  id: string
  row: Row
  answers: Map<string, Answer> | undefined
  isHead: boolean
}) {
  const at = `${id}/${row.ordinal}`
  return (
    <>
      <header class="card-head">
        <span class={`role role-${row.role}`}>{row.role}</span>
        <span class="card-index">#{row.index}</span>
        {row.marks.map(mark => (
          <span key={mark} class={mark === 'pinned' ? 'mark pinned' : 'mark'} dir="auto">
            {mark}
          </span>
        ))}
        {row.standsFor.length > 0 && (
          <span class="mark stands">
            stands for {plural(row.standsForCount ?? row.standsFor.length, 'message')}
          </span>
        )}
        <span class="card-space" />
        <Actions id={id} row={row} isHead={isHead} />
        <span
          class="tokens"
          title={`ordinal ${row.ordinal}${row.time ? ' · ' + when(row.time) : ''}`}
        >
          {count(tokensWith(row, answers))} <span class="unit">tokens</span>
        </span>
      </header>
      <OpenedMenu id={id} row={row} version={shownVersion.value} last={lastWith(row, answers)} />
      <Blocks blocks={row.blocks} answers={answers} at={at} id={id} isHead={isHead} />
      {row.standsFor.length > 0 && (
        <Fold
          at={at + '/originals'}
          class="originals"
          label="Hidden originals"
          gist={plural(row.standsForCount ?? row.standsFor.length, 'message')}
        >
          <Originals id={id} ordinals={row.standsFor} />
        </Fold>
      )}
      <Asked id={id} row={row} />
    </>
  )
}

// The index of the last answer that is shown inside of it.
function lastWith(row: Row, answers: Map<string, Answer> | undefined): number {
  const inside = [...(answers?.values() ?? [])].map(answer => answer.row?.index ?? 0)
  return Math.max(row.index ?? 0, ...inside)
}

// Tokens of the message and of the answers shown inside it.
function tokensWith(row: Row, answers: Map<string, Answer> | undefined): number {
  const inside = new Set([...(answers?.values() ?? [])].map(answer => answer.row))
  let sum = row.tokens
  for (const each of inside) sum += each?.tokens ?? 0
  return sum
}
