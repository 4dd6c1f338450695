// What can be done with a message wherever it is shown: in the transcript of any version, among the originals of a summary, in a list of changes.

import { pretty } from '../api/json'
import type { Row } from '../api/types'
import { ask } from '../operate/sheet_state'
import { client, head, inform, messagePlace, tell } from '../state'
import { useFetched } from './fetched'
import { opened, toggle } from './folds'

export const menuPlace = (id: string, row: Row) => `${id}/${row.ordinal}/menu`

export function MenuButton({ id, row, about }: { id: string; row: Row; about: string }) {
  const place = menuPlace(id, row)
  return (
    <button
      type="button"
      onClick={() => toggle(place)}
      aria-expanded={opened.value.has(place)}
      aria-label={`More about ${about}`}
    >
      …
    </button>
  )
}

interface Props {
  id: string
  row: Row
  version?: number // that shows it; else the last one that does
  last?: number // the index of the last message that belongs to it, such as the answer to its call
}

export function OpenedMenu(props: Props) {
  return opened.value.has(menuPlace(props.id, props.row)) ? <MessageMenu {...props} /> : null
}

export function MessageMenu({ id, row, version, last }: Props) {
  const { value: now } = useFetched(() => nowOf(id, row.ordinal), [id, row.ordinal, head.value])
  const about = `message of ordinal ${row.ordinal}`
  return (
    <p class="menu" role="group" aria-label={`More about the ${about}`}>
      <button
        type="button"
        aria-label={`Copy link to the ${about}`}
        onClick={() => void attempt(() => copyLink(id, row, version))}
      >
        Copy link
      </button>
      {now && <BringBack now={now} about={about} />}
      <button
        type="button"
        aria-label={`Fork from here: the ${about}`}
        onClick={() => void attempt(() => forkFrom(id, row, version, last, false))}
      >
        Fork from here
      </button>
      <button
        type="button"
        aria-label={`Edit in a fork: the ${about}`}
        onClick={() => void attempt(() => forkFrom(id, row, version, last, true))}
      >
        Edit in a fork
      </button>
    </p>
  )
}

// By what the newest version shows, whichever one is looked at.
function BringBack({ now: { row, standIn }, about }: { now: Now; about: string }) {
  if (row.index === null)
    return (
      <button
        type="button"
        aria-label={`Bring back the ${about}`}
        title={standIn === null ? undefined : `Expands #${standIn}, which stands for it`}
        onClick={() =>
          standIn === null
            ? ask('SHOW', { ordinals: String(row.ordinal) })
            : ask('EXPAND', { index: String(standIn) })
        }
      >
        Bring back
      </button>
    )
  if (row.standsFor.length === 0) return null
  return (
    <button
      type="button"
      aria-label={`Bring back its originals: the ${about}`}
      onClick={() => ask('EXPAND', { index: String(row.index) })}
    >
      Bring back its originals
    </button>
  )
}

interface Now {
  row: Row // as the newest version has it
  standIn: number | null // where a summary is shown instead of it
}

async function nowOf(id: string, ordinal: number): Promise<Now | null> {
  const [row] = (await client.rows(id, { ordinals: String(ordinal) })).rows
  if (!row) return null
  return { row, standIn: row.index === null ? await standInOf(id, ordinal) : null }
}

// A summary may be hidden behind another one: then that one is expanded first.
async function standInOf(id: string, ordinal: number): Promise<number | null> {
  const summaries = (await client.receipts(id)).flatMap(receipt => receipt.summaries)
  const seen = new Set<number>()
  for (let of = ordinal; !seen.has(of); ) {
    seen.add(of)
    const above = summaries.findLast(summary => summary.standsFor.includes(of))
    if (!above) return null
    const [row] = (await client.rows(id, { ordinals: String(above.ordinal) })).rows
    if (row && row.index !== null) return row.index
    of = above.ordinal
  }
  return null
}

async function attempt(action: () => Promise<void>): Promise<void> {
  try {
    await action()
  } catch (error) {
    tell(error)
  }
}

// A hidden message is shown by the version before the one that hid it last.
async function versionWith(id: string, { ordinal }: Row, version?: number): Promise<number> {
  if (version !== undefined) return version
  const { visible, hidden } = await client.blame(id, ordinal)
  const last = hidden.at(-1)
  return visible || !last ? head.value : last.version - 1
}

async function copyLink(id: string, row: Row, version?: number): Promise<void> {
  const place = messagePlace(id, await versionWith(id, row, version), row.ordinal)
  await navigator.clipboard.writeText(new URL(place, location.href).href)
  inform('The link is copied.')
}

async function forkFrom(
  id: string,
  row: Row,
  version: number | undefined,
  last: number | undefined,
  isEdited: boolean,
): Promise<void> {
  const from = await versionWith(id, row, version)
  const { count, rows } = await client.rows(id, {
    atVersion: from,
    ordinals: String(row.ordinal),
  })
  const index = rows[0]?.index ?? null
  if (index === null) throw new Error(`Version ${from} does not show this message.`)
  const kept = Math.max(index, last ?? index) + 1
  ask('FORK', {
    version: String(from),
    kept: String(kept),
    after: String(count - kept),
    ...(isEdited && { index: String(index), message: pretty(row.message) }),
  })
}
