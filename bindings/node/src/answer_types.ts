// Queries, answers and events, as types.
import type { AnyOperation, CacheMarkers, Message, Role, Target, ToolNames } from './operation_types.js'

export interface Stats {
  /** In the log. */
  totalMessages: number
  /** In the view. */
  currentBatchMessages: number
  totalBatches: number
  currentBatchIndex: number
  /** Of the view. */
  tokens: number
}

export interface Warning {
  code: 'tool_call_without_result' | 'tool_result_without_call' | 'reasoning_without_call'
  ordinal: number
  /** Not of `reasoning_without_call`. */
  toolCallId?: string
}

export interface Receipt {
  version: number
  timestamp: number
  strategy?: string
  summariser?: string
  model?: string
  reason?: string
  tokensBefore: number
  tokensAfter: number
  /** What the view was to come down to, and whether it did. */
  targetTokens?: number
  targetReached?: boolean
  cost?: { promptTokens: number; completionTokens: number }
  ordinals: number[]
  summaries: { ordinal: number; standsFor: number[] }[]
}

/** What an operation came to. */
export interface Outcome {
  ok: true
  operation: string
  version: number
  affectedBatchIndex: number
  stats: Stats
  /** Tool pairs of which one half has left the view. */
  warnings?: Warning[]
  events?: Event[]
  /** Of a COMPRESS by a strategy. */
  outcome?: 'fits' | 'compressed'
  /** Where there was a target. */
  targetReached?: boolean
  receipt?: Receipt
}

/** What an append came to. */
export interface Appended {
  version: number
  stats: Stats
}

export type Event =
  | { type: 'MESSAGE_ADDED'; version: number; ordinal: number }
  | { type: 'BATCH_OPENED'; version: number; batchIndex: number }
  | { type: 'ROLLED_BACK'; version: number; batchIndex: number }
  | { type: 'CONTEXT_CHANGED'; version: number }
  /** Messages were redacted, versions given up, or all counted by another tokenizer. */
  | { type: 'REWRITTEN'; version: number }
  | { type: 'TOKEN_LIMIT_EXCEEDED'; tokensUsed: number; tokenLimit: number }
  | { type: 'COMPRESSION_THRESHOLD_EXCEEDED'; tokensUsed: number; threshold: number }
  | { type: 'COMPRESSED'; version: number; strategy: string; tokensBefore: number; tokensAfter: number; targetReached?: boolean }
  | { type: 'COMPRESSION_FAILED'; strategy: string; error: { code: string; message: string; field?: string } }
  | { type: 'COMPRESSION_DISCARDED'; strategy: string; error: { code: string; message: string; field?: string } }

export type EventType = Event['type']

/** All types of events. */
export const eventTypes: readonly EventType[] = [
  'MESSAGE_ADDED',
  'BATCH_OPENED',
  'ROLLED_BACK',
  'CONTEXT_CHANGED',
  'REWRITTEN',
  'TOKEN_LIMIT_EXCEEDED',
  'COMPRESSION_THRESHOLD_EXCEEDED',
  'COMPRESSED',
  'COMPRESSION_FAILED',
  'COMPRESSION_DISCARDED',
]

/** Which messages; the filters compose in the order in which they stand here. */
export interface MessageQuery {
  /** The log instead of the view. */
  all?: boolean
  atVersion?: number
  atBatch?: number
  role?: Role
  roles?: readonly Role[]
  /** from <= time < to, in milliseconds since 1970. */
  from?: number
  to?: number
  marked?: string
  contains?: string
  start?: number
  end?: number
  first?: number
  last?: number
}

export interface Found {
  messages: Message[]
  ordinals: number[]
}

export interface Count {
  count: number
  tokens: number
}

export interface BatchSnapshot {
  batchIndex: number
  timestamp: number
  messages: Message[]
  messageCount: number
  description?: string
}

export interface State {
  messages: Message[]
  batchSnapshots: BatchSnapshot[]
  currentBatchIndex: number
  totalMessageCount: number
}

export interface MarkMap {
  originalIndices: number[]
  typeIndices: Record<Role, number[]>
  batchBoundaries: number[]
  boundaryToBatch: number[]
  currentBatch: number
}

