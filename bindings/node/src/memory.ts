// A conversation in memory that answers at once.
import type { InspectOptions } from 'node:util'
import { changeCall, readSettings, type Change, type Settings } from './code.js'
import { encode, encodeGiven, listOf } from './encode.js'
import { guarded } from './error.js'
import { Listeners, type Listener, type Off } from './events.js'
import { custom, shown } from './inspect.js'
import { native, type NativeCode, type NativeHandle, type Numbers, type Text } from './native.js'
import { forkOptions, readAnswer, Requests } from './requests.js'
import type {
  Appended,
  Count,
  Dialect,
  Event,
  EventType,
  GivenMarkMap,
  GivenRequest,
  Imported,
  Message,
  MessageLike,
  MessageQuery,
  Names,
  OperationOptions,
  Outcome,
  Role,
  Stats,
  Target,
  ToolNames,
  Usage,
  UsageReport,
} from './types.js'
import { View } from './view.js'
import { Waits } from './waits.js'

/** Of [version, totalMessages, …]. */
export function statsOf(numbers: Numbers): Stats {
  return {
    totalMessages: numbers[1],
    currentBatchMessages: numbers[2],
    totalBatches: numbers[3],
    currentBatchIndex: numbers[4],
    tokens: numbers[5],
  }
}

/**
 * A conversation in memory whose methods answer at once, on this thread: for scripts, tests, and where an array was before. What it does takes as long as it takes; where
 * a loop must not wait, use Conversation.
 *
 * Strategies and summarisers that answer with promises cannot be waited for here: a COMPRESS that names one fails with `unsupported`.
 */
export class MemoryConversation extends Requests<'now'> {
  readonly #handle: NativeHandle
  readonly #listeners: Listeners
  // The addon holds functions weakly.
  readonly #code: NativeCode[] | undefined
  readonly #waits: Waits

  constructor(settings?: Settings)
  /** @internal */
  constructor(settings: undefined, handle: NativeHandle, code: NativeCode[] | undefined)
  constructor(settings?: Settings, handle?: NativeHandle, code?: NativeCode[]) {
    super()
    const read = readSettings(settings)
    this.#code = code ?? read.code
    this.#handle = handle ?? guarded(() => native.memory(read.config, read.code))
    this.#listeners = new Listeners(this.#handle)
    this.#waits = new Waits(this.#handle)
  }

