// The nodes of documents 001 to 003 that edit a context: the configuration of 001 and 002, the modifications of 003 and 004. The engine takes both spellings as
// they are; here they are only handed over.

import { UndertextError } from '../error.js'
import type { Mode, Reply } from '../requests.js'
import type { NodeOperation } from '../types.js'
import type { AnyConversationManager } from './conversation_manager.js'
import { copyOf } from './engine.js'
import { ValidationError } from './errors.js'
import type { LLMMessage, LLMMessageRole } from './message.js'
import type { MessageArrayTokenStats } from './message_array.js'
import { MessageArrayManagerImpl } from './message_array_manager.js'
import { nodeOperations } from './node_blocks.js'

export interface ContextProcessorNodeConfig {
  operation: 'truncate' | 'insert' | 'replace' | 'clear' | 'filter'
  truncate?: {
    keepFirst?: number
    keepLast?: number
    removeFirst?: number
    removeLast?: number
    range?: { start: number; end: number }
    role?: LLMMessageRole
  }
  insert?: {
    /** -1: at the end, as APPEND. */
    position: number
    messages: LLMMessage[]
  }
  replace?: {
    index: number
    message: LLMMessage
  }
  filter?: {
    roles?: LLMMessageRole[]
    contentContains?: string[]
    contentExcludes?: string[]
  }
  clear?: {
    keepSystemMessage?: boolean
  }
}

export interface ContextProcessorNodeResult {
  /** The canonical name: `TRUNCATE`; `APPEND` for an insert at -1. */
  operation: string
  /** Of the view, afterwards. */
  messageCount: number
  /** In milliseconds. */
  executionTime: number
  stats: MessageArrayTokenStats
}

export type ContextModificationOperation =
  | 'insert'
  | 'delete'
  | 'replace'
  | 'compress'
  | 'batch_start'
  | 'batch_end'

export interface ContextModificationConfig {
  operation: ContextModificationOperation
  /** Ordinals; the boundary of `batch_start`, the batch of `batch_end`. */
  indices: number[]
  data?: LLMMessage | LLMMessage[]
  batch?: number
}

/** The blocks without which a configuration is none; `clear` alone is fine. */
const blocks: Record<ContextProcessorNodeConfig['operation'], boolean> = {
  truncate: true,
  insert: true,
  replace: true,
  filter: true,
  clear: false,
}

function checkKind(config: unknown): asserts config is ContextProcessorNodeConfig {
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw new ValidationError('a configuration is an object', 'config')
  const { operation } = config as { operation?: unknown }
  if (typeof operation !== 'string' || !Object.hasOwn(blocks, operation)) {
    throw new ValidationError(`operation is one of ${Object.keys(blocks).join(', ')}`, 'operation')
  }
  if (
    blocks[operation as ContextProcessorNodeConfig['operation']] &&
    !Object.hasOwn(config, operation)
  ) {
    throw new ValidationError(`${operation} needs its block`, operation)
  }
}

/** Has the engine read it, and then carry it out on one message: places, which depend on the conversation, become that message's. */
function checkByTrial(config: ContextProcessorNodeConfig): void {
  const trial = new MessageArrayManagerImpl([{ role: 'user', content: 'x' }])
  try {
    // A version that never comes: what was read is a conflict.
    trial.execute({ ...config, expectedVersion: Number.MAX_SAFE_INTEGER } as NodeOperation)
  } catch (thrown) {
    if (!(thrown instanceof UndertextError) || thrown.code !== 'conflict') throw thrown
  }
  const { insert, replace } = config
  trial.execute({
    ...config,
    insert: insert && { ...insert, position: Math.min(insert.position, 0) },
    replace: replace && { ...replace, index: 0 },
  } as NodeOperation)
}

/** Whether the engine would take it; whether it can be carried out depends on the conversation. */
export function validateContextProcessorNodeConfig(
  config: unknown,
): config is ContextProcessorNodeConfig {
  try {
    transformContextProcessorNodeConfig(config)
    return true
  } catch {
    return false
  }
}

/** A copy, once it has passed the checks; else a ValidationError that names the field. */
export function transformContextProcessorNodeConfig(config: unknown): ContextProcessorNodeConfig {
  const copy: unknown = copyOf(config)
  checkKind(copy)
  for (const operation of nodeOperations(copy))
    checkByTrial(operation as ContextProcessorNodeConfig)
  return copy
}

/** Carries out the configurations of nodes and the modifications of the design documents. */
export class ContextProcessorNodeHandler {
  /** Carries out a node of documents 001 and 002; several blocks in one step, see `ConversationManager.execute`. */
  async execute<M extends Mode>(
    conversationManager: AnyConversationManager<M>,
    config: ContextProcessorNodeConfig,
  ): Promise<ContextProcessorNodeResult> {
    const started = performance.now()
    checkKind(config)
    const { operation, stats } = await conversationManager.execute(config)
    return {
      operation,
      messageCount: stats.currentBatchMessages,
      executionTime: performance.now() - started,
      stats,
    }
  }

  /** Carries out a modification of documents 003 and 004. `indices` are ordinals. */
  async handleContextOperation<M extends Mode>(
    conversationManager: AnyConversationManager<M>,
    operation: ContextModificationOperation,
    indices: number[],
    data?: LLMMessage | LLMMessage[],
  ): Promise<void> {
    await conversationManager.execute({ operation, indices, data })
  }

  /** All of them or none. */
  async handleBatchOperations<M extends Mode>(
    conversationManager: AnyConversationManager<M>,
    operations: ContextModificationConfig[],
  ): Promise<void> {
    await conversationManager.executeAll(operations)
  }

  /** ROLLBACK. */
  rollbackContextOperation<M extends Mode>(
    conversationManager: AnyConversationManager<M>,
    batch: number,
  ): Reply<M, void> {
    return conversationManager.rollbackToBatch(batch)
  }

  /** Tries it on a fork: ValidationError where it would be refused now. */
  async validateOperation<M extends Mode>(
    conversationManager: AnyConversationManager<M>,
    operation: ContextModificationOperation,
    indices: number[],
    data?: LLMMessage | LLMMessage[],
  ): Promise<void> {
    const fork = await conversationManager.clone()
    try {
      await fork.execute({ operation, indices, data })
    } finally {
      await fork.close()
    }
  }
}
