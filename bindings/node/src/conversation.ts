// A conversation that answers with promises, in memory or in a store.
import type { InspectOptions } from 'node:util'
import { changeCall, readSettings, type Change, type ReadSettings, type Settings } from './code.js'
import { encode, encodeGiven, finishWriting, listOf, startWriting, type Begun } from './encode.js'
import { guarded, later } from './error.js'
import { Listeners, type Listener, type Off } from './events.js'
import { custom, shown } from './inspect.js'
import { statsOf } from './memory.js'
import { native, type NativeHandle, type NativeText, type Text } from './native.js'
import { forkOptions, readAnswer, Requests } from './requests.js'
import type {
  Appended,
  Dialect,
  Event,
  EventType,
  Imported,
  GivenMarkMap,
  GivenRequest,
  Message,
  MessageLike,
  Names,
  OperationOptions,
  Outcome,
  Reclaimed,
  Redaction,
  Retention,
  Role,
  Target,
  ToolNames,
  Usage,
  UsageReport,
} from './types.js'
import { Waits } from './waits.js'

// What runs on the loop must be done within a millisecond, whatever it says. docs/node.md tells how these were measured.
const quickCharacters = 16 * 1024
const quickMessages = 256
// Of all that was ever sent to a conversation of which everything is quick.
const sentCharacters = 64 * 1024

// Queries that cost the same however long the conversation is: a few messages from either end, by what the engine keeps sums of.
function isBounded(line: string): boolean {
  if (!line.startsWith('{"query":"messages"'))
    return line === '{"query":"stats"}' || line === '{"query":"version"}'
  return (
    /"(?:first|last)":\d{1,2}[,}]/.test(line) &&
    !line.includes('"contains":') &&
    !line.includes('"marked":')
  )
}

/** @internal */
export interface Opened {
  handle: NativeHandle
  settings: ReadSettings
  /** Closed with the conversation. */
  owner?: { close(): Promise<void> }
  /** How many characters a conversation that it is a fork of was sent. */
  sent?: number
}

/**
 * A conversation. Calls run one by one, in their order; values are read when the method is called, so changing them afterwards has no effect.
 * Of a stored conversation everything runs off the loop, and a promise of a change is kept when it is durable.
 *
 * `await using` closes it; garbage collection closes it too.
 */
export class Conversation extends Requests<'later'> {
  readonly #handle: NativeHandle
  readonly #listeners: Listeners
  // The addon holds functions weakly.
  readonly #settings: ReadSettings
  readonly #owner: Opened['owner']
  readonly #id: string
  readonly #compresses: boolean
  // Characters of what changed it, which are at least as many as it holds.
  #sent: number
  readonly #waits: Waits

  /** Use inMemory() or open(). @internal */
  constructor(opened: Opened) {
    super()
    this.#handle = opened.handle
    this.#settings = opened.settings
    this.#owner = opened.owner
    this.#listeners = new Listeners(opened.handle)
    this.#waits = new Waits(opened.handle)
    this.#id = guarded(() => opened.handle.id())
    this.#compresses = opened.settings.config?.includes('"compressionConfig"') ?? false
    this.#sent = opened.sent ?? 0
  }

  /** Its name in the store; empty for a conversation in memory. */
  get id(): string {
    return this.#id
  }

  // Done when the last call that waits for a long text has been handed to the addon, which keeps the order from there.
  #tail: Promise<void> | undefined

