// The examples of document 004 as they stand there: only the import line and what they presuppose is added.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConversationManager, NoOpCompressionStrategy, getBatchIndex, getCurrentBatchIndices, isModified } from 'undertext/sdk';
import type { ContextCompressionConfig, MessageMarkMap } from 'undertext/sdk';
import { contents, conversationOf } from '../conversations.js';

test('三: a configuration of compression', async () => {
const compressionConfig: ContextCompressionConfig = {
  enabled: true,
  threshold: 6000,
  targetTokens: 4000
};
  assert.deepEqual(new ConversationManager({ compressionConfig }).compressionConfig, compressionConfig);
  const given = conversationOf('u:1', 'a:one');
  const compressed = await new NoOpCompressionStrategy().compress(given.getMessages(), given.getMarkMap(), compressionConfig);
  assert.deepEqual(compressed, { messages: given.getMessages(), markMap: given.getMarkMap() });
});

test('八.1 to 八.4: a mark map by hand', () => {
const markMap: MessageMarkMap = {
  originalIndices: [],
  batchBoundaries: [0],  // 第0个索引作为第0个batch的边界
  boundaryToBatch: [0],
  currentBatch: 0
};
// 添加消息索引
markMap.originalIndices.push(0);
// 开始新批次
markMap.batchBoundaries.push(5);  // 从索引5开始新批次
markMap.boundaryToBatch.push(1);  // 批次号为1
markMap.currentBatch = 1;
  const conversationManager = conversationOf('u:0', 'u:1', 'u:2', 'u:3', 'u:4', 'u:5');
  conversationManager.setMarkMap(markMap);
  assert.deepEqual(contents(conversationManager.getMessages()), ['0']);
  assert.equal(conversationManager.getMarkMap().currentBatch, 1);
// 回退到批次0
markMap.currentBatch = 0;
// 移除批次1的边界
markMap.batchBoundaries = [0];
markMap.boundaryToBatch = [0];
  conversationManager.setMarkMap(markMap);
  assert.deepEqual(conversationManager.getMarkMap(), { ...markMap, typeIndices: { system: [], user: [0], assistant: [], tool: [] } });
});

test('八.5: a batch comes and goes', () => {
  let markMap: MessageMarkMap;
// 初始状态
markMap = {
  originalIndices: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  batchBoundaries: [0],
  boundaryToBatch: [0],
  currentBatch: 0
};

// 添加临时消息（批次1）
markMap.batchBoundaries.push(5);
markMap.boundaryToBatch.push(1);
markMap.currentBatch = 1;

// 删除临时消息（回到批次0）
markMap.batchBoundaries = [0];
markMap.boundaryToBatch = [0];
markMap.currentBatch = 0;
  const conversationManager = conversationOf('u:0', 'u:1', 'u:2', 'u:3', 'u:4', 'u:5', 'u:6', 'u:7', 'u:8', 'u:9');
  assert.deepEqual(conversationManager.getMarkMap().originalIndices, markMap.originalIndices);
  conversationManager.getIndexManager().startNewBatch(5);
  assert.deepEqual(conversationManager.getMarkMap().batchBoundaries, [0, 5]);
  assert.deepEqual(conversationManager.getMarkMap().boundaryToBatch, [0, 1]);
  conversationManager.rollbackToBatch(0);
  const { batchBoundaries, boundaryToBatch, currentBatch } = conversationManager.getMarkMap();
  assert.deepEqual({ batchBoundaries, boundaryToBatch, currentBatch }, { batchBoundaries: [0], boundaryToBatch: [0], currentBatch: 0 });
});

// 二: what is computed from a mark map, as the document does it.
namespace document {
// 获取当前批次的消息索引
function getCurrentBatchIndices(markMap: MessageMarkMap): number[] {
  const currentBoundaryIndex = markMap.boundaryToBatch.indexOf(markMap.currentBatch);
  const boundary = markMap.batchBoundaries[currentBoundaryIndex];
  
  return markMap.originalIndices.filter(index => index >= boundary);
}

// 判断消息是否被修改
function isModified(originalIndex: number, markMap: MessageMarkMap): boolean {
  const currentBoundaryIndex = markMap.boundaryToBatch.indexOf(markMap.currentBatch);
  const boundary = markMap.batchBoundaries[currentBoundaryIndex];
  return originalIndex < boundary;
}

// 获取消息在当前批次中的索引
function getBatchIndex(originalIndex: number, markMap: MessageMarkMap): number {
  const currentBoundaryIndex = markMap.boundaryToBatch.indexOf(markMap.currentBatch);
  const boundary = markMap.batchBoundaries[currentBoundaryIndex];
  return originalIndex - boundary;
}
  export const computed = { getCurrentBatchIndices, isModified, getBatchIndex };
}

test('二: what is computed from a mark map', () => {
  const conversationManager = conversationOf('u:0', 'u:1', 'u:2', 'u:3');
  conversationManager.getIndexManager().startNewBatch(2);
  const markMap = conversationManager.getMarkMap();
  const indexManager = conversationManager.getIndexManager();
  assert.deepEqual(getCurrentBatchIndices(markMap), document.computed.getCurrentBatchIndices(markMap));
  assert.deepEqual(indexManager.getCurrentBatchIndices(), [2, 3]);
  for (const ordinal of [0, 1, 2, 3]) {
    assert.equal(isModified(ordinal, markMap), document.computed.isModified(ordinal, markMap));
    assert.equal(indexManager.isModified(ordinal), ordinal < 2);
    assert.equal(getBatchIndex(ordinal, markMap), document.computed.getBatchIndex(ordinal, markMap));
    assert.equal(indexManager.getBatchIndex(ordinal), ordinal - 2);
  }
});
