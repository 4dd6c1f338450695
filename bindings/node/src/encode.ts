// Values of JavaScript as JSON text. Not JSON.stringify: that turns NaN into null, leaves out functions, asks toJSON, and escapes lone surrogates, and what is stored
// would not be what was given. Here each of these is refused, with its place. A member whose value is undefined is a member that is not there.
import { UndertextError } from './error.js'
import { native, type NativeText, type Text } from './native.js'

// Deeper than the engine allows; what nests deeper contains itself, or is refused anyway.
const depthMax = 1000
const charactersMax = 2 ** 28
const loneSurrogate = 'holds a lone surrogate, which is no character'

// Where the value being written stands. A getter may come back here: each encode() puts back what it found.
const trail: (string | number)[] = []
let characters = 0

function refuse(code: 'invalid_argument' | 'too_large', message: string, cause?: unknown): never {
  let path = ''
  for (const step of trail) path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`
  const field = trail.findLast((step) => typeof step === 'string')
  throw new UndertextError(code, path === '' ? message : `${path}: ${message}`, { field: field as string | undefined, path: path || undefined }, cause)
}

// Strings that are too long to be written at once; in the text stands their number between two NULs, which JSON never has. `offered` is for the next encode(), and not
// for those that a getter sets off within it.
const longCharacters = 64 * 1024
let aside: string[] | undefined
let offered: string[] | undefined

function writeString(value: string): string {
  characters += value.length
  if (characters > charactersMax) refuse('too_large', `more than ${charactersMax} characters`)
  if (aside !== undefined && value.length > longCharacters) return `\0${aside.push(value) - 1}\0`
  if (!value.isWellFormed()) refuse('invalid_argument', loneSurrogate)
  return JSON.stringify(value)
}

function writeList(list: readonly unknown[]): string {
  let text = '['
  const depth = trail.length
  for (let i = 0; i < list.length; ++i) {
    trail[depth] = i
    if (i > 0) text += ','
    text += write(list[i])
  }
  trail.length = depth
  return text + ']'
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

function writeMembers(value: object, text: string): string {
  // Instances of classes are their members; a Map, a Date or a Promise has none that say what it is.
  if (!isPlain(value) && (Object.prototype.toString.call(value) !== '[object Object]' || typeof (value as { toJSON?: unknown }).toJSON === 'function')) {
    refuse('invalid_argument', 'must be plain data: strings, numbers, booleans, null, lists and objects of these')
  }
  const depth = trail.length
  for (const key of Object.keys(value)) {
    trail[depth] = key
    const member = (value as Record<string, unknown>)[key]
    if (member === undefined) continue
    if (text.length > 1) text += ','
    text += writeString(key) + ':' + write(member)
  }
  trail.length = depth
  return text
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
      if (trail.length > depthMax) refuse('invalid_argument', 'is nested too deeply, or contains itself')
      // Counted, so that a value which is small but named many times over ends somewhere.
      if (++characters > charactersMax) refuse('too_large', `more than ${charactersMax} characters`)
      return Array.isArray(value) ? writeList(value) : writeMembers(value, '{') + '}'
    default:
      return refuse('invalid_argument', `${typeof value} is no type of JSON`)
  }
}

function encodeWith(work: () => string): string {
  const depth = trail.length
  const counted = characters
  const before = aside
  if (depth === 0) characters = 0
  aside = offered
  offered = undefined
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof UndertextError) throw thrown
    // A getter or a proxy threw, or the text became longer than a string can be.
    return refuse(thrown instanceof RangeError ? 'too_large' : 'invalid_argument', `cannot be read: ${messageOf(thrown)}`, thrown)
  } finally {
    trail.length = depth
    characters = counted
    aside = before
  }
}

function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown)
  } catch {
    return 'something was thrown that has no words'
  }
}

/** Any value as JSON. */
export function encode(value: unknown): string {
  return encodeWith(() => write(value))
}

export interface LongText {
  text: Text
  long: string[]
}

/** What `encode` gives, with strings that are too long to be written at once set aside. Strings never change: they can be written later. */
export function setAside(encode: () => Text): LongText {
  const long: string[] = []
  offered = long
  try {
    return { text: encode(), long }
  } finally {
    offered = undefined
  }
}

/** Writes it out, a little each time the loop comes by. */
export async function writeOut({ text, long }: LongText): Promise<NativeText> {
  const out = native.text()
  for (const [i, piece] of String(text).split('\0').entries()) {
    if (i % 2 === 0) {
      out.add(piece)
      continue
    }
    const value = long[Number(piece)]!
    out.add('"')
    for (let from = 0; from < value.length; ) {
      let to = from + longCharacters
      // Not between the halves of a surrogate pair.
      if ((value.charCodeAt(to - 1) & 0xfc00) === 0xd800) --to
      const slice = value.slice(from, to)
      if (!slice.isWellFormed()) throw new UndertextError('invalid_argument', loneSurrogate)
      out.add(JSON.stringify(slice).slice(1, -1))
      from = to
      await new Promise((resolve) => setImmediate(resolve))
    }
    out.add('"')
  }
  return out
}

/** A line of the protocol: `name` is what is asked for ("query" or "operation"), and the members of `parts` stand beside it. */
export function encodeRequest(kind: 'query' | 'operation', name: string, ...parts: (object | undefined)[]): string {
  return encodeWith(() => {
    let text = `{"${kind}":"${name}"`
    for (const part of parts) {
      if (part === undefined) continue
      if (typeof part !== 'object' || part === null || Array.isArray(part)) refuse('invalid_argument', 'must be an object')
      text = writeMembers(part, text)
    }
    return text + '}'
  })
}
