// The conversation of documents 001 to 004. Every change is an operation of the engine, every reading a query; nothing is kept here.

import type { InspectOptions } from 'node:util'
import type { Settings } from '../code.js'
import { custom, shown } from '../inspect.js'
import type { Mode, Reply } from '../requests.js'
import type { DataSettings, Operation, Outcome, StrategyChoice } from '../types.js'
import {
  type CompressionStrategy,
  type ConversationCompressionConfig,
  type EngineChoice,
  EngineStrategy,
  engineChoice,
  givenChoice,
} from './compression.js'
import type { ContextModificationConfig, ContextProcessorNodeConfig } from './context_processor.js'
import { type Engine, copyOf, messagesOf, newEngine, openEngine } from './engine.js'
import { ValidationError } from './errors.js'
import { type EventManager, type EventOf, type EventType, stamped } from './events.js'
import type { MessageMarkMap } from './mark_map.js'
import type { LLMMessage, LLMMessageRole } from './message.js'
import type { MessageArrayTokenStats, MessageOperation } from './message_array.js'
import { MessageArrayManagerImpl } from './message_array_manager.js'
import { MessageIndexManager } from './message_index_manager.js'
import { nodeOperations } from './node_blocks.js'
import { type ConversationState, restore, snapshotOf } from './snapshot.js'
import { type LLMUsage, type TokenUsageStats, TokenUsageTracker } from './token_usage.js'
import { TypeIndexManager } from './type_index_manager.js'

export interface ConversationManagerOptions {
  /** Above it `TOKEN_LIMIT_EXCEEDED` is sent. */
  tokenLimit?: number
  compressionConfig?: ConversationCompressionConfig
  /** The model that it is for; see docs/models.md. */
  model?: string
  /** `estimate`, a vocabulary or a model; see docs/tokenizers.md. */
  tokenizer?: string
  /** What TRUNCATE, FILTER and DELETE do to the other half of a tool pair. */
  pairs?: 'literal' | 'shrink' | 'grow'
  limits?: { messageBytes?: number }
  initialMessages?: readonly LLMMessage[]
  /** Gets every event. */
  eventManager?: EventManager
}

/** An operation of the engine, of document 000, of a node (001, 002), or a modification (003, 004). */
export type ContextOperation =
  | Operation
  | MessageOperation
  | ContextProcessorNodeConfig
  | ContextModificationConfig

/** What a host of the documents starts, stops and saves. */
export interface LifecycleCapable<Snapshot> {
  /** All of the conversation, as data. */
  createSnapshot(): Snapshot
  /** Makes the conversation what a snapshot says, in one step. */
  restoreFromSnapshot(snapshot: Snapshot): void
  /** Closes the conversation. */
  cleanup(): void
}

/** What the two managers have in common: `ConversationManager` answers at once, `StoredConversationManager` by promises. */
export abstract class AnyConversationManager<M extends Mode> {
  /** As they were given. */
  readonly tokenLimit: number | undefined
  readonly compressionConfig: Readonly<ConversationCompressionConfig> | undefined
  /** @internal */
  protected readonly engine: Engine<M>
  private readonly indexManager: MessageIndexManager<M>
  private readonly typeIndexManager: TypeIndexManager<M>
  private readonly tokenUsageTracker: TokenUsageTracker<M>

  protected constructor(engine: Engine<M>, options: ConversationManagerOptions) {
    this.engine = engine
    this.tokenLimit = options.tokenLimit
    this.compressionConfig =
      options.compressionConfig && Object.freeze({ ...options.compressionConfig })
    this.indexManager = new MessageIndexManager(engine)
    this.typeIndexManager = new TypeIndexManager(engine)
    this.tokenUsageTracker = new TokenUsageTracker(engine)
    const { eventManager } = options
    if (eventManager !== undefined) {
      if (typeof eventManager?.emit !== 'function')
        throw new ValidationError('an event manager has a method emit', 'eventManager')
      engine.subscribe(event => eventManager.emit(stamped(event)))
    }
  }

