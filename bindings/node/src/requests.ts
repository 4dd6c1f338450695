// What can be asked of a conversation, once: for one that answers at once, and for one that answers with promises.
import { encode, encodeRequest } from './encode.js'
import { mustBeObject, UndertextError, type ErrorCode, type ErrorDetails } from './error.js'
import type { Text } from './native.js'
import type {
  AnyOperation,
  Batch,
  BatchSnapshot,
  Blame,
  Budget,
  ClientRequest,
  ComparedRequest,
  CompressByStrategy,
  CostQuery,
  Count,
  Dialect,
  Diff,
  EditCost,
  Filter,
  Fit,
  Found,
  Imported,
  Ledger,
  MarkMap,
  MergeForkOptions,
  Message,
  MessageBlocks,
  MessageLike,
  MessageQuery,
  Model,
  Names,
  OperationOptions,
  Outcome,
  Pairs,
  Recalled,
  Receipt,
  Rendered,
  RenderQuery,
  RequestRecord,
  Role,
  State,
  Stats,
  StrategyChoice,
  Target,
  TextChange,
  TokenCounts,
  ToolDeclaration,
  ToolNames,
  ToolResult,
  ToolsCount,
  Truncate,
  Validated,
  VersionEntry,
  WhatIf,
  WholeRequest,
} from './types.js'

export type Mode = 'now' | 'later'
export type Reply<M extends Mode, T> = M extends 'now' ? T : Promise<T>

interface Answer {
  ok: boolean
  error?: { code: ErrorCode; message: string } & ErrorDetails
}

/** The answer to a line, or its error. */
export function readAnswer(line: string): unknown {
  const answer = JSON.parse(line) as Answer
  if (!answer.ok && answer.error) throw UndertextError.of(answer.error)
  return answer
}

/** What a fork goes on from: a version, or options that say one. */
export function forkOptions(from: number | { version?: number; id?: string }): {
  version?: number
  id?: string
} {
  if (typeof from === 'number') return { version: from }
  mustBeObject(from, 'options')
  return { version: from.version, id: from.id }
}

const whole = (answer: unknown): unknown => answer
const resultOf = (answer: unknown): unknown => (answer as { result: unknown }).result

/** Reading. Nothing here changes anything. Messages and numbers are read by JSON.parse; `raw` gives the text as it is. */
export abstract class Queries<M extends Mode> {
  /** Sends the line that `encode` makes; `read` makes the reply of its answer. What either throws is how it fails. */
  protected abstract send<T>(encode: () => Text, read: (answer: string) => T): Reply<M, T>

  protected ask<T>(encode: () => string, pick: (answer: unknown) => unknown): Reply<M, T> {
    return this.send(encode, answer => pick(readAnswer(answer)) as T)
  }

  protected query<T>(name: string, ...parts: (object | undefined)[]): Reply<M, T> {
    return this.ask(() => encodeRequest('query', name, ...parts), resultOf)
  }

  /**
   * A line of the protocol, as text, as UTF-8 or as a value, and the answer as text: bytes unchanged, errors included. Where numbers must stay as they are spelled
   * (9007199254740993, 1.10).
   */
  raw(request: string | Uint8Array | object): Reply<M, string> {
    return this.send(
      () =>
        typeof request === 'string' || request instanceof Uint8Array ? request : encode(request),
      answer => answer,
    )
  }

  /** Messages of the view, or of the log. The filters compose in the order in which `MessageQuery` has them. */
  messages(query?: MessageQuery): Reply<M, Message[]> {
    return this.ask(
      () => encodeRequest('query', 'messages', query),
      answer => (answer as Found).messages,
    )
  }

  /** The messages together with their ordinals. */
  find(query?: MessageQuery): Reply<M, Found> {
    return this.ask(() => encodeRequest('query', 'messages', query), whole)
  }

  /** What the messages say, whichever format they are written in. */
  blocks(query?: MessageQuery): Reply<M, MessageBlocks[]> {
    return this.query('blocks', query)
  }

