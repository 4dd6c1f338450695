// Messages of other libraries inside ours: each is kept whole, and shows the engine a role, a content and its tool calls, so that counts, queries and requests make sense.
//
// What is shown as content is not stored twice: it is moved out of the item, which holds null in its place, and `home` says where it belongs. So an edit of the content
// (TRANSFORM, say) is an edit of the item. Where an edit cannot be one of the item (a MERGE of calls, a text in the place of a picture) the message is no longer of one item.
import { encode } from '../encode.js'
import { UndertextError } from '../error.js'
import type { Conversation } from '../conversation.js'
import type { MemoryConversation } from '../memory.js'
import type { Message } from '../types.js'
import { isCall, isResult, saidByPart } from './said.js'

/** What an adapter of one conversation is put on. */
export type AnyConversation = Conversation | MemoryConversation

export type Item = Record<string, unknown>
type Path = readonly (string | number)[]

/** What the engine is to see of an item. */
export interface Face {
  role: Message['role']
  /** Where the item has what may stand as content. */
  home?: Path
  /** What is there is the only part of the content. Of the whole item it always is. */
  isPart?: true
  /** Content where there is nothing at `home` that may be one. */
  text?: string
  id?: unknown
  name?: unknown
  toolCalls?: unknown[]
  toolCallId?: unknown
  /** The names (see nameOfPart) of the parts of its content that the framework would not put there. */
  strange?: string[]
}

interface Enclosed {
  kind: string
  item: unknown
  home?: Path
  isPart?: true
  /** The strange parts that it had when it was given. */
  strange?: string[]
  /** Of an item that is several messages: it goes on the one before. */
  continues?: true
}

export function isObject(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function partsOf(content: unknown): Item[] {
  return Array.isArray(content) ? content.filter(isObject) : []
}

/** The kinds of parts that a framework puts into a content, each with members that it cannot be without: other libraries have parts of the same type. */
export type PartKinds = Record<string, readonly string[]>

export function isOf(kinds: PartKinds, part: Item): boolean {
  const type = part['type']
  return (
    typeof type === 'string' &&
    Object.hasOwn(kinds, type) &&
    kinds[type]!.every(member => part[member] !== undefined)
  )
}

/** For Face: those that are of none of these kinds. */
export function strangeParts(content: unknown, isOwn: (part: Item) => boolean): string[] {
  return partsOf(content)
    .filter(part => !isOwn(part))
    .map(nameOfPart)
}

export function nameOfPart(part: Item): string {
  const id =
    part['type'] === 'tool_use'
      ? part['id']
      : part['type'] === 'tool_result'
        ? part['tool_use_id']
        : undefined
  return id === undefined ? String(part['type']) : `${String(part['type'])} ${String(id)}`
}

/** Those that are not among `others`; where one stands there twice, two are. */
export function beyond<T>(
  list: readonly T[],
  others: readonly unknown[],
  key: (each: T) => unknown,
): T[] {
  const left = [...others]
  return list.filter(each => {
    const index = left.indexOf(key(each))
    if (index >= 0) left.splice(index, 1)
    return index < 0
  })
}

function at(value: unknown, path: Path): unknown {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    found = (found as Record<string | number, unknown>)[step]
  }
  return found
}

// A copy with something else at `path`; keys keep their order, and __proto__ is a key like any other.
function withValue(value: unknown, path: Path, put: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return put
  if (Array.isArray(value))
    return value.with(Number(step), withValue(value[Number(step)], rest, put))
  return { ...(value as Item), [step]: withValue((value as Item)[step], rest, put) }
}

