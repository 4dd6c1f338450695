// The examples of document 003 as they stand there: only the import line and what they presuppose is added.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContextProcessorNodeHandler, ConversationManager } from 'undertext/sdk';
import type { ContextModificationConfig } from 'undertext/sdk';
import { contents, conversationOf } from '../conversations.js';

const six = () => conversationOf('s:rules', 'u:1', 'a:one', 'u:2', 'a:two', 'u:3');
const all = ['rules', '1', 'one', '2', 'two', '3'];

test('五.1: a temporary hint is gone when its batch has ended', async () => {
  const conversationManager = conversationOf('s:rules', 'u:1', 'a:one', 'u:2', 'a:two');
// 场景：添加临时提示，完成任务后删除
const handler = new ContextProcessorNodeHandler();

// 开始新批次（添加临时提示）
await handler.handleContextOperation(
  conversationManager,
  'batch_start',
  [5]  // 从索引5开始新批次
);

// 添加临时提示
await handler.handleContextOperation(
  conversationManager,
  'insert',
  [],
  { role: 'system', content: '临时提示：请专注于当前任务' }
);

// 执行任务...

// 结束批次（删除临时提示）
await handler.handleContextOperation(
  conversationManager,
  'batch_end',
  [0]  // 回退到批次0
);
  assert.deepEqual(contents(conversationManager.getMessages()), ['rules', '1', 'one', '2', 'two']);
  assert.equal(conversationManager.getAllMessages().length, 6, 'the hint stays in the log');
  assert.equal(conversationManager.getMarkMap().currentBatch, 0);
});

test('五.2: a message is replaced in its place', async () => {
  const conversationManager = six();
  const handler = new ContextProcessorNodeHandler();
// 场景：替换有问题的消息
await handler.handleContextOperation(
  conversationManager,
  'replace',
  [3],  // 替换索引3的消息
  { role: 'user', content: '修正后的消息' }
);
  assert.deepEqual(contents(conversationManager.getMessages()), ['rules', '1', 'one', '修正后的消息', 'two', '3']);
});

test('五.3: old messages are hidden', async () => {
  const conversationManager = six();
  const handler = new ContextProcessorNodeHandler();
// 场景：压缩旧消息
await handler.handleContextOperation(
  conversationManager,
  'compress',
  [0, 1, 2, 3]  // 压缩索引0-3的消息
);
  assert.deepEqual(contents(conversationManager.getMessages()), ['two', '3']);
});

test('九.1: the whole workflow', async () => {
// 创建上下文处理节点
const handler = new ContextProcessorNodeHandler();

// 初始状态
const conversationManager = new ConversationManager({
  tokenLimit: 8000,
  compressionConfig: {
    enabled: true,
    threshold: 6000,
    targetTokens: 4000
  }
});

// 添加初始消息
conversationManager.addMessage({ role: 'user', content: 'Hello' });
conversationManager.addMessage({ role: 'assistant', content: 'Hi there!' });

// 开始新批次（添加临时提示）
await handler.handleContextOperation(
  conversationManager,
  'batch_start',
  [2]  // 从索引2开始新批次
);

// 添加临时提示
await handler.handleContextOperation(
  conversationManager,
  'insert',
  [],
  { role: 'system', content: '请专注于当前任务' }
);

// 执行任务...

// 结束批次（删除临时提示）
await handler.handleContextOperation(
  conversationManager,
  'batch_end',
  [0]  // 回退到批次0
);

// 压缩旧消息
await handler.handleContextOperation(
  conversationManager,
  'compress',
  [0, 1]  // 压缩索引0-1的消息
);

// 回退操作
handler.rollbackContextOperation(conversationManager, 0);
  assert.deepEqual(contents(conversationManager.getMessages()), ['Hello', 'Hi there!']);
  assert.deepEqual(contents(conversationManager.getAllMessages()), ['Hello', 'Hi there!', '请专注于当前任务']);
  assert.equal(conversationManager.tokenLimit, 8000);
  assert.deepEqual(conversationManager.compressionConfig, { enabled: true, threshold: 6000, targetTokens: 4000 });
});

test('九.2: a list of operations', async () => {
  const conversationManager = six();
  const handler = new ContextProcessorNodeHandler();
// 批量处理多个操作
const operations: ContextModificationConfig[] = [
  {
    operation: 'batch_start',
    indices: [5]
  },
  {
    operation: 'insert',
    indices: [],
    data: { role: 'system', content: '临时提示' }
  },
  {
    operation: 'compress',
    indices: [0, 1, 2]
  },
  {
    operation: 'batch_end',
    indices: [0]
  }
];

await handler.handleBatchOperations(conversationManager, operations);
  assert.deepEqual(contents(conversationManager.getMessages()), all.slice(0, 5), 'ordinals from the boundary on belonged to the batch that was left');
  assert.equal(conversationManager.getAllMessages().length, 7);
});
