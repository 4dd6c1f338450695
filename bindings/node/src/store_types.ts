// Stores, as types.

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
  /** Missing where the whole conversation was purged. */
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

/** What a redaction found and did. */
export interface Redaction {
  /** How many messages. */
  redacted: number
  /** What was made from the messages that were named, here and in forks. */
  derived: { conversation: string; ordinal: number; kind: 'summary' | 'copy' }[]
  /** Whose descriptions or arguments quote them. */
  operations: { conversation: string; version: number }[]
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
