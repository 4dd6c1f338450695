// Values of JavaScript as JSON text. Not JSON.stringify: that turns NaN into null, leaves out functions, asks toJSON, and escapes lone surrogates, and what is stored
// would not be what was given. Here each of these is refused, with its place. A member whose value is undefined is a member that is not there, but for the `content` of a message.
//
// A long text is written bit by bit, so that the loop can do something else in between. What it says is settled when the call is made: what is left then is copied.
import { copyOfItems, copyOfMembers, depthMax, isMembers } from './copy.js'
import { UndertextError } from './error.js'
import { native, type NativeText, type Text } from './native.js'

const charactersMax = 2 ** 28
const loneSurrogate = 'holds a lone surrogate, which is no character'

// As much of a long text is written at a time. An element or a member takes about as long as `itemCharacters` characters of a string.
const charactersAtOnce = 32 * 1024
const itemCharacters = 32
// Shorter strings are never put off.
const shortCharacters = 256

const pathStepsMax = 32

type Step = string | number

// What was put off. Of a list, `start` is the index that the first of `items` has in the whole.
type Rest =
  | { text: string; at: number }
  | { items: readonly unknown[]; at: number; start: number }
  | { iterator: Iterator<unknown>; start: number }
  | { members: object; keys: readonly string[]; at: number; isFirst: boolean }

interface PutOff {
  rest: Rest
  trail: readonly Step[]
}

interface Writing {
  /** Where the value being written stands. */
  trail: Step[]
  characters: number
  /** How much more is written now. */
  room: number
  /** In the text stands its number between two NULs, which JSON never has. */
  putOff: PutOff[]
  /** What is written is a copy, which nobody changes. */
  isCopy: boolean
}

// A getter may come back here: whoever sets it puts back what was there.
let now = begun(Infinity)

function begun(room: number): Writing {
  return { trail: [], characters: 0, room, putOff: [], isCopy: false }
}

