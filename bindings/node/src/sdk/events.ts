// The events of a conversation: the document's event of 004, and the engine's others, in the same shape.

import type { Event } from '../types.js'

export enum EventType {
  MESSAGE_ADDED = 'MESSAGE_ADDED',
  BATCH_OPENED = 'BATCH_OPENED',
  ROLLED_BACK = 'ROLLED_BACK',
  CONTEXT_CHANGED = 'CONTEXT_CHANGED',
  REWRITTEN = 'REWRITTEN',
  TOKEN_LIMIT_EXCEEDED = 'TOKEN_LIMIT_EXCEEDED',
  COMPRESSION_THRESHOLD_EXCEEDED = 'COMPRESSION_THRESHOLD_EXCEEDED',
  COMPRESSED = 'COMPRESSED',
  COMPRESSION_FAILED = 'COMPRESSION_FAILED',
  COMPRESSION_DISCARDED = 'COMPRESSION_DISCARDED',
}

export interface BaseEvent {
  type: EventType
  /** When it was heard of, in milliseconds since 1970. */
  timestamp: number
}

export interface MessageAddedEvent extends BaseEvent {
  type: EventType.MESSAGE_ADDED
  version: number
  ordinal: number
}

export interface BatchOpenedEvent extends BaseEvent {
  type: EventType.BATCH_OPENED
  version: number
  batchIndex: number
}

export interface RolledBackEvent extends BaseEvent {
  type: EventType.ROLLED_BACK
  version: number
  batchIndex: number
}

/** After every operation. */
export interface ContextChangedEvent extends BaseEvent {
  type: EventType.CONTEXT_CHANGED
  version: number
}

/** Messages were redacted, versions were pruned, or all was recounted by another tokenizer, here or in another process. */
export interface RewrittenEvent extends BaseEvent {
  type: EventType.REWRITTEN
  version: number
}

/** Once per crossing. */
export interface TokenLimitExceededEvent extends BaseEvent {
  type: EventType.TOKEN_LIMIT_EXCEEDED
  tokensUsed: number
  tokenLimit: number
}

/** Once per crossing. */
export interface CompressionThresholdExceededEvent extends BaseEvent {
  type: EventType.COMPRESSION_THRESHOLD_EXCEEDED
  tokensUsed: number
  threshold: number
}

export interface CompressedEvent extends BaseEvent {
  type: EventType.COMPRESSED
  version: number
  strategy: string
  tokensBefore: number
  tokensAfter: number
  /** False: no more could be freed. */
  targetReached?: boolean
}

/** Nothing has changed. */
export interface CompressionFailedEvent extends BaseEvent {
  type: EventType.COMPRESSION_FAILED
  strategy: string
  error: { code: string; message: string }
}

/** What a summary stood for was changed while it was written; nothing has changed. */
export interface CompressionDiscardedEvent extends BaseEvent {
  type: EventType.COMPRESSION_DISCARDED
  strategy: string
  error: { code: string; message: string }
}

export type ConversationEvent =
  | MessageAddedEvent
  | BatchOpenedEvent
  | RolledBackEvent
  | ContextChangedEvent
  | RewrittenEvent
  | TokenLimitExceededEvent
  | CompressionThresholdExceededEvent
  | CompressedEvent
  | CompressionFailedEvent
  | CompressionDiscardedEvent

export type EventOf<T extends EventType> = Extract<ConversationEvent, { type: T }>

/** A bus of the host: it gets every event. */
export interface EventManager {
  /** Hands an event to all who listen to its type. */
  emit(event: ConversationEvent): unknown
}

/** An event of the engine in the documents' shape: a copy for each who hears of it. */
export function stamped(event: Event): ConversationEvent {
  return { ...structuredClone(event), timestamp: Date.now() } as ConversationEvent
}
