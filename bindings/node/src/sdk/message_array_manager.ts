// The manager of document 000: one array of messages, edited by operations.

import type { InspectOptions } from 'node:util'
import { custom, shown } from '../inspect.js'
import type { AnyOperation, Outcome, Warning } from '../types.js'
import { type Engine, newEngine } from './engine.js'
import { ValidationError } from './errors.js'
import type { Message } from './message.js'
import type {
  BatchSnapshot,
  MessageArrayState,
  MessageArrayStats,
  MessageArrayTokenStats,
  MessageOperation,
  MessageOperationConfig,
  MessageOperationResult,
} from './message_array.js'

export interface MessageArrayManager {
  /** Applies an operation; the answer has the state it made. */
  execute(operation: MessageOperationConfig | MessageOperation): MessageOperationResult
  /** The messages, with the snapshots of batches. */
  getState(): MessageArrayState
  /** The messages of the view. */
  getCurrentMessages(): Message[]
  /** How many messages and batches there are. */
  getStats(): MessageArrayStats
  /** Returns to a batch as it last was. */
  rollback(batchIndex: number): MessageOperationResult
  /** null: of the current batch, or of one that is not there. */
  getBatchSnapshot(batchIndex: number): BatchSnapshot | null
}

/** What an operation did. */
export interface AppliedOperation extends MessageOperationResult {
  /** As it was after the operation; read when it is asked for, since it holds every message. */
  readonly state: MessageArrayState
  readonly stats: MessageArrayTokenStats
  readonly version: number
  readonly warnings: readonly Warning[]
}

/** The message array of document 000, as operations of a conversation. */
export class MessageArrayManagerImpl implements MessageArrayManager {
  readonly #engine: Engine<'now'>

  constructor(initialMessages?: readonly Message[])
  /** @internal */
  constructor(initialMessages: readonly Message[], engine: Engine<'now'>)
  constructor(initialMessages: readonly Message[] = [], engine: Engine<'now'> = newEngine()) {
    if (!Array.isArray(initialMessages))
      throw new ValidationError('must be a list of messages', 'initialMessages')
    this.#engine = engine
    if (initialMessages.length > 0)
      this.execute({ operation: 'APPEND', messages: [...initialMessages] })
  }

  /** What console.log() shows. */
  [custom](_depth: number, options: InspectOptions): string {
    return shown(
      'MessageArrayManagerImpl',
      () => ({ conversation: this.#engine.conversation }),
      options,
    )
  }

  /** The operations of document 000, and all others of the engine. */
  execute(operation: MessageOperationConfig | MessageOperation | AnyOperation): AppliedOperation {
    const engine = this.#engine
    const {
      affectedBatchIndex,
      stats,
      version,
      warnings = [],
    } = engine.apply(operation, (answer: Outcome) => answer)
    let state: MessageArrayState | undefined
    return {
      get state() {
        return (state ??= engine.askAt(version, { query: 'state' }, stateOf))
      },
      affectedBatchIndex,
      stats,
      version,
      warnings,
    }
  }

  /** The messages, with the snapshots of batches. */
  getState(): MessageArrayState {
    return this.#engine.ask({ query: 'state' }, stateOf)
  }

  /** The messages of the view. */
  getCurrentMessages(): Message[] {
    return this.#engine.ask(
      { query: 'messages' },
      (answer: { messages: Message[] }) => answer.messages,
    )
  }

  /** How many messages and batches there are. */
  getStats(): MessageArrayTokenStats {
    return this.#engine.ask(
      { query: 'stats' },
      (answer: { result: MessageArrayTokenStats }) => answer.result,
    )
  }

  /** Returns to a batch as it last was. */
  rollback(batchIndex: number): AppliedOperation {
    return this.execute({ operation: 'ROLLBACK', targetBatchIndex: batchIndex })
  }

  /** The view as it last was in a batch that was left; null for the current one. */
  getBatchSnapshot(batchIndex: number): BatchSnapshot | null {
    return this.#engine.ask(
      { query: 'batchSnapshot', batchIndex },
      (answer: { result: BatchSnapshot | null }) => answer.result,
    )
  }
}

function stateOf(answer: { result: MessageArrayState }): MessageArrayState {
  return answer.result
}

/** The document's interface, and by the same name what implements it. */
export const MessageArrayManager = MessageArrayManagerImpl