/** One that is imported: what each role has follows from the messages. */
export type GivenMarkMap = Omit<MarkMap, 'typeIndices'> & Partial<Pick<MarkMap, 'typeIndices'>>

export interface Batch {
  index: number
  boundary: number
  openedBy: string | null
  openedAt: number
  messageCount: number
  description?: string
}

export interface VersionEntry {
  version: number
  parent: number | null
  operation: string | null
  batchIndex: number
  timestamp: number
  description: string | null
  messageCount: number
  tokens: number
  /** Of UNDO, REDO and RESTORE. */
  restores?: number
  /** Of a COMPRESS by a strategy that had a target. */
  targetReached?: boolean
}

export interface Diff {
  removed: number[]
  added: number[]
  moved: number[]
}

export interface BlameEntry {
  version: number
  operation: string
  timestamp: number
  description?: string
}

export interface Blame {
  ordinal: number
  stored: BlameEntry
  hidden: BlameEntry[]
  shown: BlameEntry[]
  visible: boolean
}

export interface TokenCounts {
  total: number
  byRole: Record<Role, number>
  tokenizer: string
  costs: string
  /** Every part of the count is: the tokenizer, and what the provider charges for what is no text. */
  exact: boolean
  /** With `perMessage`. */
  messages?: { ordinal: number; tokens: number }[]
}

/** What is known of a model; what is unknown is absent. */
export interface Model {
  name: string
  known: boolean
  row?: string
  tokenizer: string
  costs: string
  profiles: string[]
  source?: string
  date?: string
  limits?: { window?: number; answer?: number; source?: string; date?: string }
  /** US dollars for a million tokens. */
  prices?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number; source?: string; date?: string }
}

/** What the tools of a request cost, which is in no message. */
export interface ToolsCount {
  tokens: number
  tools: number
  exact: boolean
}

export interface Fit {
  outcome: 'fits' | 'fits_after' | 'cannot_fit'
  tokens: number
  tokensMax: number
  minimum?: number
  plan?: {
    strategy: string
    reason?: string
    tokensBefore: number
    tokensAfter: number
    replacements: { ordinals: number[]; summary?: Message }[]
  }
}

export interface RenderQuery extends Target {
  atVersion?: number
  sentVersion?: number
  request?: Record<string, unknown>
  repair?: boolean
  boundThinking?: string
  /** auto: the request is marked for the provider's prompt cache. */
  cacheMarkers?: CacheMarkers
}

export interface Finding {
  code: string
  path?: string
  index?: number
  ordinal?: number
  about?: string
  error: string
  repair: string
}

export interface Loss {
  code: string
  severity: 'low' | 'medium' | 'high' | 'blocking'
  path?: string
  index?: number
  ordinal?: number
  note: string
}

/** Messages of a provider's request or response, and its other fields. */
export interface Imported {
  messages: Message[]
  rest: Record<string, unknown>
  /** Of importAfter: how many were there already. */
  known: number
}

/** What a streamed answer has come to. */
export interface Streamed {
  complete: boolean
  message?: Message
  finishReason?: string
  usage?: Record<string, unknown>
  error?: unknown
}

export interface Rendered {
  /** What carries the conversation in a request, and what had to change of the query's `request`, such as `tools`. Put it over the other settings. */
  request: Record<string, unknown>
  findings: Finding[]
  losses: Loss[]
  advice?: unknown
  /** Tools that are sent under another name than the caller's. Give them to importMessages, importAfter and StreamAssembler. */
  toolNames?: ToolNames
}

export interface Validated {
  valid: boolean
  findings: Finding[]
}

export interface CostQuery extends Target {
  /** The version that was sent last; with `operations`, the head unless given. */
  from?: number
  /** The version to send; the head unless given. */
  to?: number
  /** To be tried on the head, instead of `to`. */
  operations?: readonly AnyOperation[]
  overhead?: number
  cacheMarkers?: CacheMarkers
}

export interface EditCost {
  stable: number
  reusable: number
  invalidated: number
  rewritten: number
  oneTime: number
  savedPerTurn: number
  breakEvenTurns: number | null
  /** Signed thinking blocks that could be sent before, and cannot be any more. */
  brokenThinking: number
}
