// The examples of document 003 as they stand there: only the import line and what they presuppose is added.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContextProcessorNodeHandler, ConversationManager } from 'undertext/sdk';
import type { ContextModificationConfig, ContextModificationOperation, MessageMarkMap } from 'undertext/sdk';
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

// 三.3 and 四.1: the document's own code, written against the managers.
namespace document {
// 回退到指定批次
function rollbackToBatch(markMap: MessageMarkMap, targetBatch: number): void {
  // 找到目标批次的边界索引
  const targetBoundaryIndex = markMap.boundaryToBatch.indexOf(targetBatch);
  
  // 移除目标批次之后的边界
  markMap.batchBoundaries = markMap.batchBoundaries.slice(0, targetBoundaryIndex + 1);
  markMap.boundaryToBatch = markMap.boundaryToBatch.slice(0, targetBoundaryIndex + 1);
  
  // 设置当前批次
  markMap.currentBatch = targetBatch;
}
export const functions = { rollbackToBatch };
/**
 * 上下文处理节点执行器
 * 使用索引标记来操作消息，保证回退能力
 */
export class ContextProcessorNodeHandler {
  /**
   * 处理上下文操作
   * @param conversationManager 对话管理器
   * @param operation 操作类型
   * @param indices 消息索引数组
   * @param data 操作数据
   */
  async handleContextOperation(
    conversationManager: ConversationManager,
    operation: ContextModificationOperation,
    indices: number[],
    data?: any
  ): Promise<void> {
    const indexManager = conversationManager['indexManager'];
    
    switch (operation) {
      case 'insert':
        // 插入消息（尾插不需要特殊处理）
        if (data) {
          conversationManager.addMessage(data);
        }
        break;
        
      case 'delete':
        // 标记删除（不实际删除，只标记为压缩）
        indexManager.markCompressed(indices);
        break;
        
      case 'replace':
        // 替换消息（标记旧消息为压缩，插入新消息）
        indexManager.markCompressed(indices);
        if (data) {
          conversationManager.addMessage(data);
        }
        break;
        
      case 'compress':
        // 压缩消息
        indexManager.markCompressed(indices);
        break;
        
      case 'batch_start':
        // 开始新批次
        this.startNewBatch(conversationManager, indices[0]);
        break;
        
      case 'batch_end':
        // 结束批次
        this.endBatch(conversationManager, indices[0]);
        break;
    }
  }

  /**
   * 开始新批次
   * @param conversationManager 对话管理器
   * @param boundaryIndex 边界索引
   */
  private startNewBatch(
    conversationManager: ConversationManager,
    boundaryIndex: number
  ): void {
    const markMap = conversationManager['indexManager'].getMarkMap();
    
    // 添加新边界
    markMap.batchBoundaries.push(boundaryIndex);
    
    // 分配新批次号
    const newBatch = markMap.currentBatch + 1;
    markMap.boundaryToBatch.push(newBatch);
    markMap.currentBatch = newBatch;
  }

  /**
   * 结束批次
   * @param conversationManager 对话管理器
   * @param targetBatch 目标批次
   */
  private endBatch(
    conversationManager: ConversationManager,
    targetBatch: number
  ): void {
    conversationManager.rollbackToBatch(targetBatch);
  }

  /**
   * 回退上下文操作
   * @param conversationManager 对话管理器
   * @param batch 批次号
   */
  rollbackContextOperation(
    conversationManager: ConversationManager,
    batch: number
  ): void {
    conversationManager.rollbackToBatch(batch);
  }
}
}

test('三.3: a mark map that was rolled back by the document’s function can be given back', () => {
  const conversationManager = six();
  conversationManager.getIndexManager().startNewBatch(5);
  conversationManager.addMessage({ role: 'system', content: 'hint' });
  const markMap = conversationManager.getMarkMap();
  document.functions.rollbackToBatch(markMap, 0);
  assert.equal(conversationManager.getMarkMap().currentBatch, 1, 'it was a copy');
  conversationManager.setMarkMap(markMap);
  assert.equal(conversationManager.getMarkMap().currentBatch, 0);
  assert.deepEqual(contents(conversationManager.getMessages()), [...all, 'hint'], 'the document’s function leaves the indices as they are');
});

test('四.1: the document’s own handler works through the managers, but not by changing a map that was handed out', async () => {
  const conversationManager = six();
  const handler = new document.ContextProcessorNodeHandler();
  await handler.handleContextOperation(conversationManager, 'insert', [], { role: 'user', content: '4' });
  await handler.handleContextOperation(conversationManager, 'delete', [1]);
  await handler.handleContextOperation(conversationManager, 'replace', [3], { role: 'user', content: 'at the end' });
  assert.deepEqual(contents(conversationManager.getMessages()), ['rules', 'one', 'two', '3', '4', 'at the end']);
  const before = conversationManager.getMarkMap();
  await handler.handleContextOperation(conversationManager, 'batch_start', [0]);
  assert.deepEqual(conversationManager.getMarkMap(), before);
  await handler.handleContextOperation(conversationManager, 'batch_end', [0]);
  assert.deepEqual(contents(conversationManager.getMessages()), [...all, '4']);
  handler.rollbackContextOperation(conversationManager, 0);
});
