// What the page knows and shows. Components read the signals; what the server said is put into them by the functions of this file alone.

import { batch, computed, signal } from '@preact/signals'
import { ApiError, Client } from './api/client'
import { follow, type LineState } from './api/events'
import type { ServerEvent } from './api/sse'
import type { Conversation, ListedConversation, VersionEntry } from './api/types'
import { RowCache } from './model/rows'
import { isRewritten, sentenceOf } from './model/told'
import { Versions } from './model/versions'

const tokenKey = 'undertext-token'

// A token may come with the address, as of `undertext wrap`; it does not stay there.
function takeToken(): string | null {
  const given = /^#token=([\w-]+)$/.exec(location.hash)?.[1]
  if (given === undefined) return sessionStorage.getItem(tokenKey)
  sessionStorage.setItem(tokenKey, given)
  history.replaceState(null, '', location.pathname)
  return given
}

export const token = signal(takeToken())
export const needsToken = signal(false)
export const client = new Client({
  token: () => token.value,
  onUnauthorized: () => (needsToken.value = true),
})

export const listed = signal<ListedConversation[]>([])
export const listNext = signal<string | undefined>(undefined)
export const search = signal('')

export const conversation = signal<Conversation | null>(null)
export const line = signal<LineState>('connecting')
export const notice = signal<{ kind: 'error' | 'info'; text: string } | null>(null)

// Counted up when entries of the history have come.
export const versionsChanged = signal(0)
export let versions = new Versions(
  async () => [],
  () => {},
)

// What is looked at: the transcript (null), the requests, or one of them.
export interface RequestsPlace {
  number: number | null
}
export const requestsPlace = signal<RequestsPlace | null>(null)

// Whether the page shows what all conversations come to.
export const isOverview = signal(false)
export const overviewPlace = '#/:overview' // no id has a colon

export const chosenVersion = signal<number | null>(null) // null: the head, whatever it is
export const head = computed(() => conversation.value?.version ?? 0)
export const shownVersion = computed(() => Math.min(chosenVersion.value ?? head.value, head.value))

export interface Shown {
  id: string
  version: number
  count: number
  rows: RowCache
}
export const shown = signal<Shown | null>(null)
export const rowsChanged = signal(0)
export const cursor = signal(0) // index of the message that the keyboard is at
export const reveal = signal<{ index: number } | null>(null) // asks the transcript to bring an index into sight

let inSight = { first: 0, last: 20 }
let unfollow: () => void = () => {}

export function tell(error: unknown): void {
  if (error instanceof ApiError && error.status === 401) return // the page asks for a token instead
  const text =
    error instanceof ApiError
      ? `${error.body.code}: ${error.message}`
      : error instanceof Error
        ? error.message
        : String(error)
  notice.value = { kind: 'error', text }
}

let informed: ReturnType<typeof setTimeout> | undefined

// Something that went as it should: said, and taken back by itself.
export function inform(text: string): void {
  const said = { kind: 'info' as const, text }
  notice.value = said
  clearTimeout(informed)
  informed = setTimeout(() => notice.value === said && (notice.value = null), 6000)
}

export function giveToken(text: string): void {
  sessionStorage.setItem(tokenKey, text)
  batch(() => {
    token.value = text
    needsToken.value = false
  })
  void start()
}

export async function start(): Promise<void> {
  isOverview.value = location.hash === overviewPlace
  await loadList()
  if (isOverview.value) return
  const asked = readPlace()
  const id = asked.id ?? listed.value[0]?.id
  if (id) await open(id, asked.version, asked.requests, asked.message)
}

export async function loadList(after?: string): Promise<void> {
  const wanted = search.value
  try {
    const page = await client.list(wanted, after)
    if (wanted !== search.value) return
    listed.value =
      after === undefined ? page.conversations : [...listed.value, ...page.conversations]
    listNext.value = page.next ?? undefined
  } catch (error) {
    tell(error)
  }
}

// What other programs began or wrote meanwhile. A list that was unfolded by hand stays as it is.
export async function refreshList(): Promise<void> {
  const wanted = search.value
  const shows = listed.value
  if (document.hidden || shows.length > 50 || !shows.some(each => each.about)) return
  try {
    const page = await client.list(wanted)
    if (wanted !== search.value || listed.value !== shows) return
    listed.value = page.conversations
    listNext.value = page.next
  } catch {
    // The line to the open conversation says that the server is away.
  }
}

// The address of the page names what it shows: #/ID, #/ID/VERSION, #/ID/VERSION/ORDINAL, #/ID/requests or #/ID/requests/NUMBER.
interface Place {
  id: string | null
  version: number | null
  message: number | null
  requests: RequestsPlace | null
}

let linkedMessage: number | null = null // the ordinal that the address names

const numberIn = (text: string | undefined): number | null =>
  text && /^\d{1,15}$/.test(text) ? Number(text) : null

function readPlace(): Place {
  const [, id, what, number] = location.hash.split('/')
  const requests = what === 'requests' ? { number: numberIn(number) } : null
  const version = requests ? null : numberIn(what)
  return {
    id: id && /^[\w.-]+$/.test(id) ? id : null,
    version,
    message: version === null ? null : numberIn(number),
    requests,
  }
}

export function goToPlace(): void {
  isOverview.value = location.hash === overviewPlace
  const { id, version, message, requests } = readPlace()
  if (!id) return
  const isShown = version === chosenVersion.value || version === shownVersion.value
  const isOpen = id === conversation.value?.id && (requests !== null || isShown)
  if (!isOpen) return void open(id, version, requests, message)
  requestsPlace.value = requests
  if (message !== null) void goToMessage(message)
}

