// Copies of plain data, several times quicker than writing it as text: what there is no time to write when a call is made is copied then, and written later.

// More than this is written at once, which ends where the text becomes too long: a value that is small but named many times over has no end.
const objectsMax = 4_000_000
// Deeper than the engine allows; what nests deeper contains itself, or is refused anyway.
export const depthMax = 1000
const notCopied = Symbol('no plain data')

let objects = 0

/** Whether its members say all that it is. Those of an instance of a class do; a Map, a Date or a Promise has none that do. */
export function isMembers(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return true
  return (
    Object.prototype.toString.call(value) === '[object Object]' &&
    typeof (value as { toJSON?: unknown }).toJSON !== 'function'
  )
}

function copy(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > depthMax || ++objects > objectsMax) throw notCopied
  if (Array.isArray(value)) return copyItems(value, 0, depth)
  if (!isMembers(value)) throw notCopied
  const made: Record<string, unknown> = { ...value }
  for (const key in made) {
    const member = made[key]
    if (typeof member === 'object' && member !== null) made[key] = copy(member, depth + 1)
  }
  return made
}

function copyItems(list: readonly unknown[], from: number, depth: number): unknown[] {
  const made: unknown[] = []
  for (let i = from; i < list.length; ++i) {
    const item = list[i]
    if (item === undefined) throw notCopied
    made.push(copy(item, depth + 1))
  }
  return made
}

// undefined for what cannot be copied, whatever the reason: reading it once more tells.
function attempt<T>(make: () => T): T | undefined {
  // Members that every object inherits would become the copies' own.
  for (const _ in Object.prototype) return undefined
  const counted = objects
  objects = 0
  try {
    return make()
  } catch {
    return undefined
  } finally {
    objects = counted
  }
}

/** The elements of `list` from the index `from` on; undefined where some are no plain data. */
export function copyOfItems(list: readonly unknown[], from: number): unknown[] | undefined {
  return attempt(() => copyItems(list, from, 0))
}

/** The members of `value` of these names, in their order; undefined where some are no plain data. */
export function copyOfMembers(value: object, keys: readonly string[]): object | undefined {
  return attempt(() =>
    Object.fromEntries(keys.map(key => [key, copy((value as Record<string, unknown>)[key], 0)])),
  )
}