  /** How many messages `messages` would return, and their tokens. */
  count(query?: MessageQuery): Reply<M, Count> {
    return this.ask(
      () => encodeRequest('query', 'count', query),
      answer => {
        const { count, tokens } = answer as Count
        return { count, tokens }
      },
    )
  }

  /** What belongs to the current batch. */
  uncompressed(): Reply<M, Found> {
    return this.ask(() => encodeRequest('query', 'uncompressed'), whole)
  }

  /** The messages, with the snapshots of batches. */
  state(): Reply<M, State> {
    return this.query('state')
  }

  /** How many messages there are, in the log and in the view; batches; tokens of the view. */
  stats(): Reply<M, Stats> {
    return this.query('stats')
  }

  /** The number of the newest version. */
  version(): Reply<M, number> {
    return this.query('version')
  }

  /** Where the messages of the view stand in the log, by role and by batch. */
  markMap(): Reply<M, MarkMap> {
    return this.query('markMap')
  }

  /** The stack of batches, from the first to the current one. */
  batches(): Reply<M, Batch[]> {
    return this.query('batches')
  }

  /** Null for the current batch and those that are not. */
  batchSnapshot(batchIndex: number): Reply<M, BatchSnapshot | null> {
    return this.query('batchSnapshot', { batchIndex })
  }

  /** Every version: its operation, its time, what it left. */
  history(): Reply<M, VersionEntry[]> {
    return this.query('history')
  }

  /** What was removed, added and moved between two versions. */
  diff(from: number, to: number): Reply<M, Diff> {
    return this.query('diff', { from, to })
  }

  /** Which operations stored, hid and showed a message of the log. */
  blame(ordinal: number): Reply<M, Blame> {
    return this.query('blame', { ordinal })
  }

  /** The tokens of the view, by role and, with `perMessage`, by message. */
  tokens(query?: { atVersion?: number; perMessage?: boolean }): Reply<M, TokenCounts> {
    return this.query('tokens', query)
  }

  /** Whether it fits, and by which plan it would. */
  fit(budget?: Budget, options?: { strategy?: StrategyChoice; atVersion?: number }): Reply<M, Fit> {
    return this.query('fit', budget === undefined ? {} : { budget }, options)
  }

  /** What each compression hid, and why. */
  receipts(): Reply<M, Receipt[]> {
    return this.query('receipts')
  }

  /** Messages that share words with the text, with their units and neighbours, best first; by default hidden ones. */
  recall(text: string, query?: MessageQuery & { budgetTokens?: number }): Reply<M, Recalled> {
    return this.query('recall', { text }, query)
  }

  /** Recorded requests of the client, the oldest first, without their texts. */
  requests(query?: { first?: number; limit?: number; last?: number }): Reply<M, RequestRecord[]> {
    return this.query('requests', query)
  }

  /** Where a recorded request stops being equal to an earlier one, as the provider's cache sees them. */
  cacheBreak(number: number, against?: number): Reply<M, ComparedRequest> {
    return this.query('cacheBreak', { number, against })
  }

  /** What the recorded requests cost, and where a cache was missed that should have been hit. */
  ledger(query?: { from?: number; to?: number; turns?: boolean }): Reply<M, Ledger> {
    return this.query('ledger', query)
  }

  /** What the recorded requests would have cost under another policy of the gateway. No model is called. */
  whatIf(policy: string | object, options?: { model?: string }): Reply<M, WhatIf> {
    return this.query('whatIf', { policy, ...options })
  }

  /** A recorded request, with its raw text and that of its answer. */
  request(number: number): Reply<M, WholeRequest> {
    return this.query('request', { number })
  }

  /** The request for a provider, and what had to be repaired in it: `client.messages.create({ model, max_tokens, ...(await conversation.render()).request })`. */
  render(query?: RenderQuery): Reply<M, Rendered> {
    return this.query('render', query)
  }

  /** What a provider would refuse. */
  validate(
    query?: Omit<RenderQuery, 'repair' | 'boundThinking' | 'cacheMarkers'>,
  ): Reply<M, Validated> {
    return this.query('validate', query)
  }

