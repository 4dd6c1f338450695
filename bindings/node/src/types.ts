// Messages, operations, queries, answers, events and settings: the JSON of docs/operations.md, as types.

export type Role = 'system' | 'user' | 'assistant' | 'tool'

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** A part of a message's content. Those of a type that is not known here are kept as they are. */
export interface Part {
  type: string
  text?: string
  [key: string]: unknown
}

/** A message; it comes back as it was given, further fields included. */
export interface Message {
  /** `developer` is kept, and counts as `system`. */
  role: Role | 'developer'
  content: string | Part[] | null
  id?: string | null
  /** Milliseconds since 1970. */
  timestamp?: number
  toolCalls?: unknown[] | null
  toolCallId?: string | null
  metadata?: Record<string, unknown> | null
  [key: string]: unknown
}

/** What to do with the other half of a tool pair: nothing, hide it too, or keep both. */
export type Pairs = 'literal' | 'shrink' | 'grow'

/** What every operation may carry. */
export interface OperationOptions {
  /** `conflict` where the head is another. */
  expectedVersion?: number
  description?: string
  /** A repeated one answers as the first time, and changes nothing. */
  operationId?: string
}

/** Messages by their places in the view, or in the log. */
export type Names = { indices: readonly number[]; ordinals?: undefined } | { ordinals: readonly number[]; indices?: undefined }

export interface Truncate {
  keepFirst?: number
  keepLast?: number
  removeFirst?: number
  removeLast?: number
  range?: { start: number; end: number }
  role?: Role
  pairs?: Pairs
}

export interface Filter {
  roles?: readonly Role[]
  contentContains?: readonly string[]
  contentExcludes?: readonly string[]
  pairs?: Pairs
}

export interface Budget {
  window: number
  reserve?: number
  overhead?: number
  safety?: number
}

/** A strategy by its name, with the defaults, or with arguments; the steps of a pipeline are objects. */
export type StrategyChoice = string | StrategyObject
export type StrategyObject =
  | { name: 'none' | 'sliding_window' }
  | { name: 'keep_recent' | 'keep_system_and_recent'; n?: number }
  | { name: 'clear_tool_results'; keep?: number; exclude?: readonly string[]; minGain?: number; late?: boolean }
  | { name: 'smart_summary'; keep?: number; summaryTokens?: number; summariser?: string }
  | { name: 'pipeline'; steps: readonly StrategyObject[] }
  | ({ name: 'prefer_cache'; steps: readonly StrategyObject[]; overhead?: number; turns?: number } & Target)
  | { name: string; [argument: string]: unknown }

/** By a strategy; `targetTokens` or `budget` say how much room there is. */
export interface CompressByStrategy {
  strategy: StrategyChoice
  targetTokens?: number
  budget?: Budget
}

export type TextChange =
  | { replaceText: { find: string; with: string } }
  | { truncateText: { maxChars: number; keep?: 'head' | 'tail' | 'both'; marker?: string } }
  | { setMetadata: Record<string, unknown> }

/** An operation in its canonical spelling. The other two spellings of docs/operations.md are taken as well; see AnyOperation. */
export type Operation = OperationOptions &
  (
    | { operation: 'APPEND'; messages: readonly Message[] }
    | { operation: 'INSERT'; position: number; messages: readonly Message[] }
    | { operation: 'REPLACE'; index: number; message: Message }
    | ({ operation: 'TRUNCATE' } & Truncate)
    | { operation: 'CLEAR'; keepSystemMessage?: boolean }
    | ({ operation: 'FILTER' } & Filter)
    | ({ operation: 'DELETE'; pairs?: Pairs } & Names)
    | ({ operation: 'COMPRESS'; summary?: Message } & Names)
    | ({ operation: 'COMPRESS' } & CompressByStrategy)
    | { operation: 'EXPAND'; index: number }
    | { operation: 'MERGE'; indices: readonly number[]; separator?: string }
    | { operation: 'SPLIT'; index: number; at: readonly number[] }
    | ({ operation: 'TRANSFORM' } & (Names | { roles: readonly Role[] }) & TextChange)
    | { operation: 'START_BATCH'; boundary?: number; hidePrior?: boolean }
    | { operation: 'END_BATCH'; targetBatch: number; carry?: readonly Role[] }
    | { operation: 'ROLLBACK'; targetBatchIndex: number }
    | ({ operation: 'MARK' | 'UNMARK'; mark: string } & Names)
    | { operation: 'UNDO' | 'REDO' }
    | { operation: 'RESTORE'; version: number }
  )

/** The configuration of a node (documents 001 and 002). */
export type NodeOperation = OperationOptions &
  (
    | { operation: 'truncate'; truncate: Truncate; pairs?: Pairs }
    | { operation: 'insert'; insert: { position: number; messages: readonly Message[] } }
    | { operation: 'replace'; replace: { index: number; message: Message } }
    | { operation: 'clear'; clear?: { keepSystemMessage?: boolean } }
    | { operation: 'filter'; filter: Filter; pairs?: Pairs }
  )

