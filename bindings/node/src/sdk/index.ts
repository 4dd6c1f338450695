// `undertext/sdk`: the names of the design documents, with their shapes, on the engine. docs/sdk.md says which operation or query each name is.

export { UndertextError, type ErrorCode } from '../error.js'
export type { Mode, Reply } from '../requests.js'
export type { AnyOperation, Operation, Outcome, Usage, Warning } from '../types.js'
export {
  ClearToolResultsStrategy,
  EngineStrategy,
  KeepRecentStrategy,
  KeepSystemAndRecentStrategy,
  NoOpCompressionStrategy,
  PipelineStrategy,
  SlidingWindowStrategy,
  SmartSummaryStrategy,
} from './compression.js'
export type {
  ClearToolResultsOptions,
  Compressed,
  CompressionStrategy,
  ContextCompressionConfig,
  ConversationCompressionConfig,
  SmartSummaryOptions,
  Summariser,
} from './compression.js'
export * from './context_processor.js'
export * from './conversation_manager.js'
export { ValidationError } from './errors.js'
export { EventType } from './events.js'
export type {
  BaseEvent,
  BatchOpenedEvent,
  CompressedEvent,
  CompressionDiscardedEvent,
  CompressionFailedEvent,
  CompressionThresholdExceededEvent,
  ContextChangedEvent,
  RewrittenEvent,
  ConversationEvent,
  EventManager,
  EventOf,
  MessageAddedEvent,
  RolledBackEvent,
  TokenLimitExceededEvent,
} from './events.js'
export * from './mark_map.js'
export type * from './message.js'
export type * from './message_array.js'
export * from './message_array_manager.js'
export * from './message_index_manager.js'
export type { ConversationState } from './snapshot.js'
export * from './token_usage.js'
export * from './type_index_manager.js'
