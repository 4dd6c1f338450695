// Usage, settings and stores, as types.
import type { Pairs, StrategyChoice } from './operation_types.js'

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

export interface UsageStatistics {
  /** Of a request. */
  promptMean: number
  completionMean: number
  promptMax: number
  completionMax: number
  /** Of all prompt tokens, 0 to 1. */
  cachedShare: number
}

export interface Usage {
  totals: UsageTotals
  statistics: UsageStatistics
  models: { model: string; totals: UsageTotals; promptMax?: number; completionMax?: number; factor: number; factorHigh: number; learnedFrom: number }[]
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
  /** The model that the conversation is for, in any spelling. Tokenizer, costs, profile and window follow from it where they are not set. */
  model?: string
  /** `estimate`, `o200k_base`, `cl100k_base`, a model's name or a path. */
  tokenizer?: string
  /** Of what is no text: a name of docs/tokens.md. */
  costs?: string
  /** Of requests for a provider: a name of docs/dialects.md. */
  profile?: string
  /** Of budgets that name none. */
  window?: number
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
