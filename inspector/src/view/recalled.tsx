// Messages of all conversations that share words with what is searched for, hidden ones too.

import { signal } from '@preact/signals'
import type { StoreFound, UnreadFound } from '../api/protocol'
import { client, goToMessage, listed, open, search, tell } from '../state'

const recalled = signal<StoreFound[]>([])
const unread = signal<UnreadFound[]>([])
const recalledMax = 20
const gistLength = 120

// As the list has it.
function titleOf(id: string): string {
  return listed.value.find(each => each.id === id)?.about?.title || id
}

export async function loadRecalled(): Promise<void> {
  const wanted = search.value.trim()
  try {
    const found = wanted.length < 2 ? null : await client.recallEverywhere(wanted, recalledMax)
    if (wanted !== search.value.trim()) return
    recalled.value = found?.found ?? []
    unread.value = found?.unread ?? []
  } catch (error) {
    tell(error)
  }
}

// A hidden message is shown in the last version that has it.
async function goTo(found: { conversation: string; ordinal: number }): Promise<void> {
  try {
    const blame = await client.blame(found.conversation, found.ordinal)
    const hidden = blame.visible ? undefined : blame.hidden.at(-1)
    await open(found.conversation, hidden ? hidden.version - 1 : null)
    await goToMessage(found.ordinal)
  } catch (error) {
    tell(error)
  }
}

// Once it is open its messages can be searched.
async function openUnread({ conversation }: UnreadFound): Promise<void> {
  const wanted = search.value.trim()
  await open(conversation)
  try {
    const { units } = await client.recall(conversation, wanted)
    const ordinal = units[0]?.matched[0]
    if (ordinal !== undefined) await goTo({ conversation, ordinal })
  } catch (error) {
    tell(error)
  }
}

function gist(found: StoreFound): string {
  const content = (found.message as { content?: unknown }).content
  const text = typeof content === 'string' ? content : JSON.stringify(content ?? found.message)
  return text.length > gistLength ? `${text.slice(0, gistLength)}…` : text
}

export function Recalled() {
  return (
    <>
      {recalled.value.length > 0 && <Messages />}
      {unread.value.length > 0 && <Unread />}
    </>
  )
}

function Unread() {
  return (
    <>
      <h3 class="quiet">In sessions not opened yet</h3>
      <ul class="conversations unread">
        {unread.value.map(found => (
          <li key={found.conversation}>
            <button type="button" class="conversation" onClick={() => void openUnread(found)}>
              {titleOf(found.conversation)} <span class="quiet">{found.excerpt}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}

function Messages() {
  return (
    <>
      <h3 class="quiet">Messages</h3>
      <ul class="conversations recalled">
        {recalled.value.map(found => (
          <li key={`${found.conversation}#${found.ordinal}`}>
            <button type="button" class="conversation" onClick={() => void goTo(found)}>
              {titleOf(found.conversation)} #{found.ordinal}{' '}
              <span class="quiet">{gist(found)}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}