  /** What console.log() shows. */
  [custom](_depth: number, options: InspectOptions): string {
    return shown(this.constructor.name, () => ({ conversation: this.engine.conversation }), options)
  }

  // Changes.

  /** The number of messages ever stored, this one included: one more than its ordinal. */
  addMessage(message: LLMMessage): Reply<M, number> {
    return this.#append([message])
  }

  /** All of them or none; messages one by one, or lists of them. */
  addMessages(...messages: Array<LLMMessage | readonly LLMMessage[]>): Reply<M, number> {
    return this.#append(messages.flat())
  }

  /**
   * Any operation of the engine, in any of the documents' spellings. The blocks of a node's configuration are applied in one step: clear, filter, truncate, replace,
   * insert; the answer is that of the last, with the name of the one that `operation` says.
   */
  execute(operation: ContextOperation): Reply<M, Outcome> {
    const operations = operation instanceof Object ? nodeOperations(operation) : [operation]
    if (operations.length === 1)
      return this.engine.apply(operations[0] as object, (answer: Outcome) => answer)
    return this.engine.apply(operations, ({ results }: { results: Outcome[] }) => {
      const last = results.at(-1) as Outcome
      return {
        ...last,
        operation:
          results[
            operations.findIndex(
              each => (each as { operation?: string }).operation === operation.operation,
            )
          ]?.operation ?? last.operation,
      }
    })
  }

  /** All of them or none; each block of a node's configuration is one. */
  executeAll(operations: readonly ContextOperation[]): Reply<M, Outcome[]> {
    const all = Array.isArray(operations)
      ? operations.flatMap(operation =>
          operation instanceof Object ? nodeOperations(operation) : [operation],
        )
      : operations
    return this.engine.apply(all, (answer: { results: Outcome[] }) => answer.results)
  }

  /** CLEAR. */
  clearMessages(keepSystemMessage: boolean = true): Reply<M, void> {
    return this.engine.apply({ operation: 'CLEAR', keepSystemMessage }, () => undefined)
  }

  /** MARK. `index` is the ordinal: marks belong to messages, hidden ones too. */
  markMessage(index: number, mark: string): Reply<M, void> {
    return this.engine.apply({ operation: 'MARK', ordinals: [index], mark }, () => undefined)
  }

  /** UNMARK. */
  unmarkMessage(index: number, mark: string): Reply<M, void> {
    return this.engine.apply({ operation: 'UNMARK', ordinals: [index], mark }, () => undefined)
  }

  /** ROLLBACK: the view as it last was in that batch, what was appended in it included. */
  rollbackToBatch(targetBatch: number): Reply<M, void> {
    return this.indexManager.rollbackToBatch(targetBatch)
  }

  /** The view is these ordinals in this order; no batch is opened. */
  setOriginalIndices(indices: readonly number[]): Reply<M, void> {
    return this.indexManager.setOriginalIndices(indices)
  }

  /**
   * The view and the stack of batches become those of the map, once it has passed the engine's checks. What the batches below remember becomes what the map tells of
   * them: the ordinals below the next boundary. UNDO brings the state before it back.
   */
  setMarkMap(markMap: MessageMarkMap): Reply<M, void> {
    return this.engine.importMarkMap(markMap)
  }

  // Reading: of the view, where nothing else is said.

  /** The messages of the view. */
  getMessages(): Reply<M, LLMMessage[]> {
    return this.#messages({})
  }

  /** The log: all messages ever stored; a place in it is an ordinal. */
  getAllMessages(): Reply<M, LLMMessage[]> {
    return this.#messages({ all: true })
  }

  /** With `role`, the last `n` of that role. */
  getRecentMessages(n: number, role?: LLMMessageRole): Reply<M, LLMMessage[]> {
    return this.#messages(role === undefined ? { last: n } : { role, last: n })
  }

  /** `start` up to, not including, `end`. */
  getMessagesByRange(start: number, end: number): Reply<M, LLMMessage[]> {
    return this.#messages({ start, end })
  }

