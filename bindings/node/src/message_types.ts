// Messages, as types. They may hold more than is said here.
import type { MessageRole } from './protocol.js'

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
  role: MessageRole
  content: string | Part[] | null
  id?: string | null
  /** Milliseconds since 1970. */
  timestamp?: number
  toolCalls?: unknown[] | null
  toolCallId?: string | null
  metadata?: Record<string, unknown> | null
  [key: string]: unknown
}

/** A message of a custom type. */
export interface MessageLike {
  role: MessageRole
  content: string | readonly object[] | null
}
