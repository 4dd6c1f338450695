// A conversation's state as a host of the documents saves it.

import { isDeepStrictEqual } from 'node:util'
import type { Mode, Reply } from '../requests.js'
import type { Stats, Usage } from '../types.js'
import { type Engine, messagesOf, ordinalsOf } from './engine.js'
import { ValidationError } from './errors.js'
import type { MessageMarkMap } from './mark_map.js'
import type { LLMMessage } from './message.js'
import type { TokenUsageStats, TokenUsageTracker } from './token_usage.js'

export interface ConversationState {
  /** The log: all messages ever stored. */
  messages: LLMMessage[]
  markMap: MessageMarkMap
  /** The ordinals that are marked `pinned`. */
  pinned: number[]
  version: number
  tokenUsage: TokenUsageStats | null
  currentRequestUsage: TokenUsageStats | null
  /** All that was reported, for `TokenUsageTracker.restore`. */
  usage: Usage
}

export function snapshotOf<M extends Mode>(
  engine: Engine<M>,
  usage: TokenUsageTracker<M>,
): Reply<M, ConversationState> {
  return engine.chain(engine.version(), version =>
    engine.chain(contentsAt(engine, version), contents =>
      engine.chain(usage.getTotals(), tokenUsage =>
        engine.chain(usage.getCurrentRequest(), currentRequestUsage =>
          engine.map(usage.getState(), state => ({
            ...contents,
            version,
            tokenUsage,
            currentRequestUsage,
            usage: state,
          })),
        ),
      ),
    ),
  )
}

type Contents = Pick<ConversationState, 'messages' | 'markMap' | 'pinned'>

function contentsAt<M extends Mode>(engine: Engine<M>, version: number): Reply<M, Contents> {
  return engine.chain(
    engine.askAt(version, { query: 'messages', all: true }, messagesOf),
    messages =>
      engine.chain(
        engine.askAt(version, { query: 'messages', all: true, marked: 'pinned' }, ordinalsOf),
        pinned =>
          engine.askAt(version, { query: 'markMap' }, (answer: { result: MessageMarkMap }) => ({
            messages,
            markMap: answer.result,
            pinned,
          })),
      ),
  )
}

/** undefined: that version was pruned. */
function contentsThen<M extends Mode>(
  engine: Engine<M>,
  version: number,
): Reply<M, Contents | undefined> {
  return engine.unlessGone(() => contentsAt(engine, version))
}

/** `restore` can rely on its shape; what is in it the engine checks. */
function checked(copy: Partial<ConversationState> | null): ConversationState {
  const { messages, markMap, pinned, version } =
    typeof copy === 'object' && copy !== null ? copy : {}
  if (!Array.isArray(messages))
    throw new ValidationError('a snapshot has a list of messages', 'messages')
  if (!Array.isArray(markMap?.originalIndices) || !Array.isArray(markMap.batchBoundaries))
    throw new ValidationError('a snapshot has a mark map', 'markMap')
  if (!Array.isArray(pinned)) throw new ValidationError('a snapshot says what is pinned', 'pinned')
  // They are added to what is there, and must be numbers for that.
  for (const [name, list] of Object.entries({
    originalIndices: markMap.originalIndices,
    batchBoundaries: markMap.batchBoundaries,
    pinned,
  })) {
    if (!list.every(number => Number.isSafeInteger(number) && number >= 0))
      throw new ValidationError('must be ordinals', name)
  }
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 0)
    throw new ValidationError('a snapshot has a version', 'version')
  return copy as ConversationState
}

export function restore<M extends Mode>(
  engine: Engine<M>,
  snapshot: ConversationState,
): Reply<M, void> {
  return engine.chain(engine.givenNow(snapshot), ({ copy, version: head }) => {
    const wanted = checked(copy)
    if (wanted.version > head) return takeOver(engine, wanted, head)
    const { messages, markMap, pinned } = wanted
    return engine.chain(contentsThen(engine, wanted.version), contents =>
      isDeepStrictEqual(contents, { messages, markMap, pinned })
        ? engine.apply(
            { operation: 'RESTORE', version: wanted.version, expectedVersion: head },
            () => undefined,
          )
        : takeOver(engine, wanted, head),
    )
  })
}

/** After what is there already, so all ordinals move by that much, in one step. `conflict`: `head` is no longer the newest version. */
function takeOver<M extends Mode>(
  engine: Engine<M>,
  { messages, markMap, pinned }: Contents,
  head: number,
): Reply<M, void> {
  return engine.chain(
    engine.ask({ query: 'stats' }, (answer: { result: Stats }) => answer.result.totalMessages),
    already => {
      const moved = (ordinals: number[]) => ordinals.map(ordinal => ordinal + already)
      const [first, ...boundaries] = markMap.batchBoundaries
      const { typeIndices: _, ...withoutTypes } = markMap
      const movedMap = {
        ...withoutTypes,
        originalIndices: moved(markMap.originalIndices),
        batchBoundaries: [...(first === undefined ? [] : [first]), ...moved(boundaries)],
      }
      const operations = [
        ...(messages.length > 0 ? [{ operation: 'APPEND', messages }] : []),
        ...(pinned.length > 0
          ? [{ operation: 'MARK', ordinals: moved(pinned), mark: 'pinned' }]
          : []),
        { operation: 'IMPORT_MARK_MAP', markMap: movedMap },
      ]
      return engine.apply(
        [{ ...operations[0], expectedVersion: head }, ...operations.slice(1)],
        () => undefined,
      )
    },
  )
}
