// The state, the statistics and the seven operations of document 000, in its words.

import type { Message, MessageRole } from './message.js'

export interface BatchSnapshot {
  batchIndex: number
  /** When the batch was left, in milliseconds since 1970. */
  timestamp: number
  /** The view as it last was in that batch, whichever operation left it: of CLEAR too. */
  messages: Message[]
  messageCount: number
  description?: string
}

export type BatchSnapshotArray = BatchSnapshot[]

export interface MessageArrayState {
  /** The view. */
  messages: Message[]
  /** One for every batch below the current one. */
  batchSnapshots: BatchSnapshot[]
  currentBatchIndex: number
  /** Of the view. */
  totalMessageCount: number
}

export interface MessageArrayStats {
  /** Of the log: all messages ever stored. */
  totalMessages: number
  /** Of the view. */
  currentBatchMessages: number
  totalBatches: number
  currentBatchIndex: number
}

/** What the engine answers: the four numbers of the document, and the tokens of the view. */
export interface MessageArrayTokenStats extends MessageArrayStats {
  tokens: number
}

export type MessageOperationType =
  | 'APPEND'
  | 'INSERT'
  | 'REPLACE'
  | 'TRUNCATE'
  | 'CLEAR'
  | 'FILTER'
  | 'ROLLBACK'

export interface MessageOperationConfig {
  operation: MessageOperationType
}

export interface AppendMessageOperation extends MessageOperationConfig {
  operation: 'APPEND'
  messages: Message[]
}

export interface InsertMessageOperation extends MessageOperationConfig {
  operation: 'INSERT'
  /** 0 to the length of the view; -1 is refused. */
  position: number
  messages: Message[]
}

export interface ReplaceMessageOperation extends MessageOperationConfig {
  operation: 'REPLACE'
  /** A place in the view. */
  index: number
  message: Message
}

/** What is given is applied in the order in which it stands here, after `role`. */
export interface TruncateMessageOperation extends MessageOperationConfig {
  operation: 'TRUNCATE'
  keepFirst?: number
  keepLast?: number
  removeFirst?: number
  removeLast?: number
  /** Half open: [start, end). */
  range?: { start: number; end: number }
  /** First drops all other roles. */
  role?: MessageRole
}

export interface ClearMessageOperation extends MessageOperationConfig {
  operation: 'CLEAR'
  /** Default: true. */
  keepSystemMessage?: boolean
}

export interface FilterMessageOperation extends MessageOperationConfig {
  operation: 'FILTER'
  roles?: MessageRole[]
  contentContains?: string[]
  contentExcludes?: string[]
}

export interface RollbackMessageOperation extends MessageOperationConfig {
  operation: 'ROLLBACK'
  targetBatchIndex: number
}

export type MessageOperation =
  | AppendMessageOperation
  | InsertMessageOperation
  | ReplaceMessageOperation
  | TruncateMessageOperation
  | ClearMessageOperation
  | FilterMessageOperation
  | RollbackMessageOperation

export interface MessageOperationResult {
  state: MessageArrayState
  affectedBatchIndex: number
  stats: MessageArrayStats
}
