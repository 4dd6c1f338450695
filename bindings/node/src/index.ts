// The message array of an LLM agent as a lossless, versioned sequence. docs/node.md is the manual.
export type {
  Aim,
  Change,
  Plan,
  PlanFunction,
  Settings,
  Strategy,
  Summariser,
  SummariseFunction,
  Summary,
} from './code.js'
export { Conversation, inMemory } from './conversation.js'
export { UndertextError, type ErrorCode, type ErrorDetails } from './error.js'
export type { Listener, Off } from './events.js'
export { MemoryConversation } from './memory.js'
export {
  addModels,
  countTokens,
  countTools,
  findModel,
  importMessages,
  libraryVersion,
  readBlocks,
  StreamAssembler,
  validateRequest,
} from './providers.js'
export type { Mode, Queries, Reply, Requests } from './requests.js'
export { open, openStore, restoreStore, Store } from './store.js'
export type * from './types.js'
export { View } from './view.js'