function mayBeContent(value: unknown): value is Message['content'] {
  return typeof value === 'string'
    ? value !== ''
    : Array.isArray(value) && value.length > 0 && value.every(isObject)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function isPart({ home, isPart: said }: { home?: Path; isPart?: true }): boolean {
  return said === true || home?.length === 0
}

interface Shown {
  role: Message['role']
  content: Message['content']
  id?: string
  name?: string
  toolCalls?: unknown[]
  toolCallId?: string
}

function shownBy(item: Item, face: Face): { shown: Shown; isMoved: boolean } {
  const value = face.home === undefined ? undefined : at(item, face.home)
  const found = isPart(face) ? [value] : value
  const toolCalls = face.toolCalls?.length ? face.toolCalls : undefined
  // No content is shown by a part without text: the engine takes no message that says nothing.
  const otherwise = face.text ? face.text : toolCalls ? null : [{ type: 'text', text: '' }]
  const isMoved = mayBeContent(found)
  const content = isMoved ? found : otherwise
  return {
    shown: {
      role: face.role,
      content,
      id: text(face.id),
      name: text(face.name),
      toolCalls,
      toolCallId: text(face.toolCallId),
    },
    isMoved,
  }
}

/** The item as a message of ours. Nothing of it is lost that JSON can hold; what it cannot is refused when the message is stored. */
export function enclose(kind: string, item: Item, face: Face): Message {
  const { shown, isMoved } = shownBy(item, face)
  const enclosed: Enclosed = isMoved
    ? { kind, item: withValue(item, face.home!, null), home: face.home, isPart: face.isPart }
    : { kind, item }
  if (face.strange?.length) enclosed.strange = face.strange
  return { ...shown, foreign: enclosed }
}

function enclosedIn(kind: string, message: Message): Enclosed | undefined {
  const enclosed = message['foreign'] as Enclosed | undefined
  return isObject(enclosed) && enclosed.kind === kind ? enclosed : undefined
}

// Anybody may have written it.
function strangeIn({ strange }: Enclosed): string[] {
  return Array.isArray(strange) ? strange : []
}

// JSON leaves out what is undefined.
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  return one !== undefined && other !== undefined && encode(one) === encode(other)
}

/**
 * The item that `message` was made of, with what the engine changed in it; undefined for a message that came by another API, such as a summary, or that does not show what the
 * item would by any of `faces`.
 */
export function disclose(
  kind: string,
  message: Message,
  ...faces: ((item: Item) => Face | undefined)[]
): Item | undefined {
  const enclosed = enclosedIn(kind, message)
  if (enclosed === undefined) return undefined
  const item = contained(enclosed, message.content)
  return isObject(item) && faces.some(face => isShown(message, enclosed, item, face(item)))
    ? item
    : undefined
}

function isShown(
  message: Message,
  enclosed: Enclosed,
  item: Item,
  face: Face | undefined,
): boolean {
  // Strange parts that it did not have came with a message that was joined to it.
  if (face === undefined || beyond(face.strange ?? [], strangeIn(enclosed), String).length > 0)
    return false
  const { role, content, id, toolCalls, toolCallId } = shownBy(item, face).shown
  return (
    role === message.role &&
    id === message.id &&
    toolCallId === message.toolCallId &&
    isSame(content, message.content) &&
    isSame(toolCalls, message.toolCalls)
  )
}

/**
 * The parts of a message that are those of its framework, though it is no longer of one item. Of parts of another kind, those that say a text, as text; calls and results are
 * told elsewhere.
 */
export function ownParts(
  kind: string,
  message: Message,
  isOwn: (part: Item) => boolean,
): Item[] | undefined {
  const enclosed = enclosedIn(kind, message)
  if (enclosed === undefined || !Array.isArray(message.content)) return undefined
  return partsOf(message.content).flatMap((part): Item[] => {
    if (isOwn(part)) return [part]
    const said = saidByPart(part)
    if (isCall(said) || isResult(said)) return []
    if (strangeIn(enclosed).includes(nameOfPart(part))) return [part]
    return said.kind === 'text' && said.text !== '' ? [{ type: 'text', text: said.text }] : []
  })
}

/** Marks all but the first of the messages that one item is. */
export function asOne(messages: Message[]): Message[] {
  return messages.map((message, i) =>
    i === 0
      ? message
      : { ...message, foreign: { ...(message['foreign'] as Enclosed), continues: true } },
  )
}

export function isContinued(kind: string, message: Message): boolean {
  return enclosedIn(kind, message)?.continues === true
}

function contained(enclosed: Enclosed, content: Message['content']): unknown {
  const { item, home } = enclosed
  if (home === undefined) return item
  if (!Array.isArray(home) || at(item, home) !== null) return undefined
  if (!isPart(enclosed)) return withValue(item, home, content)
  return Array.isArray(content) && content.length === 1
    ? withValue(item, home, content[0])
    : undefined
}

/** A call of a tool, in the shape that every dialect reads. */
export function functionCall(id: unknown, name: unknown, input: unknown): Item {
  return {
    id,
    type: 'function',
    function: {
      name,
      arguments: typeof input === 'string' ? input : (JSON.stringify(input) ?? '{}'),
    },
  }
}

export function unsupported(what: string): UndertextError {
  return new UndertextError('unsupported', what)
}

/** With what other processes have committed. */
export async function refresh(conversation: AnyConversation): Promise<void> {
  if ('catchUp' in conversation && conversation.id !== '') await conversation.catchUp()
}

/** Hides all messages, those of the system too. Nothing is lost: earlier versions have them. */
export async function clearAll(conversation: AnyConversation): Promise<void> {
  await conversation.clear({ keepSystemMessage: false })
}
