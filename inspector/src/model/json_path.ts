// A value of JSON as its leaves, each with its path, such as `messages[4].content[0].text`.

import type { Json } from '../api/types'

type RawJson = { isRawJSON?: (value: unknown) => boolean }

// A number in its own spelling (api/json.ts) is an object to JavaScript, but a leaf here.
const isRaw = (value: object): boolean => (JSON as RawJson).isRawJSON?.(value) ?? false

export function isList(value: Json | undefined): value is Json[] {
  return Array.isArray(value)
}

export function isObject(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRaw(value)
}

const plainName = /^[A-Za-z_$][\w$-]*$/

export function memberPath(path: string, name: string): string {
  if (!plainName.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path ? `${path}.${name}` : name
}

export function itemPath(path: string, index: number): string {
  return `${path}[${index}]`
}

// The text of the value where it is one, else its JSON.
export function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function isEqual(a: Json, b: Json): boolean {
  if (isList(a))
    return isList(b) && a.length === b.length && a.every((item, i) => isEqual(item, b[i] as Json))
  if (!isObject(a))
    return isObject(b) || isList(b) ? false : a === b || JSON.stringify(a) === JSON.stringify(b)
  if (!isObject(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every(name => Object.hasOwn(b, name) && isEqual(a[name] as Json, b[name] as Json))
  )
}
