// What differs between two values of JSON, by path: the smallest parts that came, went or became something else.

import type { Json } from '../api/types'
import { isEqual, isList, isObject, itemPath, memberPath } from './json_path'

export interface Change {
  path: string // in the later value; of what went, in the earlier one
  before?: Json
  after?: Json
}

export function jsonDiff(before: Json, after: Json): Change[] {
  const changes: Change[] = []
  compare('', before, after, changes)
  return changes
}

function compare(path: string, before: Json, after: Json, changes: Change[]): void {
  if (isList(before) && isList(after)) compareLists(path, before, after, changes)
  else if (isObject(before) && isObject(after)) compareMembers(path, before, after, changes)
  else if (!isEqual(before, after)) changes.push({ path, before, after })
}

function compareMembers(
  path: string,
  before: { [name: string]: Json },
  after: { [name: string]: Json },
  changes: Change[],
): void {
  for (const [name, value] of Object.entries(before)) {
    const at = memberPath(path, name)
    if (Object.hasOwn(after, name)) compare(at, value, after[name] as Json, changes)
    else changes.push({ path: at, before: value })
  }
  for (const [name, value] of Object.entries(after))
    if (!Object.hasOwn(before, name)) changes.push({ path: memberPath(path, name), after: value })
}

// Lists of requests grow at their end and are cut somewhere: what both begin and end with is left out. Of the rest, items that
// are in both stay where they are, and those between them are compared where they are alike.
function compareLists(path: string, before: Json[], after: Json[], changes: Change[]): void {
  const most = Math.min(before.length, after.length)
  let start = 0
  while (start < most && isEqual(before[start] as Json, after[start] as Json)) ++start
  let end = 0
  while (
    end < most - start &&
    isEqual(before[before.length - 1 - end] as Json, after[after.length - 1 - end] as Json)
  )
    ++end
  const [old, now] = [
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  ]
  let [i, j] = [0, 0]
  for (const [keptOld, keptNow] of [...inBoth(old, now), [old.length, now.length] as const]) {
    compareGap(path, start, old, [i, keptOld], now, [j, keptNow], changes)
    ;[i, j] = [keptOld + 1, keptNow + 1]
  }
}

function compareGap(
  path: string,
  start: number,
  old: Json[],
  [i, oldEnd]: [number, number],
  now: Json[],
  [j, nowEnd]: [number, number],
  changes: Change[],
): void {
  const [gone, come]: [Change[], Change[]] = [[], []]
  for (; i < oldEnd || j < nowEnd; ++i, ++j) {
    const [a, b] = [i < oldEnd ? old[i] : undefined, j < nowEnd ? now[j] : undefined]
    if (a !== undefined && b !== undefined && isAlike(a, b)) {
      compare(itemPath(path, start + j), a, b, changes)
      continue
    }
    if (a !== undefined) gone.push({ path: itemPath(path, start + i), before: a })
    if (b !== undefined) come.push({ path: itemPath(path, start + j), after: b })
  }
  changes.push(...gone, ...come)
}

// Whether one may have become the other: what names them is equal.
const naming = ['type', 'role', 'name', 'id']

function isAlike(a: Json, b: Json): boolean {
  if (!isObject(a) || !isObject(b)) return !isObject(a) && !isObject(b) && isList(a) === isList(b)
  return naming.every(
    name =>
      a[name] === undefined || b[name] === undefined || isEqual(a[name] as Json, b[name] as Json),
  )
}

const pairsMax = 1_000_000

// Pairs of places of items that are in both lists, in order, as many as there can be.
function inBoth(old: Json[], now: Json[]): [number, number][] {
  if (old.length * now.length > pairsMax) return []
  const [a, b] = [old.map(item => JSON.stringify(item)), now.map(item => JSON.stringify(item))]
  const width = now.length + 1
  const longest = new Uint32Array((old.length + 1) * width) // of what is behind i and j
  const at = (i: number, j: number) => longest[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; --i)
    for (let j = now.length - 1; j >= 0; --j)
      longest[i * width + j] =
        a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const pairs: [number, number][] = []
  for (let i = 0, j = 0; i < old.length && j < now.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++])
    else if (at(i + 1, j) >= at(i, j + 1)) ++i
    else ++j
  }
  return pairs
}
