// Document 000 has no section of examples; what stands in for one are its types, its interface and its functions for single operations, all quoted here. The types
// must fit the package's both ways, and what the document's functions answer is compared with the engine, where the contract agrees with them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as sdk from 'undertext/sdk';

namespace document {
/**
 * 消息角色
 */
export type MessageRole = 'system' | 'user' | 'assistant' | 'tool';

/**
 * 消息内容类型
 */
export type MessageContent = string | Array<{
  type: 'text' | 'image' | 'tool_use' | 'tool_result';
  text?: string;
  image_url?: { url: string };
  tool_use?: {
    id: string;
    name: string;
    input: Record<string, any>;
  };
  tool_result?: {
    tool_use_id: string;
    content: string | Array<{ type: string; text: string }>;
  };
}>;

/**
 * 消息基础接口
 */
export interface Message {
  /** 消息角色 */
  role: MessageRole;
  /** 消息内容 */
  content: MessageContent;
  /** 消息ID（可选） */
  id?: string;
  /** 消息时间戳（可选） */
  timestamp?: number;
  /** 其他元数据 */
  metadata?: Record<string, any>;
}
/**
 * 消息数组状态
 */
export interface MessageArrayState {
  /** 完整的消息数组（包含所有批次） */
  messages: Message[];
  /** 批次快照数组 */
  batchSnapshots: BatchSnapshot[];
  /** 当前批次索引 */
  currentBatchIndex: number;
  /** 消息总数 */
  totalMessageCount: number;
}

/**
 * 消息数组统计信息
 */
export interface MessageArrayStats {
  /** 总消息数 */
  totalMessages: number;
  /** 当前批次消息数 */
  currentBatchMessages: number;
  /** 批次总数 */
  totalBatches: number;
  /** 当前批次索引 */
  currentBatchIndex: number;
}
/**
 * 消息操作类型
 */
export type MessageOperationType = 
  | 'APPEND'      // 尾插消息（不创建新批次）
  | 'INSERT'      // 中间插入消息（创建新批次）
  | 'REPLACE'     // 替换消息（创建新批次）
  | 'TRUNCATE'    // 截断消息（创建新批次）
  | 'CLEAR'       // 清空消息（创建新批次，快照为空）
  | 'FILTER'      // 过滤消息（创建新批次）
  | 'ROLLBACK';   // 回退到指定批次

/**
 * 消息操作配置基础接口
 */
export interface MessageOperationConfig {
  /** 操作类型 */
  operation: MessageOperationType;
}

/**
 * APPEND 操作配置
 */
export interface AppendMessageOperation extends MessageOperationConfig {
  operation: 'APPEND';
  /** 要追加的消息数组 */
  messages: Message[];
}

/**
 * INSERT 操作配置
 */
export interface InsertMessageOperation extends MessageOperationConfig {
  operation: 'INSERT';
  /** 插入位置（相对于当前批次，0 <= position <= currentBatchMessages.length） */
  position: number;
  /** 要插入的消息数组 */
  messages: Message[];
}

/**
 * REPLACE 操作配置
 */
export interface ReplaceMessageOperation extends MessageOperationConfig {
  operation: 'REPLACE';
  /** 要替换的消息索引（相对于当前批次） */
  index: number;
  /** 新的消息内容 */
  message: Message;
}

/**
 * TRUNCATE 操作配置
 */
export interface TruncateMessageOperation extends MessageOperationConfig {
  operation: 'TRUNCATE';
  /** 保留前N条消息 */
  keepFirst?: number;
  /** 保留后N条消息 */
  keepLast?: number;
  /** 删除前N条消息 */
  removeFirst?: number;
  /** 删除后N条消息 */
  removeLast?: number;
  /** 保留消息的索引范围 [start, end) */
  range?: { start: number; end: number };
  /** 按角色过滤后再截断 */
  role?: Message['role'];
}

/**
 * CLEAR 操作配置
 */
export interface ClearMessageOperation extends MessageOperationConfig {
  operation: 'CLEAR';
  /** 是否保留系统消息 */
  keepSystemMessage?: boolean;
}

/**
 * FILTER 操作配置
 */
export interface FilterMessageOperation extends MessageOperationConfig {
  operation: 'FILTER';
  /** 按角色过滤 */
  roles?: Message['role'][];
  /** 按内容关键词过滤（包含指定关键词的消息） */
  contentContains?: string[];
  /** 按内容关键词排除（不包含指定关键词的消息） */
  contentExcludes?: string[];
}

/**
 * ROLLBACK 操作配置
 */
export interface RollbackMessageOperation extends MessageOperationConfig {
  operation: 'ROLLBACK';
  /** 目标批次索引 */
  targetBatchIndex: number;
}

/**
 * 消息操作结果
 */
export interface MessageOperationResult {
  /** 操作后的消息数组状态 */
  state: MessageArrayState;
  /** 操作影响的批次索引 */
  affectedBatchIndex: number;
  /** 操作统计信息 */
  stats: MessageArrayStats;
}
/**
 * 批次快照
 * 存储批次创建时的完整消息数组状态
 */
export interface BatchSnapshot {
  /** 批次索引 */
  batchIndex: number;
  /** 批次创建时间戳 */
  timestamp: number;
  /** 批次消息数组的深拷贝（如果为空数组表示无额外拷贝开销） */
  messages: Message[];
  /** 批次消息数量 */
  messageCount: number;
  /** 批次描述 */
  description?: string;
}

/**
 * 批次快照数组
 */
export type BatchSnapshotArray = BatchSnapshot[];
/**
 * 消息数组管理器接口
 */
export interface MessageArrayManager {
  /**
   * 执行消息操作
   * @param operation 操作配置
   * @returns 操作结果
   */
  execute(operation: MessageOperationConfig): MessageOperationResult;
  