function refuse(code: 'invalid_argument' | 'too_large', message: string, cause?: unknown): never {
  let path = ''
  // What contains itself has a path without end.
  for (const step of now.trail.slice(0, pathStepsMax))
    path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`
  if (now.trail.length > pathStepsMax) path += '…'
  const field = now.trail.findLast(step => typeof step === 'string')
  throw new UndertextError(
    code,
    path === '' ? message : `${path}: ${message}`,
    { field: field as string | undefined, path: path || undefined },
    cause,
  )
}

function later(rest: Rest): string {
  return `\0${now.putOff.push({ rest, trail: now.trail.slice() }) - 1}\0`
}

function writeString(value: string): string {
  now.characters += value.length
  if (now.characters > charactersMax) refuse('too_large', `more than ${charactersMax} characters`)
  if (value.length > now.room && value.length > shortCharacters)
    return later({ text: value, at: 0 })
  now.room -= value.length
  if (!value.isWellFormed()) refuse('invalid_argument', loneSurrogate)
  return JSON.stringify(value)
}

// A long string, as much of it as there is room for.
function writeCharacters(value: string, at: number): string {
  let end = at + Math.max(now.room, shortCharacters)
  // Not between the halves of a surrogate pair.
  if ((value.charCodeAt(end - 1) & 0xfc00) === 0xd800) --end
  const slice = value.slice(at, end)
  now.room -= slice.length
  if (!slice.isWellFormed()) refuse('invalid_argument', loneSurrogate)
  const text = (at === 0 ? '"' : '') + JSON.stringify(slice).slice(1, -1)
  return text + (end < value.length ? later({ text: value, at: end }) : '"')
}

function writeItem(value: unknown, index: number): string {
  now.room -= itemCharacters
  now.trail.push(index)
  const text = write(value)
  now.trail.pop()
  return index > 0 ? ',' + text : text
}

function writeItems(items: readonly unknown[], from: number, start: number): string {
  let text = ''
  for (let at = from; at < items.length; ++at) {
    if (now.room <= 0) {
      if (now.isCopy) return text + later({ items, at, start })
      const copy = copyOfItems(items, at)
      if (copy !== undefined) return text + later({ items: copy, at: 0, start: start + at })
      now.room = Infinity
    }
    text += writeItem(items[at], start + at)
  }
  return text
}

function writePulled(iterator: Iterator<unknown>, start: number): string {
  let text = ''
  for (let index = start; ; ++index) {
    if (now.room <= 0) return text + later({ iterator, start: index })
    const next = iterator.next()
    if (next.done === true) return text
    try {
      text += writeItem(next.value, index)
    } catch (thrown) {
      iterator.return?.()
      throw thrown
    }
  }
}

function writeMembers(
  members: object,
  keys: readonly string[],
  from: number,
  isFirst: boolean,
): string {
  let text = ''
  for (let at = from; at < keys.length; ++at) {
    if (now.room <= 0) {
      if (now.isCopy) return text + later({ members, keys, at, isFirst: isFirst && text === '' })
      const left = keys.slice(at)
      const copy = copyOfMembers(members, left)
      if (copy !== undefined)
        return text + later({ members: copy, keys: left, at: 0, isFirst: isFirst && text === '' })
      now.room = Infinity
    }
    const key = keys[at]!
    now.trail.push(key)
    let member = (members as Record<string, unknown>)[key]
    // A message of calls alone has no content, and says so: without the member it is no message.
    if (member === undefined && key === 'content' && 'role' in members) member = null
    if (member !== undefined) {
      now.room -= itemCharacters
      if (!isFirst || text !== '') text += ','
      text += writeString(key) + ':' + write(member)
    }
    now.trail.pop()
  }
  return text
}

function membersOf(value: object, isFirst: boolean): string {
  if (!isMembers(value))
    refuse(
      'invalid_argument',
      'must be plain data: strings, numbers, booleans, null, lists and objects of these',
    )
  return writeMembers(value, Object.keys(value), 0, isFirst)
}

function write(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return writeString(value)
    case 'number':
      if (!Number.isFinite(value)) refuse('invalid_argument', `${value} is no number of JSON`)
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (now.trail.length > depthMax)
        refuse('invalid_argument', 'is nested too deeply, or contains itself')
      // Counted, so that a value which is small but named many times over ends somewhere.
      if (++now.characters > charactersMax)
        refuse('too_large', `more than ${charactersMax} characters`)
      if (Array.isArray(value)) return '[' + writeItems(value, 0, 0) + ']'
      if (value instanceof Pulled)
        return '[' + writePulled(value.iterable[Symbol.iterator](), 0) + ']'
      return '{' + membersOf(value, true) + '}'
    default:
      return refuse('invalid_argument', `${typeof value} is no type of JSON`)
  }
}

function writeWith(writing: Writing, work: () => string): string {
  const before = now
  now = writing
  try {
    return work()
  } catch (thrown) {
    for (const { rest } of writing.putOff) if ('iterator' in rest) rest.iterator.return?.()
    if (thrown instanceof UndertextError) throw thrown
    // A getter, a proxy or an iterator threw, or the text became longer than a string can be.
    return refuse(
      thrown instanceof RangeError ? 'too_large' : 'invalid_argument',
      `cannot be read: ${messageOf(thrown)}`,
      thrown,
    )
  } finally {
    now = before
  }
}

function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown)
  } catch {
    return 'something was thrown that has no words'
  }
}

// For the next encode(), and not for those that a getter sets off within it.
let offered: Writing | undefined

function encodeWith(work: () => string): string {
  const writing = offered ?? begun(Infinity)
  offered = undefined
  return writeWith(writing, work)
}

/** Any value as JSON. */
export function encode(value: unknown): string {
  return encodeWith(() => write(value))
}

/** A line of the protocol: `name` is what is asked for ("query" or "operation"), and the members of `parts` stand beside it. */
export function encodeRequest(
  kind: 'query' | 'operation',
  name: string,
  ...parts: (object | undefined)[]
): string {
  return encodeWith(() => {
    let text = `{"${kind}":"${name}"`
    for (const part of parts) {
      if (part === undefined) continue
      if (typeof part !== 'object' || part === null || Array.isArray(part))
        refuse('invalid_argument', 'must be an object')
      text += membersOf(part, false)
    }
    return text + '}'
  })
}

/** The elements of a list; of a long text they are taken a few each time the loop comes by. */
class Pulled {
  readonly iterable: Iterable<unknown>
  constructor(iterable: Iterable<unknown>) {
    this.iterable = iterable
  }
}

function isMany(given: unknown): given is Iterable<unknown> {
  try {
    return (
      typeof given === 'object' &&
      given !== null &&
      typeof (given as Partial<Iterable<unknown>>)[Symbol.iterator] === 'function'
    )
  } catch {
    return false // what cannot be asked is refused when it is read
  }
}

/** One value, a list of them, or anything else that gives them one by one, as a list to encode. */
export function listOf(given: unknown): object {
  if (!isMany(given)) return [given]
  return Array.isArray(given) ? given : new Pulled(given)
}

/** The same as JSON, where one value needs no list around it. */
export function encodeGiven(given: unknown): string {
  return encodeWith(() => write(isMany(given) ? listOf(given) : given))
}

export interface Begun {
  text: Text
  /** Of the text more is to be written; finishWriting() does. */
  isLong: boolean
  /** @internal */
  writing: Writing
}

/** What `encode` gives, as far as it can be written at once. Changing the values afterwards changes nothing. */
export function startWriting(encode: () => Text): Begun {
  const writing = begun(charactersAtOnce)
  offered = writing
  try {
    const text = encode()
    return { text, isLong: writing.putOff.length > 0, writing }
  } finally {
    offered = undefined
  }
}

function writeRest(rest: Rest): string {
  if ('text' in rest) return writeCharacters(rest.text, rest.at)
  if ('items' in rest) return writeItems(rest.items, rest.at, rest.start)
  if ('iterator' in rest) return writePulled(rest.iterator, rest.start)
  return writeMembers(rest.members, rest.keys, rest.at, rest.isFirst)
}

/** Writes what is left, a little each time the loop comes by. */
export async function finishWriting({ text, writing }: Begun): Promise<NativeText> {
  const out = native.text()
  // What comes next stands last.
  const todo: (string | PutOff)[] = []
  const add = (text: string, putOff: readonly PutOff[]): void => {
    const pieces = text.split('\0')
    for (let i = pieces.length; i-- > 0; )
      todo.push(i % 2 === 0 ? pieces[i]! : putOff[Number(pieces[i])]!)
  }
  add(String(text), writing.putOff)
  let { characters, room } = writing
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (typeof next === 'string') {
      out.add(next)
      continue
    }
    if (room <= shortCharacters) {
      await new Promise(resolve => setImmediate(resolve))
      room = charactersAtOnce
    }
    const { rest, trail } = next
    // What an iterator gives is not ours.
    const step: Writing = {
      trail: [...trail],
      characters,
      room,
      putOff: [],
      isCopy: !('iterator' in rest),
    }
    try {
      add(
        writeWith(step, () => writeRest(rest)),
        step.putOff,
      )
    } catch (thrown) {
      for (const left of todo)
        if (typeof left === 'object' && 'iterator' in left.rest) left.rest.iterator.return?.()
      throw thrown
    }
    characters = step.characters
    room = step.room
  }
  return out
}