  /** All messages of a role. */
  getMessagesByRole(role: LLMMessageRole): Reply<M, LLMMessage[]> {
    return this.#messages({ role })
  }

  /** The last `n` messages of a role. */
  getRecentMessagesByRole(role: LLMMessageRole, n: number): Reply<M, LLMMessage[]> {
    return this.#messages({ role, last: n })
  }

  /** `start` and `end` count the messages of the role. */
  getMessagesByRoleRange(role: LLMMessageRole, start: number, end: number): Reply<M, LLMMessage[]> {
    return this.#messages({ role, start, end })
  }

  /** How many messages of a role there are. */
  getMessageCountByRole(role: LLMMessageRole): Reply<M, number> {
    return this.engine.ask({ query: 'count', role }, (answer: { count: number }) => answer.count)
  }

  /** The last `n` messages of any of these roles. */
  getRecentMessagesByRoles(roles: readonly LLMMessageRole[], n: number): Reply<M, LLMMessage[]> {
    return this.#messages({ roles, last: n })
  }

  /** `startTime` <= t < `endTime`, in milliseconds since 1970; t is the message's timestamp, else its arrival. */
  getMessagesByRoleAndTimeRange(
    role: LLMMessageRole,
    startTime: number,
    endTime: number,
  ): Reply<M, LLMMessage[]> {
    return this.#messages({ role, from: startTime, to: endTime })
  }

  /** The messages of a role that have a label. */
  getMarkedMessagesByRole(role: LLMMessageRole, mark: string): Reply<M, LLMMessage[]> {
    return this.#messages({ role, marked: mark })
  }

  /** As `getMessagesByRole`, by the older name. */
  filterMessagesByRole(role: LLMMessageRole): Reply<M, LLMMessage[]> {
    return this.getMessagesByRole(role)
  }

  /** Those of the current batch. */
  getUncompressedMessages(): Reply<M, LLMMessage[]> {
    return this.engine.ask({ query: 'uncompressed' }, messagesOf)
  }

  /** A copy. */
  getMarkMap(): Reply<M, Required<MessageMarkMap>> {
    return this.indexManager.getMarkMap()
  }

  /** How many messages and batches there are. */
  getStats(): Reply<M, MessageArrayTokenStats> {
    return this.engine.ask(
      { query: 'stats' },
      (answer: { result: MessageArrayTokenStats }) => answer.result,
    )
  }

  /** The mark map, as a view of this conversation. */
  getIndexManager(): MessageIndexManager<M> {
    return this.indexManager
  }

  /** The places of each role, as a view of this conversation. */
  getTypeIndexManager(): TypeIndexManager<M> {
    return this.typeIndexManager
  }

  // Tokens.

  /** Of the view. */
  getTokenCount(): Reply<M, number> {
    return this.engine.map(this.getStats(), stats => stats.tokens)
  }

  /** Whether the view has more tokens than the limit. */
  isTokenLimitExceeded(): Reply<M, boolean> {
    return this.engine.map(
      this.getTokenCount(),
      tokens => this.tokenLimit !== undefined && tokens > this.tokenLimit,
    )
  }

  /** What providers reported of requests. */
  getTokenUsageTracker(): TokenUsageTracker<M> {
    return this.tokenUsageTracker
  }

  /** What a provider reported of the request under way; takes the place of what was reported of it before. */
  updateTokenUsage(usage: LLMUsage): Reply<M, void> {
    return this.tokenUsageTracker.update(usage)
  }

  /** The request under way is over. */
  finalizeCurrentRequest(): Reply<M, void> {
    return this.tokenUsageTracker.finish()
  }

  /** Of all requests; null: there was none. */
  getTokenUsage(): Reply<M, TokenUsageStats | null> {
    return this.tokenUsageTracker.getTotals()
  }

  /** What was reported of the request under way. */
  getCurrentRequestUsage(): Reply<M, TokenUsageStats | null> {
    return this.tokenUsageTracker.getCurrentRequest()
  }

