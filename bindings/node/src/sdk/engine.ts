// The ground of the managers: a conversation of the engine, in one of two modes. `now`: in memory, answered at once. `later`: in a store, answered by promises, off
// the loop. A manager is written once, in terms of `map` and `chain`, and has either mode.

import { readSettings, type ReadSettings, type Settings } from '../code.js'
import { Conversation } from '../conversation.js'
import { encode } from '../encode.js'
import { guarded, UndertextError } from '../error.js'
import { MemoryConversation } from '../memory.js'
import { native, type NativeHandle } from '../native.js'
import { readAnswer, type Mode, type Reply } from '../requests.js'
import { openWithKept } from '../store.js'
import type { DataSettings, Event, Outcome, Usage, UsageReport } from '../types.js'
import { ValidationError, asDocumented } from './errors.js'
import { GivenCode, type Code } from './given.js'
import type { MessageMarkMap } from './mark_map.js'
import type { LLMMessage, LLMMessageRole } from './message.js'

export interface Engine<M extends Mode> {
  /** An operation, or an atomic list of operations. */
  apply<A, T>(operation: object, read: (answer: A) => T): Reply<M, T>
  /** A query. */
  ask<A, T>(query: object, read: (answer: A) => T): Reply<M, T>
  /** A query, answered for an earlier version. */
  askAt<A, T>(version: number, query: object, read: (answer: A) => T): Reply<M, T>
  version(): Reply<M, number>
  importMarkMap(markMap: MessageMarkMap, expectedVersion?: number): Reply<M, void>
  /** In memory, of the newest version. */
  fork(): Reply<M, Engine<M>>
  usage(): Usage
  reportUsage(usage: UsageReport): Reply<M, void>
  setUsage(usage: Partial<Usage>): Reply<M, void>
  /** What reads usage and then changes it: one after another, in the order of the calls. */
  inOrder<T>(work: () => Reply<M, T>): Reply<M, T>
  /** A value as a reply. */
  reply<T>(value: T): Reply<M, T>

  /** A copy of what was given, made at once: what is done to it afterwards changes nothing. */
  given<T>(value: T): Reply<M, T>
  /** The same, with the version that it is meant for: that before whatever is called next. */
  givenNow<T>(value: T): Reply<M, { copy: T; version: number }>
  map<A, B>(value: Reply<M, A>, next: (value: A) => B): Reply<M, B>
  chain<A, B>(value: Reply<M, A>, next: (value: A) => Reply<M, B>): Reply<M, B>
  nothing(): Reply<M, void>
  /** Whether what was tried was not refused. */
  succeeds(attempt: () => Reply<M, unknown>): Reply<M, boolean>
  /** undefined: what was asked for is not there. */
  unlessGone<T>(attempt: () => Reply<M, T>): Reply<M, T | undefined>

  /** `isSlow`: it may wait for code of the user's. */
  compress(strategy: object, isSlow: boolean): Promise<Outcome>
  /** The same, by a strategy that calls `code` by the name that it is given. */
  compressBy(code: Code, strategy: (name: string) => object): Promise<Outcome>
  waitForCompression(): Promise<void>
  /** `listener` gets every event, when no change is under way. */
  subscribe(listener: (event: Event) => unknown): () => void
  close(): Promise<void>
  /** What console.log() shows of it. */
  readonly conversation: MemoryConversation | Conversation
}

/** Runs a call; what it refuses is named as the documents do. */
function at<T>(call: () => T): T {
  try {
    return call()
  } catch (thrown) {
    throw asDocumented(thrown)
  }
}

/** The same of a promise. */
async function after<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (thrown) {
    throw asDocumented(thrown)
  }
}

function nothingIfGone(thrown: unknown): undefined {
  if (!(thrown instanceof UndertextError) || thrown.code !== 'not_found') throw thrown
}

/** The protocol takes queries by the same function; an operation is none. */
function checked(operation: object): object {
  if (
    typeof operation !== 'object' ||
    operation === null ||
    'query' in operation ||
    operation instanceof Uint8Array
  )
    throw new ValidationError('must be an operation', 'operation')
  return operation
}

/** What the sdk leaves open in a query it does not name: an argument that is undefined was forgotten. */
function complete(query: object): object {
  for (const [name, value] of Object.entries(query))
    if (value === undefined) throw new ValidationError('must be given', name)
  return query
}

/** Of the class `name`, which is made by the method `given` of a conversation. */
export function engineOf<M extends Mode>(
  engine: Engine<M>,
  name: string,
  given: string,
): Engine<M> {
  if (typeof engine?.ask !== 'function')
    throw new ValidationError(
      `a ${name} is a view of a conversation: ConversationManager.${given}() gives one`,
      'conversation',
    )
  return engine
}

/** One handle for both APIs: at once, and for what takes its time by promises. */
class Now implements Engine<'now'> {
  readonly #handle: NativeHandle
  readonly #settings: ReadSettings
  readonly #given: GivenCode
  readonly #now: MemoryConversation
  readonly #later: Conversation

