// The examples of document 001 as they stand there: only the import line and what they presuppose is added.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConversationManager, ContextProcessorNodeHandler, ValidationError } from 'undertext/sdk';
import type { ContextProcessorNodeConfig, LLMMessage, LLMMessageRole } from 'undertext/sdk';
import { contents, conversationOf } from '../conversations.js';

function longConversation(): ConversationManager {
  return conversationOf('s:rules', 'u:1', 'a:one', 'u:2', 'a:two', 'u:3', 'a:three', 'u:4', 'a:four', 'u:5', 'a:five', 'u:6');
}

test('示例1: the last three messages of the user', () => {
  const conversationManager = longConversation();
  let before: LLMMessage[];
  {
// 之前：需要遍历所有消息
const allMessages = conversationManager.getMessages();
const recentUserMessages = allMessages
  .filter(msg => msg.role === 'user')
  .slice(-3);
before = recentUserMessages;
  }
// 现在：直接获取
const recentUserMessages = conversationManager.getRecentMessagesByRole('user', 3);
  assert.deepEqual(contents(recentUserMessages), ['4', '5', '6']);
  assert.deepEqual(recentUserMessages, before);
});

test('示例2: a node that keeps the last five messages of the user', async () => {
  const conversationManager = longConversation();
  const config: ContextProcessorNodeConfig =
// 配置
{
  "operation": "truncate",
  "truncate": {
    "role": "user",
    "keepLast": 5
  }
}
  ;
  const result = await new ContextProcessorNodeHandler().execute(conversationManager, config);
  assert.equal(result.messageCount, 5);
  assert.deepEqual(contents(conversationManager.getMessages()), ['2', '3', '4', '5', '6']);
  conversationManager.rollbackToBatch(0);
  assert.equal(conversationManager.getMessages().length, 12);
});

test('示例3: all system messages', () => {
  const conversationManager = longConversation();
const systemMessages = conversationManager.getMessagesByRole('system');
  assert.deepEqual(systemMessages, [{ role: 'system', content: 'rules' }]);
});

test('示例4: the second to the fifth message of the assistant', () => {
  const conversationManager = longConversation();
const assistantMessages = conversationManager.getMessagesByRoleRange('assistant', 1, 5);
  assert.deepEqual(contents(assistantMessages), ['two', 'three', 'four', 'five']);
});

test('7.1 to 7.3: several roles, a stretch of time, marks', () => {
  const conversationManager = longConversation();
  const getRecentMessagesByRoles = conversationManager.getRecentMessagesByRoles.bind(conversationManager);
  const getMessagesByRoleAndTimeRange = conversationManager.getMessagesByRoleAndTimeRange.bind(conversationManager);
  const markMessage = conversationManager.markMessage.bind(conversationManager);
  const getMarkedMessagesByRole = conversationManager.getMarkedMessagesByRole.bind(conversationManager);
  const endTime = Date.now() + 1000;
  const startTime = endTime - 3_600_000;
  const index = 3;
// 获取最近3条用户或助手消息
getRecentMessagesByRoles(['user', 'assistant'], 3);
// 获取最近1小时内的用户消息
getMessagesByRoleAndTimeRange('user', startTime, endTime);
// 标记重要消息
markMessage(index, 'important');

// 获取所有标记为重要的用户消息
getMarkedMessagesByRole('user', 'important');
  assert.deepEqual(contents(getRecentMessagesByRoles(['user', 'assistant'], 3)), ['5', 'five', '6']);
  assert.equal(getMessagesByRoleAndTimeRange('user', startTime, endTime).length, 6);
  assert.equal(getMessagesByRoleAndTimeRange('user', 0, 1).length, 0);
  assert.deepEqual(contents(getMarkedMessagesByRole('user', 'important')), ['2']);
  assert.deepEqual(getMarkedMessagesByRole('assistant', 'important'), []);
});

// 2.4.2 and 2.4.3: functions of the host, written against the managers.
function handleTruncateOperation(
  conversationManager: any,
  config: any
): void {
  if (!config) {
    throw new ValidationError('Truncate configuration is required', 'config');
  }

  // 如果指定了角色，使用类型索引
  if (config.role) {
    const typeIndices = conversationManager.getTypeIndexManager().getIndicesByRole(config.role);
    
    // 基于类型索引进行截断操作
    let filteredIndices = [...typeIndices];
    
    if (config.keepFirst !== undefined) {
      filteredIndices = filteredIndices.slice(0, config.keepFirst);
    }
    
    if (config.keepLast !== undefined) {
      filteredIndices = filteredIndices.slice(-config.keepLast);
    }
    
    if (config.removeFirst !== undefined) {
      filteredIndices = filteredIndices.slice(config.removeFirst);
    }
    
    if (config.removeLast !== undefined) {
      filteredIndices = filteredIndices.slice(0, -config.removeLast || undefined);
    }
    
    if (config.range) {
      filteredIndices = filteredIndices.slice(config.range.start, config.range.end);
    }
    
    // 更新索引管理器（只保留指定类型的消息）
    conversationManager.setOriginalIndices(filteredIndices);
    
    // 开始新批次
    if (filteredIndices.length > 0) {
      const boundaryIndex = Math.min(...filteredIndices);
      conversationManager.getIndexManager().startNewBatch(boundaryIndex);
    } else {
      conversationManager.getIndexManager().reset();
    }
  } else {
    // 原有逻辑：基于当前可见消息
    const currentIndices = conversationManager.getMarkMap().originalIndices;
    let newIndices = [...currentIndices];
    
    // ... 原有截断逻辑
  }
}

/**
 * 获取最近N条消息（支持按类型过滤）
 * @param conversationManager 会话管理器
 * @param n 消息数量
 * @param role 可选的消息角色
 * @returns 消息数组
 */
function getRecentMessages(
  conversationManager: any,
  n: number,
  role?: LLMMessageRole
): LLMMessage[] {
  if (role) {
    return conversationManager.getRecentMessagesByRole(role, n);
  } else {
    return conversationManager.getRecentMessages(n);
  }
}

test('2.4.2: the host’s own truncation by a role works on the managers', () => {
  const conversationManager = longConversation();
  handleTruncateOperation(conversationManager, { role: 'user', keepLast: 2 });
  assert.deepEqual(contents(conversationManager.getMessages()), ['5', '6']);
  assert.equal(conversationManager.getMarkMap().currentBatch, 1);
  assert.deepEqual(conversationManager.getMarkMap().batchBoundaries, [0, 9]);

  handleTruncateOperation(conversationManager, { role: 'system' });
  assert.deepEqual(conversationManager.getMarkMap(), {
    originalIndices: [],
    typeIndices: { system: [], user: [], assistant: [], tool: [] },
    batchBoundaries: [0],
    boundaryToBatch: [0],
    currentBatch: 0,
  });
  assert.equal(conversationManager.getAllMessages().length, 12, 'nothing was lost');
  assert.throws(() => handleTruncateOperation(conversationManager, undefined), ValidationError);
});

test('2.4.3: the last messages, of a role or of all', () => {
  const conversationManager = longConversation();
  assert.deepEqual(contents(getRecentMessages(conversationManager, 2)), ['five', '6']);
  assert.deepEqual(contents(getRecentMessages(conversationManager, 2, 'assistant')), ['four', 'five']);
});
