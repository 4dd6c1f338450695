// One list of messages turned into another, as operations: what stays is not stored again, and every earlier list stays readable.
import type { Message, Operation } from '../types.js'
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

/**
 * The operations after which a view that reads `before` reads `after`; messages are compared by their texts, and `message` makes the ones that are new.
 * Not always the fewest: what moved to another place is stored anew.
 */
export function changes(before: readonly string[], after: readonly string[], message: (index: number) => Message): Operation[] {
  const operations: Operation[] = []
  const placeBefore = places(before)
  const placeAfter = places(after)
  let i = 0
  let j = 0
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      ++i
      ++j
      continue
    }
    const keptAt = placeBefore(after[j]!, i)
    const comesAt = placeAfter(before[i]!, j)
    if (keptAt !== undefined) {
      operations.push({ operation: 'DELETE', indices: range(j, keptAt - i) })
      i = keptAt
    } else if (comesAt !== undefined) {
      let end = j + 1
      while (end < comesAt && placeBefore(after[end]!, i) === undefined) ++end
      operations.push({ operation: 'INSERT', position: j, messages: range(j, end - j).map(message) })
      j = end
    } else {
      operations.push({ operation: 'REPLACE', index: j, message: message(j) })
      ++i
      ++j
    }
  }
  if (i < before.length) operations.push({ operation: 'DELETE', indices: range(j, before.length - i) })
  if (j < after.length) operations.push({ operation: 'APPEND', messages: range(j, after.length - j).map(message) })
  return operations
}

/** Carries them out in one step, or fails with `conflict` where `version` is no longer the head. The version that came of it. */
export async function applyAt(conversation: AnyConversation, version: number, operations: readonly Operation[]): Promise<number> {
  const [first, ...rest] = operations
  if (first === undefined) return version
  return (await conversation.apply([{ ...first, expectedVersion: version }, ...rest])).at(-1)!.version
}
