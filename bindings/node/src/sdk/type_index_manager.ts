// The role index of document 001, as a view of the engine's state: nothing is kept here, so nothing can fall out of step.

import type { InspectOptions } from 'node:util'
import { custom, shown } from '../inspect.js'
import type { Mode, Reply } from '../requests.js'
import {
  type Engine,
  engineOf,
  markMapOf,
  ordinalsOf,
  setOriginalIndices,
  showAtTheEnd,
} from './engine.js'
import type { LLMMessageRole } from './message.js'

/** Where the messages of each role stand in the log: a view of a conversation. */
export class TypeIndexManager<M extends Mode = 'now'> {
  readonly #engine: Engine<M>

  /** @internal `ConversationManager.getTypeIndexManager()` gives one. */
  constructor(engine: Engine<M>) {
    this.#engine = engineOf(engine, 'TypeIndexManager', 'getTypeIndexManager')
  }

  /** What console.log() shows. */
  [custom](_depth: number, options: InspectOptions): string {
    return shown('TypeIndexManager', () => ({ conversation: this.#engine.conversation }), options)
  }

  /** The message with this ordinal, which must have that role, stands at the end of the view. Nothing to do where it is visible. */
  addIndex(role: LLMMessageRole, index: number): Reply<M, void> {
    return showAtTheEnd(this.#engine, index, role)
  }

  /** Hides these ordinals: DELETE. */
  removeIndices(indices: readonly number[]): Reply<M, void> {
    return this.#engine.apply({ operation: 'DELETE', ordinals: indices }, () => undefined)
  }

  /** The places of all messages of a role. */
  getIndicesByRole(role: LLMMessageRole): Reply<M, number[]> {
    // The count is asked for first because it refuses what is no role.
    const count = this.#engine.ask({ query: 'count', role }, () => undefined)
    return this.#engine.chain(count, () =>
      markMapOf(this.#engine, markMap => markMap.typeIndices[role]),
    )
  }

  /** The last `n`; none for 0. */
  getRecentIndicesByRole(role: LLMMessageRole, n: number): Reply<M, number[]> {
    return this.#engine.ask({ query: 'messages', role, last: n }, ordinalsOf)
  }

  /** `start` and `end` count the messages of the role. */
  getRangeIndicesByRole(role: LLMMessageRole, start: number, end: number): Reply<M, number[]> {
    return this.#engine.ask({ query: 'messages', role, start, end }, ordinalsOf)
  }

  /** The places of all messages, by role. */
  getAllTypeIndices(): Reply<M, Map<LLMMessageRole, number[]>> {
    return markMapOf(
      this.#engine,
      ({ typeIndices }) =>
        new Map(Object.entries(typeIndices) as Array<[LLMMessageRole, number[]]>),
    )
  }

  /** Of a fork: what is done to either changes nothing in the other. */
  clone(): Reply<M, TypeIndexManager<M>> {
    return this.#engine.map(this.#engine.fork(), fork => new TypeIndexManager(fork))
  }

  /** Hides everything; the batches stay. */
  reset(): Reply<M, void> {
    return setOriginalIndices(this.#engine, [])
  }
}