  // Compression.

  /**
   * Runs the strategy of the configuration, or another: one of this package's, a custom one, or the name of an engine's. Without `targetTokens` a strategy that works
   * towards a target has the conversation's. `cannot_fit`: it cannot be reached; with `progress`, what can be freed is. In memory, changes are refused with `conflict` from the call until your code is asked.
   */
  async compress(
    strategy?: CompressionStrategy | StrategyChoice,
    targetTokens?: number,
    { progress }: { progress?: boolean } = {},
  ): Promise<Outcome> {
    const { compressionConfig } = this
    const aim = { targetTokens, progress }
    if (strategy === undefined || strategy === compressionConfig?.strategy) {
      const choice: EngineChoice = engineChoice(
        compressionConfig ?? { enabled: true, threshold: 0 },
      )
      const isSlow =
        typeof strategy === 'string' ||
        choice.strategies !== undefined ||
        choice.summarisers !== undefined
      return this.engine.compress({ strategy: choice.strategy, ...aim }, isSlow)
    }
    const { code, strategy: choice } = givenChoice(strategy, {
      enabled: true,
      threshold: compressionConfig?.threshold ?? 0,
    })
    const by = (name: string) => ({ strategy: choice(name), ...aim })
    // A strategy of this package's without code is quick; one that is named may call code of the configuration.
    return code === undefined
      ? this.engine.compress(by(''), !(strategy instanceof EngineStrategy))
      : this.engine.compressBy(code, by)
  }

  /** Until no compression is under way. */
  waitForCompression(): Promise<void> {
    return this.engine.waitForCompression()
  }

  // Events.

  /** The answer ends the subscription. A listener may read and change the conversation. */
  on<T extends EventType>(type: T, listener: (event: EventOf<T>) => unknown): () => void {
    if (typeof listener !== 'function')
      throw new ValidationError('a listener is a function', 'listener')
    return this.engine.subscribe(event =>
      event.type === type ? listener(stamped(event) as EventOf<T>) : undefined,
    )
  }

  // Snapshots.

  /** All messages, the mark map, and which version this is. It is plain JSON. */
  createSnapshot(): Reply<M, ConversationState> {
    return snapshotOf(this.engine, this.tokenUsageTracker)
  }

  /**
   * The state of the snapshot, as a new version: RESTORE where it is one of this conversation's. Of another conversation, its messages are appended to the log and its mark
   * map is taken over. Nothing is lost either way. Usage is not restored: it was used. `getTokenUsageTracker().restore(snapshot.usage)` takes it over.
   */
  restoreFromSnapshot(snapshot: ConversationState): Reply<M, void> {
    return restore(this.engine, snapshot)
  }

  /** A fork: what is done to either changes nothing in the other. Usage and listeners do not go along; an event manager hears both. */
  abstract clone(): Reply<M, AnyConversationManager<M>>

  /** Hides everything, system messages too. Nothing is lost. */
  cleanup(): Reply<M, void> {
    return this.clearMessages(false)
  }

  /** It cannot be used afterwards. Garbage collection closes it too. */
  close(): Promise<void> {
    return this.engine.close()
  }

  #append(messages: LLMMessage[]): Reply<M, number> {
    return this.engine.apply(
      { operation: 'APPEND', messages },
      (answer: Outcome) => answer.stats.totalMessages,
    )
  }

  #messages(filters: object): Reply<M, LLMMessage[]> {
    return this.engine.ask({ query: 'messages', ...filters }, messagesOf)
  }
}

const optionNames: readonly string[] = [
  'tokenLimit',
  'compressionConfig',
  'model',
  'tokenizer',
  'pairs',
  'limits',
  'initialMessages',
  'eventManager',
] satisfies (keyof ConversationManagerOptions)[]