  constructor(handle: NativeHandle, settings: ReadSettings, given: GivenCode) {
    this.#handle = handle
    this.#settings = settings
    this.#given = given
    this.#now = new MemoryConversation(undefined, handle, settings.code)
    this.#later = new Conversation({ handle, settings })
  }

  get conversation(): MemoryConversation {
    return this.#now
  }
  apply<A, T>(operation: object, read: (answer: A) => T): T {
    return at(() => read(readAnswer(this.#now.raw(checked(operation))) as A))
  }
  ask<A, T>(query: object, read: (answer: A) => T): T {
    return this.askAt(undefined, query, read)
  }
  askAt<A, T>(version: number | undefined, query: object, read: (answer: A) => T): T {
    // A view can be asked even while a slow strategy is at work.
    return at(() => {
      const view = this.#now.view(version)
      try {
        return read(readAnswer(view.raw(complete(query))) as A)
      } finally {
        view.close()
      }
    })
  }
  version(): number {
    return at(() => this.#now.version())
  }
  importMarkMap(markMap: MessageMarkMap, expectedVersion?: number): void {
    at(() => this.#now.importMarkMap(markMap, expectedVersion))
  }
  fork(): Now {
    return new Now(
      at(() => guarded(() => this.#handle.fork())),
      this.#settings,
      this.#given,
    )
  }
  usage(): Usage {
    return at(() => this.#now.usage())
  }
  reportUsage(usage: UsageReport): void {
    at(() => this.#now.reportUsage(usage))
  }
  setUsage(usage: Partial<Usage>): void {
    at(() => this.#now.setUsage(usage))
  }
  inOrder<T>(work: () => T): T {
    return work()
  }
  reply<T>(value: T): T {
    return value
  }

  given<T>(value: T): T {
    return copyOf(value)
  }
  givenNow<T>(value: T): { copy: T; version: number } {
    return { copy: copyOf(value), version: this.version() }
  }
  map<A, B>(value: A, next: (value: A) => B): B {
    return next(value)
  }
  chain<A, B>(value: A, next: (value: A) => B): B {
    return next(value)
  }
  nothing(): void {}
  succeeds(attempt: () => unknown): boolean {
    try {
      attempt()
      return true
    } catch (thrown) {
      if (thrown instanceof ValidationError) return false
      throw thrown
    }
  }
  unlessGone<T>(attempt: () => T): T | undefined {
    try {
      return attempt()
    } catch (thrown) {
      return nothingIfGone(thrown)
    }
  }

  async compress(strategy: object, isSlow: boolean): Promise<Outcome> {
    const operation = { operation: 'COMPRESS', ...strategy }
    if (!isSlow) return this.apply(operation, (outcome: Outcome) => outcome)
    return after(async () => readAnswer(await this.#later.raw(operation)) as Outcome)
  }
  compressBy(code: Code, strategy: (name: string) => object): Promise<Outcome> {
    return this.#given.run(code, name => this.compress(strategy(name), true))
  }
  waitForCompression(): Promise<void> {
    return after(() => this.#later.waitForCompression())
  }
  subscribe(listener: (event: Event) => unknown): () => void {
    return at(() => this.#later.on('*', listener))
  }
  close(): Promise<void> {
    return after(() => this.#later.close())
  }
}

class Later implements Engine<'later'> {
  readonly #conversation: Conversation
  readonly #given: GivenCode
  #before: Promise<unknown> = Promise.resolve()

  constructor(conversation: Conversation, given: GivenCode) {
    this.#conversation = conversation
    this.#given = given
  }

  get conversation(): Conversation {
    return this.#conversation
  }
  apply<A, T>(operation: object, read: (answer: A) => T): Promise<T> {
    return after(async () =>
      read(readAnswer(await this.#conversation.raw(checked(operation))) as A),
    )
  }
  ask<A, T>(query: object, read: (answer: A) => T): Promise<T> {
    return after(async () => read(readAnswer(await this.#conversation.raw(complete(query))) as A))
  }
  async askAt<A, T>(version: number, query: object, read: (answer: A) => T): Promise<T> {
    // A view would be asked on the loop, and may have to fetch from the store.
    const then = new Later(await after(() => this.#conversation.fork({ version })), this.#given)
    try {
      return await then.ask(query, read)
    } finally {
      await then.close()
    }
  }
  version(): Promise<number> {
    return after(() => this.#conversation.version())
  }
  importMarkMap(markMap: MessageMarkMap, expectedVersion?: number): Promise<void> {
    return after(
      async () => void (await this.#conversation.importMarkMap(markMap, expectedVersion)),
    )
  }
  async fork(): Promise<Later> {
    return new Later(await after(() => this.#conversation.fork()), this.#given)
  }
  usage(): Usage {
    return at(() => this.#conversation.usage())
  }
  reportUsage(usage: UsageReport): Promise<void> {
    return after(() => this.#conversation.reportUsage(usage))
  }
  setUsage(usage: Partial<Usage>): Promise<void> {
    return after(() => this.#conversation.setUsage(usage))
  }
  inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#before.then(work)
    this.#before = result.catch(() => undefined)
    return result
  }
  async reply<T>(value: T): Promise<T> {
    return value
  }

  async given<T>(value: T): Promise<T> {
    return copyOf(value)
  }
  async givenNow<T>(value: T): Promise<{ copy: T; version: number }> {
    return { copy: copyOf(value), version: await this.version() }
  }
  map<A, B>(value: Promise<A>, next: (value: A) => B): Promise<B> {
    return value.then(next)
  }
  chain<A, B>(value: Promise<A>, next: (value: A) => Promise<B>): Promise<B> {
    return value.then(next)
  }
  async nothing(): Promise<void> {}
  async succeeds(attempt: () => Promise<unknown>): Promise<boolean> {
    try {
      await attempt()
      return true
    } catch (thrown) {
      if (thrown instanceof ValidationError) return false
      throw thrown
    }
  }

  unlessGone<T>(attempt: () => Promise<T>): Promise<T | undefined> {
    return attempt().catch(nothingIfGone)
  }

  compress(strategy: object): Promise<Outcome> {
    return this.apply({ operation: 'COMPRESS', ...strategy }, (outcome: Outcome) => outcome)
  }
  compressBy(code: Code, strategy: (name: string) => object): Promise<Outcome> {
    return this.#given.run(code, name => this.compress(strategy(name)))
  }
  waitForCompression(): Promise<void> {
    return after(() => this.#conversation.waitForCompression())
  }
  subscribe(listener: (event: Event) => unknown): () => void {
    return at(() => this.#conversation.on('*', listener))
  }
  close(): Promise<void> {
    return after(() => this.#conversation.close())
  }
}

/** Of a conversation in memory. */
export function newEngine(settings: Settings = {}): Engine<'now'> {
  return at(() => {
    const given = new GivenCode()
    const read = readSettings(given.addedTo(settings))
    return new Now(
      guarded(() => native.memory(read.config, read.code)),
      read,
      given,
    )
  })
}

/** Of a conversation in a store, with the settings that are kept with it: `settings`, if they say anything, else those from before. */
export async function openEngine(
  url: string,
  id: string,
  settings: Settings,
): Promise<{ engine: Engine<'later'>; kept: DataSettings | undefined }> {
  const given = new GivenCode()
  const { conversation, kept } = await after(() => openWithKept(url, id, given.addedTo(settings)))
  return { engine: new Later(conversation, given), kept }
}

/** A copy by way of JSON, as everything that is handed to the engine is read. */
export function copyOf<T>(value: T): T {
  return JSON.parse(at(() => encode(value))) as T
}

export function messagesOf(answer: { messages: LLMMessage[] }): LLMMessage[] {
  return answer.messages
}

export function ordinalsOf(answer: { ordinals: number[] }): number[] {
  return answer.ordinals
}

export function markMapOf<M extends Mode, T>(
  engine: Engine<M>,
  read: (markMap: Required<MessageMarkMap>) => T,
): Reply<M, T> {
  return engine.ask({ query: 'markMap' }, (answer: { result: Required<MessageMarkMap> }) =>
    read(answer.result),
  )
}

/** Reads the mark map of `version`, and takes over what `edit` makes of it, unless another writer was first (`conflict`). undefined: nothing to do. */
function editMarkMap<M extends Mode>(
  engine: Engine<M>,
  version: number,
  edit: (markMap: Required<MessageMarkMap>) => MessageMarkMap | undefined,
): Reply<M, void> {
  return engine.chain(
    engine.askAt(version, { query: 'markMap' }, (answer: { result: Required<MessageMarkMap> }) =>
      edit(answer.result),
    ),
    edited => (edited === undefined ? engine.nothing() : engine.importMarkMap(edited, version)),
  )
}

/** The view is these ordinals, in this order; the stack of batches stays. */
export function setOriginalIndices<M extends Mode>(
  engine: Engine<M>,
  indices: readonly number[],
): Reply<M, void> {
  return engine.chain(engine.givenNow(indices), ({ copy, version }) =>
    editMarkMap(engine, version, ({ typeIndices: _, ...markMap }) => ({
      ...markMap,
      originalIndices: copy as number[],
    })),
  )
}

/** A message of the log becomes visible; with `role`, only if it has that one. Nothing to do where it is visible. */
export function showAtTheEnd<M extends Mode>(
  engine: Engine<M>,
  ordinal: number,
  role?: LLMMessageRole,
): Reply<M, void> {
  const edit = ({
    typeIndices,
    ...markMap
  }: Required<MessageMarkMap>): MessageMarkMap | undefined => {
    const isVisible = markMap.originalIndices.includes(ordinal)
    const ofRole =
      role === undefined ? undefined : Object.hasOwn(typeIndices, role) ? typeIndices[role] : []
    if (isVisible && ofRole?.includes(ordinal) === false)
      throw new ValidationError(`message ${ordinal} has another role`, 'role')
    if (isVisible) return undefined
    markMap.originalIndices.push(ordinal)
    // The engine compares the roles it is told with those of the messages.
    return ofRole === undefined
      ? markMap
      : { ...markMap, typeIndices: { ...typeIndices, [role as string]: [...ofRole, ordinal] } }
  }
  return engine.chain(engine.version(), version => editMarkMap(engine, version, edit))
}
