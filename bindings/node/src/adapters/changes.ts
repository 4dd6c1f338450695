// One list of messages turned into another, as operations: what stays is not stored again, and every earlier list stays readable.
import type { Message, Names, Operation } from '../types.js'
import type { AnyConversation } from './foreign.js'

// Finds the first place of a text at or beyond another; the questions of one run only go forward, so what lies behind is dropped.
function places(texts: readonly string[]): (text: string, from: number) => number | undefined {
  const lastFirst = new Map<string, number[]>()
  for (let i = texts.length - 1; i >= 0; --i) {
    const list = lastFirst.get(texts[i]!)
    if (list) list.push(i)
    else lastFirst.set(texts[i]!, [i])
  }
  return (text, from) => {
    const list = lastFirst.get(text) ?? []
    while (list.length > 0 && list.at(-1)! < from) list.pop()
    return list.at(-1)
  }
}

function range(start: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => start + i)
}

/** Hides these and no others: the framework says which, so the `pairs` that the conversation was given do not count. */
export function hiding(which: Names): Operation {
  return { operation: 'DELETE', ...which, pairs: 'literal' }
}

/** Messages of a view that stand next to each other, and the items that they are read as: one of each, mostly. */
export interface Unit {
  texts: readonly string[]
  messageCount: number
}

/** A message for each text. */
export function units(texts: readonly string[]): Unit[] {
  return texts.map((text) => ({ texts: [text], messageCount: 1 }))
}

// JSON has no newline between its tokens.
function keyOf(texts: readonly string[]): string {
  return texts.join('\n')
}

interface Run {
  key: string
  start: number
  count: number
}

// A list cut into what could stay as it is: where several items come from the same messages, they stay together or not at all.
function runsOf(after: readonly string[], before: readonly Unit[]): Run[] {
  const longer = new Map<string, (readonly string[])[]>()
  for (const { texts } of before) if (texts.length > 1) longer.set(texts[0]!, [...(longer.get(texts[0]!) ?? []), texts])
  const runs: Run[] = []
  for (let start = 0; start < after.length; ) {
    const texts = longer.get(after[start]!)?.find((each) => each.every((text, i) => after[start + i] === text)) ?? [after[start]!]
    runs.push({ key: keyOf(texts), start, count: texts.length })
    start += texts.length
  }
  return runs
}

function sum(list: readonly Unit[], start: number, end: number): number {
  return list.slice(start, end).reduce((total, { messageCount }) => total + messageCount, 0)
}

function replacing(position: number, oldCount: number, messages: Message[]): Operation[] {
  const operations: Operation[] = [{ operation: 'REPLACE', index: position, message: messages[0]! }]
  if (oldCount > 1) operations.push(hiding({ indices: range(position + 1, oldCount - 1) }))
  if (messages.length > 1) operations.push({ operation: 'INSERT', position: position + 1, messages: messages.slice(1) })
  return operations
}

/**
 * The operations after which a view that reads `before` reads `after`; items are compared by their texts, and `messages` makes those of an item that is new, one or more.
 * Not always the fewest: what moved to another place is stored anew.
 */
export function changes(before: readonly Unit[], after: readonly string[], messages: (index: number) => Message[]): Operation[] {
  const operations: Operation[] = []
  const old = before.map(({ texts }) => keyOf(texts))
  const runs = runsOf(after, before)
  const placeBefore = places(old)
  const placeAfter = places(runs.map(({ key }) => key))
  const made = (start: number, end: number): Message[] => runs.slice(start, end).flatMap((run) => range(run.start, run.count).flatMap(messages))
  let i = 0
  let j = 0
  // In the view, as it is after the operations so far.
  let position = 0
  while (i < old.length && j < runs.length) {
    if (old[i] === runs[j]!.key) {
      position += before[i]!.messageCount
      ++i
      ++j
      continue
    }
    const keptAt = placeBefore(runs[j]!.key, i)
    const comesAt = placeAfter(old[i]!, j)
    if (keptAt !== undefined) {
      operations.push(hiding({ indices: range(position, sum(before, i, keptAt)) }))
      i = keptAt
    } else if (comesAt !== undefined) {
      let end = j + 1
      while (end < comesAt && placeBefore(runs[end]!.key, i) === undefined) ++end
      const inserted = made(j, end)
      operations.push({ operation: 'INSERT', position, messages: inserted })
      position += inserted.length
      j = end
    } else {
      const replacements = made(j, j + 1)
      operations.push(...replacing(position, before[i]!.messageCount, replacements))
      position += replacements.length
      ++i
      ++j
    }
  }
  if (i < old.length) operations.push(hiding({ indices: range(position, sum(before, i, old.length)) }))
  if (j < runs.length) operations.push({ operation: 'APPEND', messages: made(j, runs.length) })
  return operations
}

/** What the operations came to: the version that reads as they say, and the head, which differs where the conversation then compressed itself. */
export interface Written {
  version: number
  head: number
}

/** Carries them out in one step, or fails with `conflict` where `version` is no longer the head. */
export async function applyAt(conversation: AnyConversation, version: number, operations: readonly Operation[]): Promise<Written> {
  const [first, ...rest] = operations
  if (first === undefined) return { version, head: version }
  const outcomes = await conversation.apply([{ ...first, expectedVersion: version }, ...rest])
  const last = outcomes.at(-1)!.version
  const versions = outcomes.flatMap(({ events }) => events ?? []).map((event) => ('version' in event ? event.version : last))
  return { version: last, head: Math.max(last, ...versions) }
}