function checkOptions(options: ConversationManagerOptions): void {
  if (typeof options !== 'object' || options === null)
    throw new ValidationError('options must be an object', 'options')
  const unknown = Object.keys(options).find(name => !optionNames.includes(name))
  if (unknown !== undefined) throw new ValidationError('is no option', unknown)
  if (options.initialMessages !== undefined && !Array.isArray(options.initialMessages))
    throw new ValidationError('must be a list of messages', 'initialMessages')
}

/** What the engine is told. */
function settingsOf(options: ConversationManagerOptions): Settings {
  checkOptions(options)
  const { tokenLimit, compressionConfig, model, tokenizer, pairs, limits } = options
  const settings = { tokenLimit, model, tokenizer, pairs, limits }
  // What is no configuration is for the engine to refuse.
  if (typeof compressionConfig !== 'object' || compressionConfig === null)
    return { ...settings, compressionConfig }
  const { strategy, ...code } = engineChoice(compressionConfig)
  return { ...settings, ...code, compressionConfig: { ...compressionConfig, strategy } }
}

/** Settings that were kept. */
function keptOptions({
  tokenLimit,
  compressionConfig,
}: DataSettings = {}): ConversationManagerOptions {
  if (compressionConfig === undefined) return { tokenLimit }
  const { enabled = false, threshold = tokenLimit ?? 0 } = compressionConfig
  return { tokenLimit, compressionConfig: { ...compressionConfig, enabled, threshold } }
}

/** In memory: what the documents make synchronous is. */
export class ConversationManager
  extends AnyConversationManager<'now'>
  implements LifecycleCapable<ConversationState>
{
  readonly #options: ConversationManagerOptions

  constructor(options?: ConversationManagerOptions)
  /** @internal */
  constructor(options: ConversationManagerOptions, engine: Engine<'now'>)
  constructor(
    options: ConversationManagerOptions = {},
    engine: Engine<'now'> = newEngine(settingsOf(options)),
  ) {
    super(engine, options)
    const { initialMessages = [], ...rest } = options
    this.#options = rest
    if (initialMessages.length > 0) this.addMessages(initialMessages)
  }

  /** A conversation in a store (`sqlite:PATH`, `postgres://…`), made where it is missing: the same methods, with promises. */
  static open(
    url: string,
    id: string,
    options: ConversationManagerOptions = {},
  ): Promise<StoredConversationManager> {
    return StoredConversationManager.open(url, id, options)
  }

  /** A fork: what is done to either changes nothing in the other. */
  clone(): ConversationManager {
    return new ConversationManager(this.#options, this.engine.fork())
  }

  /** The same messages by the interface of document 000. */
  getMessageArrayManager(): MessageArrayManagerImpl {
    return new MessageArrayManagerImpl([], this.engine)
  }
}

/** In a store: an operation that was answered is durable. */
export class StoredConversationManager extends AnyConversationManager<'later'> {
  readonly #options: ConversationManagerOptions

  private constructor(options: ConversationManagerOptions, engine: Engine<'later'>) {
    super(engine, options)
    this.#options = options
  }

  /** Without settings in `options`, those that were kept with the conversation; `initialMessages` are for one that is new. */
  static async open(
    url: string,
    id: string,
    given: ConversationManagerOptions = {},
  ): Promise<StoredConversationManager> {
    const settings = settingsOf(given)
    const { initialMessages = [], ...options } = given
    const messages = copyOf(initialMessages)
    const { engine, kept } = await openEngine(url, id, settings)
    const fromStore = keptOptions(kept)
    const tokenLimit = options.tokenLimit ?? fromStore.tokenLimit
    const compressionConfig = options.compressionConfig ?? fromStore.compressionConfig
    const opened = new StoredConversationManager(
      { ...options, tokenLimit, compressionConfig },
      engine,
    )
    if (messages.length > 0 && (await opened.engine.version()) === 0)
      await opened.addMessages(messages)
    return opened
  }

  /** In memory. */
  async clone(): Promise<StoredConversationManager> {
    return new StoredConversationManager(this.#options, await this.engine.fork())
  }
}