  /**
   * 获取当前消息数组状态
   * @returns 消息数组状态
   */
  getState(): MessageArrayState;
  
  /**
   * 获取当前批次的消息
   * @returns 当前批次的消息数组
   */
  getCurrentMessages(): Message[];
  
  /**
   * 获取统计信息
   * @returns 统计信息
   */
  getStats(): MessageArrayStats;
  
  /**
   * 回退到指定批次
   * @param batchIndex 批次索引
   * @returns 操作结果
   */
  rollback(batchIndex: number): MessageOperationResult;
  
  /**
   * 获取批次快照
   * @param batchIndex 批次索引
   * @returns 批次快照
   */
  getBatchSnapshot(batchIndex: number): BatchSnapshot | null;
}

  function calculateStats(state: MessageArrayState): MessageArrayStats {
    return {
      totalMessages: state.totalMessageCount,
      currentBatchMessages: state.totalMessageCount,
      totalBatches: state.batchSnapshots.length + 1,
      currentBatchIndex: state.currentBatchIndex,
    };
  }
// 操作流程
function executeAppend(state: MessageArrayState, operation: AppendMessageOperation): MessageOperationResult {
  // 1. 直接追加消息到当前批次
  const newMessages = [...state.messages, ...operation.messages];
  
  // 2. 不创建新批次，不创建快照
  const newState: MessageArrayState = {
    messages: newMessages,
    batchSnapshots: state.batchSnapshots,
    currentBatchIndex: state.currentBatchIndex,
    totalMessageCount: newMessages.length
  };
  
  return {
    state: newState,
    affectedBatchIndex: state.currentBatchIndex,
    stats: calculateStats(newState)
  };
}
// 操作流程
function executeInsert(state: MessageArrayState, operation: InsertMessageOperation): MessageOperationResult {
  // 1. 创建当前批次的快照（深拷贝）
  const snapshot: BatchSnapshot = {
    batchIndex: state.currentBatchIndex,
    timestamp: Date.now(),
    messages: JSON.parse(JSON.stringify(state.messages)), // 深拷贝
    messageCount: state.messages.length,
    description: `Before INSERT at position ${operation.position}`
  };
  
  // 2. 执行插入操作
  const newMessages = [...state.messages];
  newMessages.splice(operation.position, 0, ...operation.messages);
  
  // 3. 创建新批次
  const newBatchIndex = state.currentBatchIndex + 1;
  const newState: MessageArrayState = {
    messages: newMessages,
    batchSnapshots: [...state.batchSnapshots, snapshot],
    currentBatchIndex: newBatchIndex,
    totalMessageCount: newMessages.length
  };
  
  return {
    state: newState,
    affectedBatchIndex: newBatchIndex,
    stats: calculateStats(newState)
  };
}
// 操作流程
function executeClear(state: MessageArrayState, operation: ClearMessageOperation): MessageOperationResult {
  // 1. 创建空快照（无额外拷贝开销）
  const snapshot: BatchSnapshot = {
    batchIndex: state.currentBatchIndex,
    timestamp: Date.now(),
    messages: [], // 空数组，无拷贝开销
    messageCount: 0,
    description: 'Before CLEAR'
  };
  
  // 2. 执行清空操作
  const keepSystemMessage = operation.keepSystemMessage ?? true;
  const newMessages = keepSystemMessage 
    ? state.messages.filter(msg => msg.role === 'system')
    : [];
  
  // 3. 创建新批次
  const newBatchIndex = state.currentBatchIndex + 1;
  const newState: MessageArrayState = {
    messages: newMessages,
    batchSnapshots: [...state.batchSnapshots, snapshot],
    currentBatchIndex: newBatchIndex,
    totalMessageCount: newMessages.length
  };
  
  return {
    state: newState,
    affectedBatchIndex: newBatchIndex,
    stats: calculateStats(newState)
  };
}
  export const functions = { executeAppend, executeInsert, executeClear };
}

