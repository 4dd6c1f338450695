// Messages and operations: the JSON of docs/operations.md, as types.
import type { GivenMarkMap } from './answer_types.js'

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

/** A message as a type of your own has it. */
export interface MessageLike {
  role: Role | 'developer'
  content: string | readonly object[] | null
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
  /** Default: that of the conversation's settings, or of its model. */
  window?: number
  reserve?: number
  overhead?: number
  safety?: number
}

/** Who marks a request for a provider's prompt cache: the caller, or `render`. */
export type CacheMarkers = 'given' | 'auto'

export type Dialect = 'openai_chat' | 'openai_responses' | 'anthropic' | 'gemini'
/** A provider's format and rules; a profile is a name, or an object as docs/dialects.md has it. */
export interface Target {
  dialect?: Dialect
  profile?: string | Record<string, unknown>
}

/** Tools that a provider knows under another name: the name as sent, and the caller's. An answer of `render` has them. */
export type ToolNames = Record<string, string>

/** A strategy by its name, with the defaults, or with arguments; the steps of a pipeline are objects. */
export type StrategyChoice = string | StrategyObject
export type StrategyObject =
  | { name: 'none' | 'sliding_window' }
  | { name: 'default'; summariser?: string; fallbacks?: readonly string[] }
  | { name: 'keep_recent' | 'keep_system_and_recent'; n?: number }
  | { name: 'clear_tool_results'; keep?: number; exclude?: readonly string[]; minGain?: number; late?: boolean }
  | { name: 'smart_summary'; keep?: number; summaryTokens?: number; summariser?: string; fallbacks?: readonly string[] }
  | { name: 'pipeline'; steps: readonly StrategyObject[] }
  | ({ name: 'prefer_cache'; steps: readonly StrategyObject[]; overhead?: number; turns?: number; keepPercent?: number; cacheMarkers?: CacheMarkers } & Target)
  | { name: string; [argument: string]: unknown }

/** By a strategy; `targetTokens` or `budget` say how much room there is. */
export interface CompressByStrategy {
  strategy: StrategyChoice
  targetTokens?: number
  budget?: Budget
  /** Where the target is out of reach, what can be freed is: `targetReached` is then false. Default: `cannot_fit`, and nothing changes. */
  progress?: boolean
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
    | { operation: 'SHOW'; ordinals: readonly number[] }
    | { operation: 'MERGE'; indices: readonly number[]; separator?: string }
    | { operation: 'SPLIT'; index: number; at: readonly number[] }
    | ({ operation: 'TRANSFORM' } & (Names | { roles: readonly Role[] }) & TextChange)
    | { operation: 'START_BATCH'; boundary?: number; hidePrior?: boolean }
    | { operation: 'END_BATCH'; targetBatch: number; carry?: readonly Role[] }
    | { operation: 'ROLLBACK'; targetBatchIndex: number }
    | ({ operation: 'MARK' | 'UNMARK'; mark: string } & Names)
    | { operation: 'UNDO' | 'REDO' }
    | { operation: 'RESTORE'; version: number }
    | { operation: 'IMPORT_MARK_MAP'; markMap: GivenMarkMap }
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