  protected override send<T>(encode: () => Text, read: (answer: string) => T): T {
    const line = encode()
    return read(guarded(() => this.#handle.answer(line)))
  }

  /** One message, a list of them, or anything else that gives them one by one. */
  append(
    messages: Message | MessageLike | Iterable<Message | MessageLike>,
    options?: OperationOptions,
  ): Appended {
    if (options !== undefined)
      return this.operate('APPEND', { messages: listOf(messages) }, options)
    const text = encodeGiven(messages)
    const numbers = guarded(() => this.#handle.append(text))
    return { version: numbers[0], stats: statsOf(numbers) }
  }

  /** Adds the answer of a model: what an SDK of OpenAI, Anthropic or Google returned, or the JSON of it. The default `dialect` is what it says it is; `toolNames` are those of `render`. */
  appendResponse(
    response: object,
    {
      dialect,
      toolNames,
      ...options
    }: { dialect?: Dialect; toolNames?: ToolNames } & OperationOptions = {},
  ): Appended {
    const { messages } = this.importMessages({ json: response, dialect, toolNames })
    return this.append(messages, Object.keys(options).length === 0 ? undefined : options)
  }

  /** The messages of the view, one after another. */
  [Symbol.iterator](): IterableIterator<Message> {
    return this.view()[Symbol.iterator]()
  }

  /** The number of the newest version. */
  override version(): number {
    return guarded(() => this.#handle.version())
  }

  /** How many messages there are, in the log and in the view; batches; tokens of the view. */
  override stats(): Stats {
    return statsOf(guarded(() => this.#handle.stats()))
  }

  /** How many messages `messages` would return, and their tokens. */
  override count(query?: MessageQuery): Count {
    const filters = query === undefined ? '' : encode(query)
    const [count, tokens] = guarded(() => this.#handle.count(filters))
    return { count, tokens }
  }

  /** The messages of a version (default: the newest). It stays as it is. */
  view(version?: number): View {
    return new View(guarded(() => this.#handle.view(version)))
  }

  /** Another conversation that goes on from `version` (default: the newest). */
  fork(from: number | { version?: number } = {}): MemoryConversation {
    const { version } = forkOptions(from)
    return new MemoryConversation(
      undefined,
      guarded(() => this.#handle.fork(version)),
      this.#code,
    )
  }

  /** TRANSFORM by a function: each message named is replaced by what `change` makes of it. If it throws, nothing has changed. */
  transformBy(
    which: (Names | { roles: readonly Role[] }) & OperationOptions,
    change: Change,
  ): Outcome {
    const text = encode(which)
    return readAnswer(guarded(() => this.#handle.transform(text, changeCall(change)))) as Outcome
  }

  /** Of a provider's request that repeats what was rendered, only the messages that are new. */
  importAfter(target: Target & { toolNames?: ToolNames }, request: object): Imported {
    const [how, text] = [encode(target), encode(request)]
    return JSON.parse(guarded(() => this.#handle.importAfter(how, text))) as Imported
  }

  /** The view and the stack of batches become those of a mark map, once it has passed its checks. */
  importMarkMap(markMap: GivenMarkMap, expectedVersion?: number): Outcome {
    const text = encode(markMap)
    return readAnswer(guarded(() => this.#handle.importMarkMap(text, expectedVersion))) as Outcome
  }

  /** Recounts all messages with another tokenizer. */
  setTokenizer(name: string): void {
    guarded(() => this.#handle.setTokenizer(name))
  }

  /** What a provider reported of a request. */
  reportUsage(usage: UsageReport): void {
    const text = encode(usage)
    guarded(() => this.#handle.reportUsage(text))
  }

  /** Replaces the usage by a result of `usage()`; without an argument, resets it. */
  setUsage(usage: Partial<Usage> = {}): void {
    const text = encode(usage)
    guarded(() => this.#handle.setUsage(text))
  }

  /** All that was reported. */
  usage(): Usage {
    return JSON.parse(guarded(() => this.#handle.usage())) as Usage
  }

  /** Records a request of a client, with the raw texts of request and answer; returns its number. */
  recordRequest(request: GivenRequest): number {
    const text = encode(request)
    return (JSON.parse(guarded(() => this.#handle.recordRequest(text))) as { number: number })
      .number
  }

  /** Until what works in the background is done. */
  async waitForCompression(): Promise<void> {
    await this.#waits.wait()
  }

  /** Of what works in the background. */
  cancelCompression(): void {
    guarded(() => this.#handle.cancelCompression())
  }

  /** All events from now on, until the loop is left or the conversation closed. */
  events(): AsyncIterableIterator<Event> {
    return guarded(() => this.#listeners.events())
  }

  /** `listener` hears of every event of this type, or of all, when the change is complete: it may change the conversation itself. */
  on<T extends EventType>(type: T | '*', listener: Listener<Extract<Event, { type: T }>>): Off {
    return guarded(() => this.#listeners.on(type, listener))
  }

  /** It cannot be used afterwards. Garbage collection closes it too. */
  close(): void {
    this.#listeners.close()
    this.#waits.end()
    this.#handle.close().catch(() => undefined)
  }

  /** `using` closes it. */
  [Symbol.dispose](): void {
    this.close()
  }

  /** What console.log() shows. */
  [custom](_depth: number, options: InspectOptions): string {
    return shown(
      'MemoryConversation',
      () => {
        const [version, , messages, , , tokens] = this.#handle.stats()
        return { version, messages, tokens }
      },
      options,
    )
  }
}
