// What a strategy of document 004 answered, as a plan of the engine: which ordinals to hide, and what to put in their place.

import { isDeepStrictEqual } from 'node:util'
import type { Plan } from '../code.js'
import type { Message } from '../types.js'
import type { View } from '../view.js'
import type { CompressionStrategy, Compressed, ContextCompressionConfig } from './compression.js'
import { ValidationError } from './errors.js'
import type { MessageMarkMap } from './mark_map.js'
import type { LLMMessage } from './message.js'

type Replacement = Plan['replacements'][number]

/** Asks the strategy, and answers with the plan; undefined: nothing to do. */
export async function planOf(
  strategy: CompressionStrategy,
  config: ContextCompressionConfig,
  view: View,
): Promise<Plan | undefined> {
  const messages = view.messages() as LLMMessage[]
  const markMap: MessageMarkMap = view.markMap()
  const ordinals = [...markMap.originalIndices]
  // Compared with what was given, whatever the strategy did to it.
  const given = structuredClone(messages)
  const objects = [...messages]
  const answer = await strategy.compress(messages, markMap, config)
  const replacements = replacementsOf(ordinals, entriesOf(answer, ordinals, given, objects))
  return replacements.length === 0 ? undefined : { replacements }
}

/** A message of the answer: the place of the one it is in the view; none: it is new. */
interface Entry {
  place?: number
  message: LLMMessage
}

function entriesOf(
  answer: Compressed,
  ordinals: number[],
  given: LLMMessage[],
  objects: LLMMessage[],
): Entry[] {
  const { messages, markMap } = answer ?? {}
  if (!Array.isArray(messages) || !Array.isArray(markMap?.originalIndices)) {
    throw new ValidationError('a strategy answers with messages and their mark map', 'messages')
  }
  const isParallel = messages.length === markMap.originalIndices.length
  const keys: readonly unknown[] = isParallel ? markMap.originalIndices : messages
  const places = new Map<unknown, number>(
    (isParallel ? ordinals : objects).map((key, place) => [key, place]),
  )
  return messages.map((message, at) => {
    const place = places.get(keys[at])
    return place !== undefined && isDeepStrictEqual(message, given[place])
      ? { place, message }
      : { message }
  })
}

function replacementsOf(ordinals: number[], entries: Entry[]): Replacement[] {
  const replacements: Replacement[] = []
  let from = 0
  let added: LLMMessage[] = []
  for (const { place, message } of [...entries, { place: ordinals.length, message: undefined }]) {
    if (place === undefined) {
      added.push(message as LLMMessage)
      continue
    }
    if (place < from)
      throw new ValidationError(
        'a strategy keeps the order of messages, and has none twice',
        'messages',
      )
    replacements.push(...inPlaceOf(ordinals.slice(from, place), added))
    from = place + 1
    added = []
  }
  return replacements
}

/** Each message that was added takes the place of one that is hidden, the last one that of all the rest. */
function inPlaceOf(hidden: number[], added: LLMMessage[]): Replacement[] {
  if (added.length > hidden.length)
    throw new ValidationError(
      'a strategy adds messages only in the place of those it hides',
      'messages',
    )
  if (hidden.length === 0) return []
  if (added.length === 0) return [{ hide: hidden }]
  return added.map((summary, at) => ({
    hide: at + 1 < added.length ? [hidden[at] as number] : hidden.slice(at),
    summary: summary as Message,
  }))
}