/** A modification (documents 003 and 004); its indices are ordinals. */
export type Modification = OperationOptions &
  (
    | { operation: 'insert'; indices?: readonly number[]; data: Message | readonly Message[] }
    | { operation: 'delete'; indices: readonly number[]; pairs?: Pairs }
    | { operation: 'replace'; indices: readonly number[]; data: Message | readonly Message[] }
    | { operation: 'compress'; indices: readonly number[]; data?: Message }
    | { operation: 'batch_start' | 'batch_end'; indices?: readonly number[]; batch?: number }
  )

export type AnyOperation = Operation | NodeOperation | Modification

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
  code: 'tool_call_without_result' | 'tool_result_without_call'
  ordinal: number
  toolCallId: string
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
  receipt?: Receipt
}

/** What an append came to. */
export interface Appended {
  version: number
  stats: Stats
}

export type Event =
  | { type: 'MESSAGE_ADDED'; version: number; ordinal: number }
  | { type: 'BATCH_OPENED' | 'ROLLED_BACK'; version: number; batchIndex: number }
  | { type: 'CONTEXT_CHANGED'; version: number }
  | { type: 'TOKEN_LIMIT_EXCEEDED'; tokensUsed: number; tokenLimit: number }
  | { type: 'COMPRESSION_THRESHOLD_EXCEEDED'; tokensUsed: number; threshold: number }
  | { type: 'COMPRESSED'; version: number; strategy: string; tokensBefore: number; tokensAfter: number }
  | { type: 'COMPRESSION_FAILED' | 'COMPRESSION_DISCARDED'; strategy: string; error: { code: string; message: string; field?: string } }

export type EventType = Event['type']

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
  exact: boolean
  /** With `perMessage`. */
  messages?: { ordinal: number; tokens: number }[]
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

export type Dialect = 'openai_chat' | 'openai_responses' | 'anthropic' | 'gemini'
/** A provider's format and rules; a profile is a name, or an object as docs/dialects.md has it. */
export interface Target {
  dialect?: Dialect
  profile?: string | Record<string, unknown>
}

export interface RenderQuery extends Target {
  atVersion?: number
  sentVersion?: number
  request?: Record<string, unknown>
  repair?: boolean
  boundThinking?: string
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
  known?: number
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
  /** What carries the conversation in a request: put the model, tools and other settings beside it. */
  request: Record<string, unknown>
  findings: Finding[]
  losses: Loss[]
  advice?: unknown
}

export interface Validated {
  valid: boolean
  findings: Finding[]
}

export interface EditCost {
  stable: number
  reusable: number
  invalidated: number
  rewritten: number
  oneTime: number
  savedPerTurn: number
  breakEvenTurns: number | null
}

/** What a provider reported of a request. */
export interface UsageReport {
  requestId: string
  model?: string
  prompt: number
  completion?: number
  cached?: number
  total?: number
  cost?: number
  timestamp?: number
  estimatedPrompt?: number
  final?: boolean
}

export interface UsageTotals {
  requests: number
  prompt: number
  completion: number
  cached: number
  total: number
  cost: number
}

export interface RequestUsage extends Omit<UsageTotals, 'requests'> {
  requestId: string
  model: string
  estimatedPrompt: number
  timestamp: number
}

export interface Usage {
  totals: UsageTotals
  models: { model: string; totals: UsageTotals; factor: number; factorHigh: number; learnedFrom: number }[]
  open: RequestUsage[]
  recent: RequestUsage[]
}

export interface EndpointSettings {
  kind: 'openai' | 'anthropic'
  baseUrl: string
  model: string
  keyEnv?: string
  keyFile?: string
  prompt?: string
  timeoutMs?: number
  attempts?: number
  backoffMs?: number
  stream?: boolean
}

export interface CompressionConfig {
  enabled?: boolean
  threshold?: number
  targetTokens?: number
  strategy?: StrategyChoice
}

/** What a conversation may be told that is data; Settings adds code. */
export interface DataSettings {
  /** `estimate`, `o200k_base`, `cl100k_base`, a model's name or a path. */
  tokenizer?: string
  tokenLimit?: number
  compressionConfig?: CompressionConfig
  pairs?: Pairs
  limits?: { messageBytes?: number; lineBytes?: number }
}

export interface ConversationRecord {
  conversation: string
  version: number
  totalMessages: number
  createdAt: number
  updatedAt: number
  firstVersion?: number
  forkOf?: { conversation: string; version: number }
}

export interface CheckReport {
  conversations: number
  versions: number
  messages: number
  damage: { conversation: string; what: string; [key: string]: unknown }[]
}

export interface Removal {
  conversation: string
  /** Missing where the whole conversation was taken out. */
  ordinal?: number
  who: string
  at: number
  why: string
  digest?: string
}

/** How much of the past stays readable. */
export interface Retention {
  versions?: number
  batches?: number
  days?: number
}

export interface Reclaimed {
  firstVersion: number
  versions: number
  messages: number
}

export interface StoreOptions {
  create?: boolean
  readOnly?: boolean
  durability?: 'full' | 'normal'
  tenant?: string
  patienceMs?: number
}

export interface OpenOptions {
  make?: 'if_missing' | 'never' | 'always'
  cacheBytes?: number
  rebaseAppends?: boolean
  checkpointVersions?: number
}