/** Compiles only where each can stand for the other. */
function interchangeable<A extends B, B extends C, C = A>(): void {}

test('the types are the document’s', () => {
  interchangeable<sdk.Message, document.Message>();
  interchangeable<sdk.MessageArrayState, document.MessageArrayState>();
  interchangeable<sdk.MessageArrayStats, document.MessageArrayStats>();
  interchangeable<sdk.AppendMessageOperation, document.AppendMessageOperation>();
  interchangeable<sdk.InsertMessageOperation, document.InsertMessageOperation>();
  interchangeable<sdk.ReplaceMessageOperation, document.ReplaceMessageOperation>();
  interchangeable<sdk.TruncateMessageOperation, document.TruncateMessageOperation>();
  interchangeable<sdk.ClearMessageOperation, document.ClearMessageOperation>();
  interchangeable<sdk.FilterMessageOperation, document.FilterMessageOperation>();
  interchangeable<sdk.RollbackMessageOperation, document.RollbackMessageOperation>();
  interchangeable<sdk.MessageOperationResult, document.MessageOperationResult>();
  interchangeable<sdk.BatchSnapshot, document.BatchSnapshot>();
});

test('the manager is the document’s interface', () => {
  const manager: document.MessageArrayManager = new sdk.MessageArrayManagerImpl([{ role: 'user', content: 'Hello' }]);
  const operation: document.AppendMessageOperation = { operation: 'APPEND', messages: [{ role: 'assistant', content: 'Hi' }] };
  const result = manager.execute(operation);
  assert.equal(result.affectedBatchIndex, 0);
  assert.deepEqual(result.state, manager.getState());
  assert.deepEqual(manager.getCurrentMessages(), result.state.messages);
  assert.equal(manager.getStats().currentBatchMessages, 2);
  assert.equal(manager.getBatchSnapshot(0), null, 'there is none of the current batch');
  assert.equal(manager.rollback(0).stats.currentBatchMessages, 2);
});

test('3.2: APPEND and INSERT answer what the document’s functions do', () => {
  const first: document.Message[] = [{ role: 'user', content: '1' }, { role: 'user', content: '2' }];
  const append: document.AppendMessageOperation = { operation: 'APPEND', messages: [{ role: 'user', content: '3' }] };
  const insert: document.InsertMessageOperation = { operation: 'INSERT', position: 1, messages: [{ role: 'user', content: 'x' }] };
  const manager = new sdk.MessageArrayManager(first);
  let state: document.MessageArrayState = { messages: first, batchSnapshots: [], currentBatchIndex: 0, totalMessageCount: 2 };

  const appended = document.functions.executeAppend(state, append);
  const applied = manager.execute(append);
  assert.deepEqual(applied.state, appended.state);
  assert.equal(applied.affectedBatchIndex, appended.affectedBatchIndex);

  state = appended.state;
  const inserted = document.functions.executeInsert(state, insert);
  const result = manager.execute(insert);
  assert.deepEqual(result.state.messages, inserted.state.messages);
  assert.equal(result.affectedBatchIndex, inserted.affectedBatchIndex);
  assert.deepEqual(result.state.batchSnapshots[0]?.messages, inserted.state.batchSnapshots[0]?.messages);
});

test('3.2.3: CLEAR leaves the view the document says, and a snapshot that is not empty', () => {
  const first: document.Message[] = [{ role: 'system', content: 's' }, { role: 'user', content: '1' }];
  const manager = new sdk.MessageArrayManager(first);
  const cleared = document.functions.executeClear(
    { messages: first, batchSnapshots: [], currentBatchIndex: 0, totalMessageCount: 2 },
    { operation: 'CLEAR' },
  );
  const result = manager.execute({ operation: 'CLEAR' });
  assert.deepEqual(result.state.messages, cleared.state.messages);
  assert.deepEqual(manager.getBatchSnapshot(0)?.messages, first, 'the document’s snapshot would have lost these');
  assert.deepEqual(manager.rollback(0).state.messages, first);
});
