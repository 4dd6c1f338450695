// What callers give, looked at before anything happens: a list of objects that JSON can hold. What is refused is named by its place.
import { encode } from '../encode.js'
import { UndertextError } from '../error.js'
import { isObject, type Item } from './foreign.js'

export function invalid(path: string, what: string): UndertextError {
  const member = path.split('.').at(-1)!
  return new UndertextError('invalid_argument', `${path} ${what}`, {
    field: member.replace(/\[.*/, ''),
    path,
  })
}

export function mustBeItems(field: string, items: unknown): asserts items is readonly Item[] {
  if (!Array.isArray(items)) throw invalid(field, 'must be a list')
  // Not forEach, which leaves out what a list has no element for.
  for (const [i, item] of (items as unknown[]).entries())
    if (!isObject(item)) throw invalid(`${field}[${i}]`, 'must be an object')
}

// The error of an item, as one of the list.
function placed(place: string, error: UndertextError): UndertextError {
  const { code, message, path, field } = error
  if (path === undefined)
    return new UndertextError(code, `${place}: ${message}`, { field, path: place }, error)
  return new UndertextError(code, `${place}.${message}`, { field, path: `${place}.${path}` }, error)
}

/** The JSON of each item. */
export function encodeItems(field: string, items: unknown): string[] {
  mustBeItems(field, items)
  return items.map((item, i) => {
    try {
      return encode(item)
    } catch (thrown) {
      throw thrown instanceof UndertextError ? placed(`${field}[${i}]`, thrown) : thrown
    }
  })
}