  /** What the edits since `from` cost a provider's prompt cache; or what `operations` would, which are only tried. */
  cost(query: CostQuery): Reply<M, EditCost> {
    return this.query('cost', query)
  }

  /** What is known of the conversation's model, with its settings in place; or of another, by name. */
  model(name?: string): Reply<M, Model> {
    return this.query('model', name === undefined ? {} : { name })
  }

  /** What the `tools` of a request cost, in the form of any provider, as this conversation counts or as a model does: the `overhead` of a budget. */
  countTools(tools: readonly object[], model?: string): Reply<M, ToolsCount> {
    return this.query('countTools', model === undefined ? { tools } : { tools, model })
  }

  /** Tools by which a model looks into this conversation (context_search, context_expand, context_status), as the `tools` of a request declare them. */
  tools(dialect?: Dialect): Reply<M, ToolDeclaration[]> {
    return this.query('tools', dialect === undefined ? {} : { dialect })
  }

  /** What such a tool answers the model: its name and arguments as the model gave them. An error is an answer too, which the model understands. Changes nothing. */
  callTool(name: string, args: string | object = {}): Reply<M, ToolResult> {
    return this.query('callTool', { name, arguments: args })
  }

  /** The messages of a provider's request or response, to be appended. With `after`, of a request that repeats what was rendered only those that are new. */
  importMessages(
    query: { json: object; toolNames?: ToolNames; after?: boolean } & Target,
  ): Reply<M, Imported> {
    return this.query('importMessages', query)
  }
}

/** Reading and changing. Every operation makes one version, or fails and changes nothing. */
export abstract class Requests<M extends Mode> extends Queries<M> {
  /** An operation in any of the three spellings, or a list of them, of which either all happen or none. */
  apply(operation: AnyOperation): Reply<M, Outcome>
  apply(operations: readonly AnyOperation[]): Reply<M, Outcome[]>
  apply(what: AnyOperation | readonly AnyOperation[]): Reply<M, Outcome | Outcome[]> {
    return this.ask(
      () => encode(what),
      Array.isArray(what) ? answer => (answer as { results: Outcome[] }).results : whole,
    )
  }

  protected operate(name: string, ...parts: (object | undefined)[]): Reply<M, Outcome> {
    return this.ask(() => encodeRequest('operation', name, ...parts), whole)
  }

  /** Puts messages in front of the one at `position`; at the length of the view, behind the last. */
  insert(
    position: number,
    messages: Message | MessageLike | readonly (Message | MessageLike)[],
    options?: OperationOptions,
  ): Reply<M, Outcome> {
    return this.operate(
      'INSERT',
      { position, messages: Array.isArray(messages) ? messages : [messages] },
      options,
    )
  }

  /** Puts a message in the place of the one at `index`, which stays in the log. */
  replace(
    index: number,
    message: Message | MessageLike,
    options?: OperationOptions,
  ): Reply<M, Outcome> {
    return this.operate('REPLACE', { index, message }, options)
  }

  /** Keeps the beginning, the end or a stretch of the view. */
  truncate(how: Truncate, options?: OperationOptions): Reply<M, Outcome> {
    return this.operate('TRUNCATE', how, options)
  }

  /** Keeps system messages by default. */
  clear(how?: { keepSystemMessage?: boolean }, options?: OperationOptions): Reply<M, Outcome> {
    return this.operate('CLEAR', how, options)
  }

  /** Keeps messages of some roles, or with or without some texts. */
  filter(how: Filter, options?: OperationOptions): Reply<M, Outcome> {
    return this.operate('FILTER', how, options)
  }

  /** Hides exactly these messages. */
  delete(which: Names & { pairs?: Pairs }, options?: OperationOptions): Reply<M, Outcome> {
    return this.operate('DELETE', which, options)
  }

  /** Hides messages that are named, or those that a strategy chooses; a summary may stand for them. `cannot_fit`: the target cannot be reached. */
  compress(
    how: (Names & { summary?: Message }) | CompressByStrategy,
    options?: OperationOptions,
  ): Reply<M, Outcome> {
    return this.operate('COMPRESS', how, options)
  }