  // Starts a call in its turn. `begin` hands it to the addon.
  async #inTurn<T>(
    begin: () => Promise<T> | Promise<{ reply: Promise<T> }>,
    isLong = false,
  ): Promise<T> {
    if (this.#tail === undefined && !isLong) return later(begin as () => Promise<T>)
    const begun = (this.#tail ?? Promise.resolve()).then(async () =>
      isLong ? (begin() as Promise<{ reply: Promise<T> }>) : { reply: begin() as Promise<T> },
    )
    const tail = begun.then(
      () => undefined,
      () => undefined,
    )
    this.#tail = tail
    void tail.then(() => {
      if (this.#tail === tail) this.#tail = undefined
    })
    return later(async () => (await begun).reply)
  }

  #withText<T>(begun: Begun, start: (text: Text | NativeText) => Promise<T>): Promise<T> {
    if (!begun.isLong) {
      const text =
        begun.text instanceof Uint8Array && this.#tail !== undefined
          ? Uint8Array.from(begun.text)
          : begun.text
      return this.#inTurn(() => start(text))
    }
    return this.#inTurn<T>(async () => {
      const text = await finishWriting(begun)
      return { reply: start(text) }
    }, true)
  }

  #sends({ text, isLong }: Begun): void {
    this.#sent += isLong ? Infinity : text.length
  }

  // Whether something may be done here and now: nothing is under way, and it is quick for certain. What may run a strategy is not.
  #isQuick({ text, isLong }: Begun, isQuery: boolean, isBounded: boolean): boolean {
    if (
      this.#id !== '' ||
      this.#tail !== undefined ||
      isLong ||
      typeof text !== 'string' ||
      text.length > quickCharacters
    )
      return false
    if (this.#handle.isBusy() || (this.#compresses && !isQuery)) return false
    return (
      isBounded ||
      (this.#handle.stats()[1] <= quickMessages &&
        this.#sent <= sentCharacters &&
        !text.includes('"strategy"'))
    )
  }

  protected override async send<T>(encode: () => Text, read: (answer: string) => T): Promise<T> {
    const line = startWriting(encode)
    const isQuery = typeof line.text === 'string' && line.text.startsWith('{"query":')
    if (!isQuery) this.#sends(line)
    if (guarded(() => this.#isQuick(line, isQuery, isQuery && isBounded(String(line.text)))))
      return read(guarded(() => this.#handle.answer(line.text)))
    return read(await this.#withText(line, text => this.#handle.answerLater(text)))
  }

  /** One message, a list of them, or anything else that gives them one by one: of that a few are taken each time the loop comes by, however many there are. */
  async append(
    messages: Message | MessageLike | Iterable<Message | MessageLike>,
    options?: OperationOptions,
  ): Promise<Appended> {
    if (options !== undefined)
      return this.operate('APPEND', { messages: listOf(messages) }, options)
    const line = startWriting(() => encodeGiven(messages))
    this.#sends(line)
    const numbers = guarded(() => this.#isQuick(line, false, true))
      ? guarded(() => this.#handle.append(line.text))
      : await this.#withText(line, text => this.#handle.appendLater(text))
    return { version: numbers[0], stats: statsOf(numbers) }
  }

  /** Adds the answer of a model: what an SDK of OpenAI, Anthropic or Google returned, or the JSON of it. The default `dialect` is what it says it is; `toolNames` are those of `render`. */
  async appendResponse(
    response: object,
    {
      dialect,
      toolNames,
      ...options
    }: { dialect?: Dialect; toolNames?: ToolNames } & OperationOptions = {},
  ): Promise<Appended> {
    const { messages } = await this.importMessages({ json: response, dialect, toolNames })
    return this.append(messages, Object.keys(options).length === 0 ? undefined : options)
  }

  /** The messages of the newest version, one after another. */
  async *[Symbol.asyncIterator](): AsyncIterableIterator<Message> {
    yield* await this.messages()
  }

  /** Another conversation that goes on from `version` (default: the newest): in memory, or with an `id` in the same store. */
  async fork(from: number | { version?: number; id?: string } = {}): Promise<Conversation> {
    const { version, id = '' } = forkOptions(from)
    const handle = await this.#inTurn(() => this.#handle.forkLater(version, id))
    return new Conversation({ handle, settings: this.#settings, sent: this.#sent })
  }

  /** TRANSFORM by a function: each message named is replaced by what `change` makes of it. If it throws, nothing has changed. */
  async transformBy(
    which: (Names | { roles: readonly Role[] }) & OperationOptions,
    change: Change,
  ): Promise<Outcome> {
    const text = encode(which)
    this.#sent = Infinity
    return readAnswer(
      await this.#inTurn(() => this.#handle.transformLater(text, changeCall(change))),
    ) as Outcome
  }

  /** Of a provider's request that repeats what was rendered, only the messages that are new. */
  async importAfter(
    target: Target & { toolNames?: ToolNames },
    request: object,
  ): Promise<Imported> {
    const [how, text] = [encode(target), encode(request)]
    this.#sent += text.length
    return JSON.parse(
      await this.#inTurn(() => this.#handle.importAfterLater(how, text)),
    ) as Imported
  }

  /** The view and the stack of batches become those of a mark map, once it has passed its checks. */
  async importMarkMap(markMap: GivenMarkMap, expectedVersion?: number): Promise<Outcome> {
    const text = encode(markMap)
    return readAnswer(
      await this.#inTurn(() => this.#handle.importMarkMapLater(text, expectedVersion)),
    ) as Outcome
  }

  /** Recounts all messages with another tokenizer. */
  async setTokenizer(name: string): Promise<void> {
    await this.#inTurn(() => this.#handle.setTokenizerLater(name))
  }

  /** Until what works in the background is done. It waits for no other call, and no other call for it. */
  async waitForCompression(): Promise<void> {
    await this.#waits.wait()
  }

  /** Of what works in the background, and of a COMPRESS that waits for slow code (which then fails with `unavailable`). */
  cancelCompression(): void {
    guarded(() => this.#handle.cancelCompression())
  }

  /** What a provider reported of a request. It is stored with the conversation. */
  async reportUsage(usage: UsageReport): Promise<void> {
    const text = encode(usage)
    await this.#inTurn(() => this.#handle.reportUsageLater(text))
  }

  /** Replaces the usage by a result of `usage()`; without an argument, resets it. */
  async setUsage(usage: Partial<Usage> = {}): Promise<void> {
    const text = encode(usage)
    await this.#inTurn(() => this.#handle.setUsageLater(text))
  }

  /** As it was when this conversation last read or wrote. */
  usage(): Usage {
    return JSON.parse(guarded(() => this.#handle.usage())) as Usage
  }

  /** Records a request of a client, with the raw texts of request and answer; returns its number. */
  async recordRequest(request: GivenRequest): Promise<number> {
    const text = encode(request)
    return (
      JSON.parse(await this.#inTurn(() => this.#handle.recordRequestLater(text))) as {
        number: number
      }
    ).number
  }

  /** Delivers the events of what others committed. Reads do this by themselves. */
  async catchUp(): Promise<void> {
    await this.#inTurn(() => this.#handle.catchUpLater())
  }

  /** Stores a state from which the conversation is opened quickly. This happens by itself now and then. */
  async checkpoint(): Promise<void> {
    await this.#inTurn(() => this.#handle.checkpointLater())
  }

  /**
   * Deletes the bytes of these messages permanently; stubs stay. Returns what else may have their text: summaries and edited copies that stand for them, and
   * operations that quote them, in forks too. With `derived` these are redacted as well.
   */
  async redact(
    ordinals: readonly number[],
    who: string,
    why?: string,
    options: { derived?: boolean } = {},
  ): Promise<Redaction> {
    const text = encode({ ordinals, who, why, derived: options.derived })
    return JSON.parse(await this.#inTurn(() => this.#handle.redactLater(text))) as Redaction
  }

  /** Prunes versions: the newest `versions` and `batches` stay, and versions younger than `days`. */
  async pruneVersions(retention: Retention): Promise<Reclaimed> {
    const text = encode(retention)
    return JSON.parse(await this.#inTurn(() => this.#handle.pruneVersionsLater(text))) as Reclaimed
  }

  /** `listener` hears of every event of this type, or of all, in order, when the change is complete: it may change the conversation itself. */
  on<T extends EventType>(type: T | '*', listener: Listener<Extract<Event, { type: T }>>): Off {
    return guarded(() => this.#listeners.on(type, listener))
  }

  /** All events from now on, until the loop is left or the conversation closed. Listening does not keep the process alive. */
  events(): AsyncIterableIterator<Event> {
    return guarded(() => this.#listeners.events())
  }

  /** Nothing can be asked of it from now on; what was asked for before is still done. */
  async close(): Promise<void> {
    this.#listeners.close()
    this.#waits.end()
    await this.#inTurn(() => this.#handle.close())
    await this.#owner?.close()
  }

  /** `await using` closes it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** What console.log() shows. */
  [custom](_depth: number, options: InspectOptions): string {
    return shown(
      'Conversation',
      () => {
        const [version, , messages, , , tokens] = this.#handle.stats()
        return { version, messages, tokens }
      },
      options,
      { id: this.#id },
    )
  }
}

/** A conversation in memory. */
export function inMemory(settings?: Settings): Conversation {
  const read = readSettings(settings)
  return new Conversation({
    handle: guarded(() => native.memory(read.config, read.code)),
    settings: read,
  })
}
