// The pieces of document 002 as they stand there, those of the implementation to be improved included: all work on the managers. Only the import line
// and what they presuppose is added. (The one that elides a filter's condition is no program.)
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LLMMessage } from 'undertext/sdk';
import { contents, conversationOf } from '../conversations.js';

interface Config {
  keepFirst?: number;
  keepLast?: number;
  roles: string[];
}

function shouldKeepMessage(message: LLMMessage, config: Config): boolean {
  return config.roles.includes(message.role);
}

const five = () => conversationOf('s:rules', 'u:1', 'a:one', 'u:2', 'a:two');

test('1. truncate, by clearing and adding again', () => {
  const conversationManager = five();
  const config = { keepFirst: 2 };
// 获取所有消息
const allMessages = conversationManager.getAllMessages();
let filteredMessages: LLMMessage[] = [...allMessages];

// 各种截断逻辑...
filteredMessages = filteredMessages.slice(0, config.keepFirst);

// 清空并重新添加
conversationManager.clearMessages(false);
for (const msg of filteredMessages) {
  conversationManager.addMessage(msg);
}
  assert.deepEqual(contents(conversationManager.getMessages()), ['rules', '1']);
  conversationManager.rollbackToBatch(0);
  assert.deepEqual(contents(conversationManager.getMessages()), ['rules', '1', 'one', '2', 'two']);
});

test('1. truncate, by indices', () => {
  const conversationManager = five();
  const config: Partial<Config> = { keepFirst: 4, keepLast: 2 };
// 获取当前可见消息的索引
const currentIndices = conversationManager.getMarkMap().originalIndices;
const allMessages = conversationManager.getAllMessages();

// 计算新的索引数组（基于当前可见消息）
let newIndices = [...currentIndices];

// 应用各种截断规则到索引上
if (config.keepFirst !== undefined) {
  newIndices = newIndices.slice(0, config.keepFirst);
}
if (config.keepLast !== undefined) {
  newIndices = newIndices.slice(-config.keepLast);
}
// ... 其他截断规则

// 更新索引管理器
const indexManager = conversationManager.getIndexManager(); // 需要添加此方法
indexManager.setOriginalIndices(newIndices);

// 开始新批次，记录压缩边界
const boundaryIndex = Math.min(...newIndices); // 或者使用其他逻辑确定边界
indexManager.startNewBatch(boundaryIndex);
  assert.deepEqual(contents(conversationManager.getMessages()), ['one', '2'], 'keepFirst before keepLast');
  assert.deepEqual(conversationManager.getMarkMap().batchBoundaries, [0, 2]);
  assert.equal(allMessages.length, 5);
});

test('2. insert, by clearing and adding again', () => {
  const conversationManager = five();
  const allMessages = conversationManager.getAllMessages();
  const position = 1;
  const config = { messages: [{ role: 'user', content: 'new' }] satisfies LLMMessage[] };
// 在指定位置插入需要重建整个数组
const newMessages = [...allMessages];
newMessages.splice(position, 0, ...config.messages);

// 清空并重新添加
conversationManager.clearMessages(false);
for (const msg of newMessages) {
  conversationManager.addMessage(msg);
}
  assert.deepEqual(contents(conversationManager.getMessages()), ['rules', 'new', '1', 'one', '2', 'two']);
});

for (const position of [-1, 1]) {
  test(`2. insert at ${position}, by indices`, () => {
    const conversationManager = five();
    const config = { messages: [{ role: 'user', content: 'new' }] satisfies LLMMessage[] };
const allMessages = conversationManager.getAllMessages();
const currentIndices = conversationManager.getMarkMap().originalIndices;

if (position === -1) {
  // 末尾插入：直接追加
  for (const msg of config.messages) {
    conversationManager.addMessage(msg);
  }
} else {
  // 指定位置插入：追加到末尾，然后更新索引映射
  const insertedIndices: number[] = [];
  for (const msg of config.messages) {
    const newIndex = conversationManager.addMessage(msg) - 1;
    insertedIndices.push(newIndex);
  }
  
  // 重新计算索引顺序
  const newIndices = [...currentIndices];
  // 在指定位置插入新消息的索引
  newIndices.splice(position, 0, ...insertedIndices);
  
  // 更新索引管理器
  conversationManager.getIndexManager().setOriginalIndices(newIndices);
}
    assert.deepEqual(
      contents(conversationManager.getMessages()),
      position === -1 ? ['rules', '1', 'one', '2', 'two', 'new'] : ['rules', 'new', '1', 'one', '2', 'two'],
    );
    assert.equal(conversationManager.getMarkMap().currentBatch, 0, 'neither way opens a batch');
    assert.equal(allMessages.length, 5);
  });
}