  /** The message goes, and those it stands for return to their places: of a summary, and of what REPLACE, MERGE, SPLIT and TRANSFORM made. */
  expand(index: number, options?: OperationOptions): Reply<M, Outcome> {
    return this.operate('EXPAND', { index }, options)
  }

  /** Hidden messages return to their places, with the rest of their units. */
  show(ordinals: readonly number[], options?: OperationOptions): Reply<M, Outcome> {
    return this.operate('SHOW', { ordinals }, options)
  }

  /** The conversation follows a client that keeps its own list and sends all of it: what it kept stays, what it dropped leaves the view, the rest is new. */
  reconcile(sent: ClientRequest, options?: OperationOptions): Reply<M, Outcome> {
    return this.operate('RECONCILE', sent, options)
  }

  /** RECALL: appends a user message that quotes what `recall` finds, as data. It is marked `recalled`, and strategies hide it first. */
  appendRecalled(
    text: string,
    query?: MessageQuery & { budgetTokens?: number },
    options?: OperationOptions,
  ): Reply<M, Outcome> {
    return this.operate('RECALL', { text, ...query }, options)
  }

  /** MERGE_FORK: appends what a fork of this conversation achieved. `expand` brings the fork's messages in place of a summary. */
  mergeFork(from: string, how?: MergeForkOptions, options?: OperationOptions): Reply<M, Outcome> {
    return this.operate('MERGE_FORK', { from, ...how }, options)
  }

  /** Makes one message of several of one role. */
  merge(
    indices: readonly number[],
    separator?: string,
    options?: OperationOptions,
  ): Reply<M, Outcome> {
    return this.operate('MERGE', { indices, separator }, options)
  }

  /** Makes several messages of one, cut at these places of its text. */
  split(index: number, at: readonly number[], options?: OperationOptions): Reply<M, Outcome> {
    return this.operate('SPLIT', { index, at }, options)
  }

  /** By a change that is data; `transformBy` takes a function. */
  transform(
    how: (Names | { roles: readonly Role[] }) & TextChange,
    options?: OperationOptions,
  ): Reply<M, Outcome> {
    return this.operate('TRANSFORM', how, options)
  }

  /** Opens a batch: a point to return to. With `hidePrior`, what stands before `boundary` is hidden. */
  startBatch(
    how?: { boundary?: number; hidePrior?: boolean },
    options?: OperationOptions,
  ): Reply<M, Outcome> {
    return this.operate('START_BATCH', how, options)
  }

  /** Returns to a batch below, and takes messages of the roles in `carry` along. */
  endBatch(
    targetBatch: number,
    carry?: readonly Role[],
    options?: OperationOptions,
  ): Reply<M, Outcome> {
    return this.operate('END_BATCH', { targetBatch, carry }, options)
  }

  /** Returns to a batch as it last was. Nothing is lost: it can be undone. */
  rollback(targetBatchIndex: number, options?: OperationOptions): Reply<M, Outcome> {
    return this.operate('ROLLBACK', { targetBatchIndex }, options)
  }

  /** Labels messages; `pinned` protects one from compression. */
  mark(which: Names, mark: string, options?: OperationOptions): Reply<M, Outcome> {
    return this.operate('MARK', which, { mark }, options)
  }

  /** Takes a label away. */
  unmark(which: Names, mark: string, options?: OperationOptions): Reply<M, Outcome> {
    return this.operate('UNMARK', which, { mark }, options)
  }

  /** Takes back the last operation that is not undone. */
  undo(options?: OperationOptions): Reply<M, Outcome> {
    return this.operate('UNDO', options)
  }

  /** Applies again what was undone last. */
  redo(options?: OperationOptions): Reply<M, Outcome> {
    return this.operate('REDO', options)
  }

  /** Makes the state of an earlier version current again, as a new version. */
  restore(version: number, options?: OperationOptions): Reply<M, Outcome> {
    return this.operate('RESTORE', { version }, options)
  }
}
