// The addon (bindings/node/native), as it is: texts of JSON in, texts and numbers out. Everything else of this package stands on it.
//
//   memory(config?, code?)            a conversation in memory, at once
//   openStore(url, options)           a store; store.open(id, config?, code?, options) a conversation in it
//   handle.answer(line)               a line of the protocol, answered at once, on this thread
//   handle.answerLater(line)          the same off the loop; calls with …Later of one conversation are carried out one by one, in their order
//   handle.append(messages)           APPEND with numbers back and no answer to parse: [version, totalMessages, currentBatchMessages, totalBatches,
//                                     currentBatchIndex, tokens]; likewise handle.stats()
//   handle.view(version?)             the messages of one version, and every query of it; waits for nobody
//   handle.listen(function?)          each event as JSON, on this thread, in order, when no change is under way: it may change the conversation
//   code                              strategies and summarisers in JavaScript; see NativeCode
//
// Failure: whatever fails throws (or rejects with) an Error whose `code` is the name of the status and whose `message` is the error object of the protocol as JSON, or
// empty; answer() answers with a line instead. Nothing has changed then. A change at once while another one of the same conversation is under way is refused with `conflict`:
// it could wait for a callback that waits for this thread.
// Texts are strings without lone surrogates (else invalid_argument), or a Uint8Array of UTF-8.
// What is held: functions only weakly. Whoever passes one keeps it for as long as the handle.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { UndertextError } from './error.js'

export type Text = string | Uint8Array
/** A long text in pieces; they are put together off the loop. It is empty once it has been used. */
export interface NativeText {
  add(piece: Text): void
}
export type Numbers = [
  version: number,
  totalMessages: number,
  currentBatchMessages: number,
  totalBatches: number,
  currentBatchIndex: number,
  tokens: number,
]

export interface NativeCancel {
  isCancelled(): boolean
}

export interface NativeView {
  size(): number
  tokens(): number
  version(): number
  get(index: number): string
  answer(query: Text): string
  close(): void
}

/** What a summariser answers: the text, the model, and what it cost. */
export type NativeSummary = [
  text: string,
  model: string,
  promptTokens: number,
  completionTokens: number,
]

/** Slow code may answer with a promise, and then runs while others change the conversation. It fails by throwing; `code` of what it throws is kept if it is a status. */
export type NativeCode =
  | {
      kind: 'strategy'
      name: string
      slow: boolean
      call: (
        view: NativeView,
        tokensMax: number | undefined,
        cancel: NativeCancel,
      ) => string | undefined | Promise<string | undefined>
    }
  | {
      kind: 'summariser'
      name: string
      slow: boolean
      call: (
        messages: string,
        tokensMax: number,
        cancel: NativeCancel,
      ) => NativeSummary | Promise<NativeSummary>
    }

export interface NativeHandle {
  answer(line: Text): string
  answerLater(line: Text | NativeText): Promise<string>
  append(messages: Text): Numbers
  appendLater(messages: Text | NativeText): Promise<Numbers>
  /** TRANSFORM: `call` gets each message as text and answers with the one that takes its place, at once. */
  transform(which: Text, call: (message: string) => string): string
  transformLater(which: Text, call: (message: string) => string): Promise<string>
  importMarkMap(markMap: Text, expectedVersion?: number): string
  importMarkMapLater(markMap: Text, expectedVersion?: number): Promise<string>
  importAfter(profile: Text, request: Text): string
  importAfterLater(profile: Text, request: Text): Promise<string>
  setTokenizer(name: Text): void
  setTokenizerLater(name: Text): Promise<void>
  reportUsage(usage: Text): void
  reportUsageLater(usage: Text): Promise<void>
  setUsage(usage: Text): void
  setUsageLater(usage: Text): Promise<void>
  usage(): string
  recordRequest(request: Text): string
  recordRequestLater(request: Text): Promise<string>
  /** Begins at once, without a turn among the calls with …Later. */
  waitForCompression(): Promise<void>
  cancelCompression(): void
  catchUpLater(): Promise<void>
  checkpointLater(): Promise<void>
  redactLater(removal: Text): Promise<string>
  pruneVersionsLater(retention: Text): Promise<string>
  /** In memory. */
  fork(version?: number): NativeHandle
  /** With an empty id in memory, else in the store. */
  forkLater(version: number | undefined, id: Text): Promise<NativeHandle>
  version(): number
  /** Empty for a conversation in memory. */
  id(): string
  stats(): Numbers
  count(filters: Text): [count: number, tokens: number]
  view(version?: number): NativeView
  /** One listener at a time; undefined ends it. */
  listen(listener: ((event: string) => void) | undefined): void
  /** Whether a change is under way or waits for its turn. */
  isBusy(): boolean
  /** It cannot be used from now on; earlier calls still complete. Garbage collection closes it too. */
  close(): Promise<void>
}

export interface NativeStore {
  open(
    id: Text,
    config: Text | undefined,
    code: NativeCode[] | undefined,
    options: Text,
  ): Promise<NativeHandle>
  list(after: Text, limit: number): Promise<string>
  purge(id: Text, who: Text, why: Text): Promise<void>
  check(id: Text): Promise<string>
  backup(path: Text): Promise<void>
  settings(id: Text): Promise<string>
  removals(id: Text): Promise<string>
  compact(): Promise<void>
  exportLines(id: Text): Promise<string>
  importLines(id: Text, lines: Text, options: Text): Promise<string>
  close(): Promise<void>
}

export interface NativeStream {
  feed(data: Text): void
  result(): string
}

export interface Native {
  version(): string
  memory(config?: Text, code?: NativeCode[]): NativeHandle
  openStore(url: Text, options: Text): Promise<NativeStore>
  restoreStore(url: Text, backup: Text): Promise<void>
  countTokens(tokenizer: Text, text: Text): number
  countTools(counting: Text, tools: Text): string
  findModel(name: Text): string
  addModels(json: Text): void
  importMessages(dialect: Text, json: Text): string
  validateRequest(profile: Text, request: Text): string
  readBlocks(message: Text): string
  text(): NativeText
  stream(dialect: Text): NativeStream
}

const require = createRequire(import.meta.url)

function wordsOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

// A package of its own for each platform, of which npm installs the one that fits; beside this file where the addon was built.
function load(): Native {
  const machine = `${process.platform}-${process.arch}`
  const beside = fileURLToPath(
    new URL(`../../prebuilds/${machine}/undertext.node`, import.meta.url),
  )
  let place = process.env['UNDERTEXT_NODE_ADDON'] ?? (existsSync(beside) ? beside : undefined)
  try {
    place ??= require.resolve(`undertext-${machine}/undertext.node`)
  } catch (thrown) {
    const words =
      `there is no addon for ${machine}: the package undertext-${machine} is not installed. ` +
      'npm installs it by itself on linux-x64 and linux-arm64 with glibc, unless it is told to omit optional packages; ' +
      'elsewhere scripts/node --package of the repository makes one'
    throw new UndertextError('unsupported', words, {}, thrown)
  }
  try {
    return require(place) as Native
  } catch (thrown) {
    throw new UndertextError(
      'unsupported',
      `the addon cannot be loaded: ${wordsOf(thrown)} (${place})`,
      {},
      thrown,
    )
  }
}

export const native: Native = load()