test('3. replace, by clearing and adding again', () => {
  const conversationManager = five();
  const allMessages = conversationManager.getAllMessages();
  const config = { index: 1, message: { role: 'user', content: 'new' } satisfies LLMMessage };
// 直接修改数组，然后清空重置
allMessages[config.index] = config.message;
conversationManager.clearMessages(false);
for (const msg of allMessages) {
  conversationManager.addMessage(msg);
}
  assert.deepEqual(contents(conversationManager.getMessages()), ['rules', 'new', 'one', '2', 'two']);
});

test('3. replace in an array that was handed out changes nothing inside', () => {
  const conversationManager = five();
  const config = { index: 1, message: { role: 'user', content: 'new' } satisfies LLMMessage };
// 直接修改消息内容，保持索引不变
const allMessages = conversationManager.getAllMessages();
const currentIndices = conversationManager.getMarkMap().originalIndices;

// 验证索引有效性
if (config.index >= currentIndices.length) {
  throw new Error(`Index ${config.index} is out of bounds`);
}

// 获取实际的消息索引
const actualMessageIndex = currentIndices[config.index];
allMessages[actualMessageIndex] = config.message;

// 索引映射不需要改变，因为消息数量没变
  assert.deepEqual(contents(conversationManager.getMessages()), ['rules', '1', 'one', '2', 'two']);
});

test('4. filter, by indices', () => {
  const conversationManager = five();
  const config: Config = { roles: ['assistant'] };
const allMessages = conversationManager.getAllMessages();
const currentIndices = conversationManager.getMarkMap().originalIndices;

// 基于当前可见消息进行过滤
const filteredIndices = currentIndices.filter(originalIndex => {
  const msg = allMessages[originalIndex];
  // 应用过滤条件...
  return shouldKeepMessage(msg, config);
});

// 更新索引管理器
conversationManager.getIndexManager().setOriginalIndices(filteredIndices);

// 开始新批次
const boundaryIndex = Math.min(...filteredIndices);
conversationManager.getIndexManager().startNewBatch(boundaryIndex);
  assert.deepEqual(contents(conversationManager.getMessages()), ['one', 'two']);
  assert.equal(conversationManager.getMarkMap().currentBatch, 1);
});

for (const keepSystemMessage of [true, false]) {
  test(`5. clear, ${keepSystemMessage ? 'but for the system message' : 'everything'}`, () => {
    const conversationManager = five();
// 直接清空消息数组
conversationManager.clearMessages(keepSystemMessage);
    assert.deepEqual(contents(conversationManager.getMessages()), keepSystemMessage ? ['rules'] : []);
  });

  test(`5. clear by indices, ${keepSystemMessage ? 'but for the system message' : 'everything'}`, () => {
    const conversationManager = five();
if (keepSystemMessage) {
  const allMessages = conversationManager.getAllMessages();
  if (allMessages.length > 0 && allMessages[0].role === 'system') {
    // 只保留系统消息
    conversationManager.getIndexManager().setOriginalIndices([0]);
    conversationManager.getIndexManager().startNewBatch(0);
  } else {
    // 清空所有消息
    conversationManager.getIndexManager().reset();
  }
} else {
  // 清空所有消息
  conversationManager.getIndexManager().reset();
}
    assert.deepEqual(contents(conversationManager.getMessages()), keepSystemMessage ? ['rules'] : []);
    assert.equal(conversationManager.getAllMessages().length, 5);
  });
}
