// The types of documents 001, 003 and 004, quoted: the package’s must fit them both ways.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as sdk from 'undertext/sdk';

namespace document {
  type LLMToolCall = sdk.LLMToolCall;
  type BaseEvent = sdk.BaseEvent;
  import EventType = sdk.EventType;
  export type LLMMessageRole = 'system' | 'user' | 'assistant' | 'tool';
/**
 * LLM消息类型
 * 保持简洁，不添加压缩标记
 */
export interface LLMMessage {
  /** 角色（system、user、assistant、tool） */
  role: LLMMessageRole;
  /** 消息内容（字符串或对象数组） */
  content: string | any[];
  /** 工具调用数组（assistant角色） */
  toolCalls?: LLMToolCall[];
  /** 工具调用ID（tool角色） */
  toolCallId?: string;
}
  export namespace of001 {
export interface MessageMarkMap {
  /** 消息原始索引列表（全局） */
  originalIndices: number[];
  
  /** 按类型分组的索引列表 */
  typeIndices: {
    system: number[];
    user: number[];
    assistant: number[];
    tool: number[];
  };
  
  /** 修改边界索引数组 */
  batchBoundaries: number[];
  
  /** 边界对应批次数组 */
  boundaryToBatch: number[];
  
  /** 当前批次 */
  currentBatch: number;
}
export interface ContextProcessorNodeConfig {
  /** 操作类型 */
  operation: 'truncate' | 'insert' | 'replace' | 'clear' | 'filter';
  
  /** 截断操作配置 */
  truncate?: {
    keepFirst?: number;
    keepLast?: number;
    removeFirst?: number;
    removeLast?: number;
    range?: { start: number; end: number };
    // 新增：按类型过滤
    role?: LLMMessageRole;
  };
  
  /** 插入操作配置 */
  insert?: {
    position: number;
    messages: LLMMessage[];
  };
  
  /** 替换操作配置 */
  replace?: {
    index: number;
    message: LLMMessage;
  };
  
  /** 过滤操作配置 */
  filter?: {
    roles?: ('system' | 'user' | 'assistant' | 'tool')[];
    contentContains?: string[];
    contentExcludes?: string[];
  };
  
  /** 清空操作配置 */
  clear?: {
    keepSystemMessage?: boolean;
  };
}
  }
/**
 * 消息标记映射
 * 维护消息索引的映射关系，支持多次压缩和回退
 */
export interface MessageMarkMap {
  /** 消息原始索引列表 */
  originalIndices: number[];
  /** 修改边界索引数组（记录被压缩/修改的消息的原始索引。第0个索引默认填上） */
  batchBoundaries: number[];
  /** 边界对应批次数组（记录每个边界是哪个batch的开始，允许重新使用旧的batch） */
  boundaryToBatch: number[];
  /** 当前批次 */
  currentBatch: number;
}
/**
 * 上下文压缩配置
 */
export interface ContextCompressionConfig {
  /** 是否启用压缩 */
  enabled: boolean;
  /** 压缩阈值（token 数量） */
  threshold: number;
  /** 压缩后的目标 token 数量 */
  targetTokens: number;
}
/**
 * 上下文压缩策略接口
 */
export interface CompressionStrategy {
  /**
   * 压缩消息
   * @param messages 消息数组
   * @param markMap 标记映射
   * @param config 压缩配置
   * @returns 压缩后的消息数组和新的标记映射
   */
  compress(
    messages: LLMMessage[],
    markMap: MessageMarkMap,
    config: ContextCompressionConfig
  ): Promise<{
    messages: LLMMessage[];
    markMap: MessageMarkMap;
  }>;
}
/**
 * 空压缩策略实现
 */
export class NoOpCompressionStrategy implements CompressionStrategy {
  async compress(
    messages: LLMMessage[],
    markMap: MessageMarkMap,
    config: ContextCompressionConfig
  ): Promise<{
    messages: LLMMessage[];
    markMap: MessageMarkMap;
  }> {
    // 空实现，不进行任何压缩
    return { messages, markMap };
  }
}
/**
 * 上下文修改操作类型
 */
export type ContextModificationOperation = 
  | 'insert'      // 插入消息
  | 'delete'      // 删除消息
  | 'replace'     // 替换消息
  | 'compress'    // 压缩消息
  | 'batch_start' // 开始新批次
  | 'batch_end';  // 结束批次
/**
 * 上下文修改配置
 */
export interface ContextModificationConfig {
  /** 操作类型 */
  operation: ContextModificationOperation;
  /** 消息索引数组 */
  indices: number[];
  /** 操作数据（用于 insert 和 replace） */
  data?: LLMMessage | LLMMessage[];
  /** 批次号（用于 batch_start 和 batch_end） */
  batch?: number;
}
/**
 * Token 超过限制事件类型
 */
export interface TokenLimitExceededEvent extends BaseEvent {
  type: EventType.TOKEN_LIMIT_EXCEEDED;
  /** 当前使用的 Token 数量 */
  tokensUsed: number;
  /** Token 限制阈值 */
  tokenLimit: number;
}
}

/** Compiles only where each can stand for the other. */
function interchangeable<A extends B, B extends C, C = A>(): void {}

test('the types are the documents’', () => {
  interchangeable<sdk.MessageMarkMap, document.MessageMarkMap>();
  interchangeable<Required<sdk.MessageMarkMap>, document.of001.MessageMarkMap>();
  interchangeable<sdk.ContextCompressionConfig, document.ContextCompressionConfig>();
  interchangeable<sdk.CompressionStrategy, document.CompressionStrategy>();
  interchangeable<sdk.ContextModificationOperation, document.ContextModificationOperation>();
  interchangeable<sdk.ContextModificationConfig, document.ContextModificationConfig>();
  interchangeable<sdk.ContextProcessorNodeConfig, document.of001.ContextProcessorNodeConfig>();
  interchangeable<sdk.TokenLimitExceededEvent, document.TokenLimitExceededEvent>();
  interchangeable<sdk.LLMMessage, document.LLMMessage>();
});

test('a strategy written as the document does runs in the engine', async () => {
  const manager = new sdk.ConversationManager({
    compressionConfig: { enabled: true, threshold: 20, targetTokens: 10, strategy: new document.NoOpCompressionStrategy() },
  });
  for (let i = 0; i < 10; ++i) manager.addMessage({ role: 'user', content: `message ${i}` });
  await manager.waitForCompression();
  assert.equal(manager.getMessages().length, 10, 'it proposed nothing');
});
