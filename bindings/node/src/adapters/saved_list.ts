// A list that a framework hands over whole takes the place of a view: RECONCILE finds what is new, what went and what returns. Here is known only which messages are read as
// which items, so that what is there is named by its ordinals and not sent again.
import type { Conversation } from '../conversation.js'
import type { Message, Names, Operation } from '../types.js'
import type { AnyConversation } from './foreign.js'

/** Hides these and no others: the framework says which, so the `pairs` that the conversation was given do not count. */
export function hiding(which: Names): Operation {
  return { operation: 'DELETE', ...which, pairs: 'literal' }
}

/** A message of the conversation, or a new one. */
export type Entry = { ordinal: number } | Message

export function saving(list: readonly Entry[]): Operation {
  return { operation: 'RECONCILE', client: 'framework', messages: list }
}

/** Messages that stand next to each other, and the items that they are read as, as JSON: one of each, mostly. */
export interface Unit {
  texts: readonly string[]
  ordinals: readonly number[]
}

/** What the operations came to: the version that reads as they say, and the head, which differs where the conversation then compressed itself. */
export interface Written {
  version: number
  head: number
  totalMessages?: number
}

/** Carries them out in one step, or fails with `conflict` where `version` is no longer the head. */
export async function applyAt(
  conversation: AnyConversation,
  version: number,
  operations: readonly Operation[],
): Promise<Written> {
  const [first, ...rest] = operations
  if (first === undefined) return { version, head: version }
  const outcomes = await conversation.apply([{ ...first, expectedVersion: version }, ...rest])
  const last = outcomes.at(-1)!
  const versions = outcomes
    .flatMap(({ events }) => events ?? [])
    .map(event => ('version' in event ? event.version : last.version))
  return {
    version: last.version,
    head: Math.max(last.version, ...versions),
    totalMessages: last.stats.totalMessages,
  }
}

/** A version of a conversation, as it is read. */
export interface Reading {
  version: number
  units: readonly Unit[]
}

/** Messages that say nothing to the framework stay with the ones before them. */
export function readingOf(version: number, units: readonly Unit[]): Reading {
  const joined: Unit[] = []
  for (const unit of units) {
    const before = joined.at(-1)
    if (before === undefined || (before.texts.length > 0 && unit.texts.length > 0))
      joined.push(unit)
    else
      joined[joined.length - 1] = {
        texts: [...before.texts, ...unit.texts],
        ordinals: [...before.ordinals, ...unit.ordinals],
      }
  }
  return { version, units: joined.filter(({ texts }) => texts.length > 0) }
}

/** The units of a reading by their first text. Each is taken once, the first of several that fit. */
class Units {
  readonly #byText = new Map<string, Unit[]>()
  readonly #taken = new Set<Unit>()

  constructor(units: readonly Unit[]) {
    for (const unit of units.toReversed()) {
      const list = this.#byText.get(unit.texts[0]!)
      if (list) list.push(unit)
      else this.#byText.set(unit.texts[0]!, [unit])
    }
  }

  take(texts: readonly string[], start: number): Unit | undefined {
    const list = this.#byText.get(texts[start]!)
    if (list === undefined) return undefined
    while (list.length > 0 && this.#taken.has(list.at(-1)!)) list.pop()
    const unit = list.findLast(
      each => !this.#taken.has(each) && each.texts.every((text, i) => texts[start + i] === text),
    )
    if (unit !== undefined) this.#taken.add(unit)
    return unit
  }
}

interface Cut {
  entries: Entry[]
  /** With the ordinals that new messages get if `total` messages are stored and all of the new ones will be. */
  units: Unit[]
  newCount: number
}

function cut(
  texts: readonly string[],
  units: readonly Unit[],
  messages: (index: number) => Message[],
  total: number,
): Cut {
  const there = new Units(units)
  const found: Cut = { entries: [], units: [], newCount: 0 }
  for (let start = 0; start < texts.length; ) {
    const unit = there.take(texts, start)
    if (unit !== undefined) {
      found.units.push(unit)
      for (const ordinal of unit.ordinals) found.entries.push({ ordinal })
    } else {
      const made = messages(start)
      found.units.push({
        texts: [texts[start]!],
        ordinals: made.map((_, i) => total + found.newCount + i),
      })
      found.entries.push(...made)
      found.newCount += made.length
    }
    start += unit?.texts.length ?? 1
  }
  return found
}

function beginsWith(units: readonly Unit[], others: readonly Unit[]): boolean {
  return units.length >= others.length && others.every((unit, i) => unit === units[i])
}

/** Lists of several conversations. What was saved last is remembered, so that it need not be read again to save the next one. */
export class SavedLists {
  readonly #last = new Map<string, Reading>()
  readonly #lastMax = 32

  /** What was saved as this version, if it was the last one here. */
  last(conversation: Conversation, version: number): Reading | undefined {
    const last = this.#last.get(conversation.id)
    return last?.version === version ? last : undefined
  }

  /**
   * Makes `texts` the view, after the operations `first`, which bring `reading` back where it is not the head; `messages` makes those of an item that is new, one or more.
   * `conflict`: `head` is no longer the head.
   */
  async save(
    conversation: Conversation,
    head: number,
    first: readonly Operation[],
    reading: Reading,
    texts: readonly string[],
    messages: (index: number) => Message[],
  ): Promise<Written> {
    const { totalMessages } = await conversation.stats()
    const list = cut(texts, reading.units, messages, totalMessages)
    const isGrown = beginsWith(list.units, reading.units)
    if (isGrown && list.units.length === reading.units.length)
      return { version: reading.version, head: reading.version }
    const written = await applyAt(conversation, head, [...first, saving(list.entries)])
    // Else it is not known what was stored: some may have returned, others that moved are stored again.
    const isKnown =
      isGrown &&
      written.head === written.version &&
      written.totalMessages === totalMessages + list.newCount
    this.#remember(
      conversation.id,
      isKnown ? { version: written.version, units: list.units } : undefined,
    )
    return written
  }

  #remember(id: string, reading: Reading | undefined): void {
    this.#last.delete(id)
    if (reading !== undefined) this.#last.set(id, reading)
    if (this.#last.size > this.#lastMax) this.#last.delete(this.#last.keys().next().value!)
  }
}
