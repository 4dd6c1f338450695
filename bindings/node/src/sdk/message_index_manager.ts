// The visible indices and the batches of documents 002 to 004, as a view of the engine's state. Indices are ordinals.

import type { InspectOptions } from 'node:util'
import { custom, shown } from '../inspect.js'
import type { Mode, Reply } from '../requests.js'
import type { Batch } from '../types.js'
import { type Engine, engineOf, markMapOf, setOriginalIndices, showAtTheEnd } from './engine.js'
import { ValidationError } from './errors.js'
import {
  type MessageMarkMap,
  getBatchIndex,
  getCurrentBatchIndices,
  isModified,
} from './mark_map.js'

/** The mark map of a conversation: which messages of the log are visible, and which batch they belong to. */
export class MessageIndexManager<M extends Mode = 'now'> {
  readonly #engine: Engine<M>

  /** @internal `ConversationManager.getIndexManager()` gives one. */
  constructor(engine: Engine<M>) {
    this.#engine = engineOf(engine, 'MessageIndexManager', 'getIndexManager')
  }

  /** What console.log() shows. */
  [custom](_depth: number, options: InspectOptions): string {
    return shown(
      'MessageIndexManager',
      () => ({ conversation: this.#engine.conversation }),
      options,
    )
  }

  /** A copy. */
  getMarkMap(): Reply<M, Required<MessageMarkMap>> {
    return markMapOf(this.#engine, markMap => markMap)
  }

  /** The message with this ordinal stands at the end of the view. Nothing to do where it is visible. */
  addIndex(index: number): Reply<M, void> {
    return showAtTheEnd(this.#engine, index)
  }

  /** The view is these ordinals in this order; no batch is opened. See `setMarkMap` of the conversation. */
  setOriginalIndices(indices: readonly number[]): Reply<M, void> {
    return setOriginalIndices(this.#engine, indices)
  }

  /** START_BATCH: ordinals from `boundaryIndex` on belong to the new batch. */
  startNewBatch(boundaryIndex: number): Reply<M, void> {
    if (boundaryIndex === undefined) throw new ValidationError('must be given', 'boundaryIndex')
    return this.#engine.apply(
      { operation: 'START_BATCH', boundary: boundaryIndex },
      () => undefined,
    )
  }

  /** END_BATCH: the view as it last was in `targetBatch`. */
  endBatch(targetBatch: number): Reply<M, void> {
    return this.#engine.apply({ operation: 'END_BATCH', targetBatch }, () => undefined)
  }

  /** Returns to a batch as it last was. */
  rollbackToBatch(targetBatch: number): Reply<M, void> {
    return this.#engine.apply(
      { operation: 'ROLLBACK', targetBatchIndex: targetBatch },
      () => undefined,
    )
  }

  /** COMPRESS: hides these ordinals, in a separate batch. */
  markCompressed(indices: readonly number[]): Reply<M, void> {
    return this.#engine.apply({ operation: 'COMPRESS', ordinals: indices }, () => undefined)
  }

  /** Whether a message is from before the current batch. */
  isModified(originalIndex: number): Reply<M, boolean> {
    return this.#stack(stack => isModified(originalIndex, stack))
  }

  /** How far a message is from the beginning of the current batch; below 0: it is from before. */
  getBatchIndex(originalIndex: number): Reply<M, number> {
    return this.#stack(stack => getBatchIndex(originalIndex, stack))
  }

  /** The ordinals of the view that belong to the current batch. */
  getCurrentBatchIndices(): Reply<M, number[]> {
    return markMapOf(this.#engine, getCurrentBatchIndices)
  }

  /** The number of the current batch. */
  getCurrentBatch(): Reply<M, number> {
    return this.#stack(stack => stack.currentBatch)
  }

  /** The place of a batch in the stack; -1: it is not there. */
  findBoundaryIndex(batch: number): Reply<M, number> {
    return this.#stack(stack => stack.boundaryToBatch.indexOf(batch))
  }

  /** Whether the mark map passes the checks of an import, which recount it: it always does, since it is derived. */
  checkConsistency(): Reply<M, boolean> {
    return this.#engine.chain(this.#engine.fork(), fork => {
      const imported = fork.succeeds(() =>
        fork.chain(
          markMapOf(fork, markMap => markMap),
          markMap => fork.importMarkMap(markMap),
        ),
      )
      return fork.map(imported, holds => {
        void fork.close()
        return holds
      })
    })
  }

  /** Of a fork: what is done to either changes nothing in the other. */
  clone(): Reply<M, MessageIndexManager<M>> {
    return this.#engine.map(this.#engine.fork(), fork => new MessageIndexManager(fork))
  }

  /** Hides everything, and goes back to batch 0 alone. */
  reset(): Reply<M, void> {
    return this.#engine.importMarkMap({
      originalIndices: [],
      batchBoundaries: [0],
      boundaryToBatch: [0],
      currentBatch: 0,
    })
  }

  // The batches alone: their number, not that of the messages, is what this costs.
  #stack<T>(read: (stack: MessageMarkMap) => T): Reply<M, T> {
    return this.#engine.ask({ query: 'batches' }, ({ result }: { result: Batch[] }) => {
      const boundaryToBatch = result.map(batch => batch.index)
      return read({
        originalIndices: [],
        batchBoundaries: result.map(batch => batch.boundary),
        boundaryToBatch,
        currentBatch: boundaryToBatch.at(-1) ?? 0,
      })
    })
  }
}