export function placeOf(
  id: string,
  version: number | null,
  requests: RequestsPlace | null,
): string {
  const what = requests
    ? `/requests${requests.number === null ? '' : `/${requests.number}`}`
    : version === null
      ? ''
      : `/${version}`
  return `#/${encodeURIComponent(id)}${what}`
}

// Of a message as a version shows it: it stays the same whatever happens later.
export function messagePlace(id: string, version: number, ordinal: number): string {
  return `${placeOf(id, version, null)}/${ordinal}`
}

// Brings the message into sight, where the shown version shows it.
export async function goToMessage(ordinal: number): Promise<void> {
  const id = conversation.value?.id
  if (!id) return
  try {
    const { rows } = await client.rows(id, {
      atVersion: shownVersion.value,
      ordinals: String(ordinal),
    })
    const index = rows[0]?.index
    if (typeof index !== 'number' || id !== conversation.value?.id) return
    linkedMessage = ordinal
    reveal.value = { index }
    writePlace()
  } catch (error) {
    tell(error)
  }
}

function writePlace(): void {
  const id = conversation.value?.id
  if (!id) return
  if (isOverview.value) return
  const place =
    linkedMessage === null || requestsPlace.value
      ? placeOf(id, chosenVersion.value, requestsPlace.value)
      : messagePlace(id, shownVersion.value, linkedMessage)
  if (place !== location.hash) history.replaceState(null, '', place)
}

let opening = 0

// Another conversation is opened where this one was looked at: among its requests, or as a transcript.
export async function open(
  id: string,
  version: number | null = null,
  requests: RequestsPlace | null = requestsPlace.value && { number: null },
  message: number | null = null,
): Promise<void> {
  const turn = ++opening
  isOverview.value = false
  unfollow()
  try {
    const found = await client.conversation(id)
    if (turn !== opening) return // another one was asked for meanwhile
    versions = new Versions(
      (before, limit) => client.history(id, before, limit),
      () => (versionsChanged.value += 1),
    )
    inSight = { first: 0, last: 20 }
    batch(() => {
      conversation.value = found
      chosenVersion.value = version !== null && version < found.version ? version : null
      requestsPlace.value = requests
      cursor.value = 0
      notice.value = null
      linkedMessage = message
    })
    writePlace()
    unfollow = follow(client, id, found.version, { onEvent: event => onEvent(id, event), onState })
    await show()
    reveal.value = { index: 0 }
    if (message !== null && turn === opening) await goToMessage(message)
  } catch (error) {
    tell(error)
  }
}

function onState(state: LineState): void {
  line.value = state
  if (state === 'live') lookAt(inSight.first, inSight.last) // what could not be had before
}

// Reloads the conversation, when versions were pruned.
async function reload(): Promise<void> {
  const id = conversation.value?.id
  if (id) await open(id, chosenVersion.value, requestsPlace.value)
}

export function choose(version: number | null): void {
  chosenVersion.value = version === null || version >= head.value ? null : Math.max(0, version)
  linkedMessage = null
  writePlace()
  void show()
}

export function lookAt(first: number, last: number): void {
  inSight = { first, last }
  shown.value?.rows.want(first, last, shown.value.count)
}

let asked = 0

// Brings the view of the chosen version to the screen. The old one stays until what is in sight of the new one is there, so nothing flickers.
async function show(): Promise<void> {
  const turn = ++asked
  const id = conversation.value?.id
  const version = shownVersion.value
  if (!id) return
  try {
    await versions.load(version, version)
  } catch (error) {
    return tell(error)
  }
  if (turn !== asked) return
  const count = versions.get(version)?.messageCount ?? 0
  let isShown = false
  const next: Shown = {
    id,
    version,
    count,
    rows: new RowCache(
      (start, end, signal) => client.allRows(id, version, start, Math.min(end, count), signal),
      error => {
        if (error) tell(error)
        if (turn !== asked && !isShown) return
        isShown = true
        batch(() => {
          if (turn === asked) shown.value = next
          rowsChanged.value += 1
        })
      },
    ),
  }
  const last = Math.min(inSight.last, Math.max(0, count - 1))
  if (count === 0) shown.value = next
  else next.rows.want(Math.max(0, Math.min(inSight.first, last - 20)), last, count)
}

function onEvent(id: string, event: ServerEvent): void {
  if (conversation.value?.id !== id) return
  if (event.type === 'version') return void onVersion(JSON.parse(event.data) as VersionEntry)
  if (event.type === 'reset' || isRewritten(event)) return void reload()
  const said = sentenceOf(event)
  if (said) inform(said)
  if (event.type === 'deleted') void loadList()
}

const catchUpMs = 80
let catchingUp = false

// Versions may come by the hundred: what they are is looked at once for all that have come in a moment.
function onVersion(entry: VersionEntry): void {
  const current = conversation.value
  if (!current || entry.version <= current.version) return
  conversation.value = { ...current, version: entry.version }
  if (catchingUp) return
  catchingUp = true
  setTimeout(() => {
    catchingUp = false
    if (chosenVersion.value === null) void show()
    void refresh(conversation.value?.id ?? '') // statistics and forks, which the event does not tell
  }, catchUpMs)
}

// What there is now; also for when no event tells it.
export async function refresh(id: string): Promise<void> {
  if (!id) return
  try {
    const found = await client.conversation(id)
    const current = conversation.value
    if (current?.id !== id || found.version < current.version) return
    conversation.value = found
    if (found.version > current.version && chosenVersion.value === null) void show()
  } catch (error) {
    tell(error)
  }
}
