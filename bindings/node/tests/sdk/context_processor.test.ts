import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ContextProcessorNodeHandler,
  ConversationManager,
  ValidationError,
  transformContextProcessorNodeConfig,
  validateContextProcessorNodeConfig,
} from 'undertext/sdk'
import type {
  ContextModificationConfig,
  ContextModificationOperation,
  ContextProcessorNodeConfig,
} from 'undertext/sdk'
import { all, contents, conversationOf, messageOf } from './conversations.js'

const handler = new ContextProcessorNodeHandler()
const six = () => conversationOf('s:rules', 'u:1', 'a:one', 'u:2', 'a:two', 'u:3')

test('a node answers with the canonical name, the messages left, the time and the statistics', async () => {
  const nodes: Array<[ContextProcessorNodeConfig, string, string[]]> = [
    [{ operation: 'truncate', truncate: { keepLast: 2 } }, 'TRUNCATE', ['two', '3']],
    [{ operation: 'truncate', truncate: { role: 'user', removeFirst: 1 } }, 'TRUNCATE', ['2', '3']],
    [
      { operation: 'insert', insert: { position: 0, messages: [{ role: 'user', content: 'x' }] } },
      'INSERT',
      ['x', 'rules', '1', 'one', '2', 'two', '3'],
    ],
    [
      { operation: 'insert', insert: { position: -1, messages: [{ role: 'user', content: 'x' }] } },
      'APPEND',
      ['rules', '1', 'one', '2', 'two', '3', 'x'],
    ],
    [
      { operation: 'replace', replace: { index: 5, message: { role: 'user', content: 'x' } } },
      'REPLACE',
      ['rules', '1', 'one', '2', 'two', 'x'],
    ],
    [{ operation: 'filter', filter: { roles: ['assistant'] } }, 'FILTER', ['one', 'two']],
    [{ operation: 'clear' }, 'CLEAR', ['rules']],
    [{ operation: 'clear', clear: { keepSystemMessage: false } }, 'CLEAR', []],
  ]
  for (const [config, operation, left] of nodes) {
    const manager = six()
    const result = await handler.execute(manager, config)
    assert.equal(result.operation, operation)
    assert.equal(result.messageCount, left.length)
    assert.ok(result.executionTime >= 0)
    assert.deepEqual(result.stats, manager.getStats())
    assert.deepEqual(contents(manager.getMessages()), left)
    assert.equal(validateContextProcessorNodeConfig(config), true)
    assert.deepEqual(transformContextProcessorNodeConfig(config), config)
  }
})

test('what is no configuration is refused, and says where', async () => {
  const bad: Array<[unknown, string]> = [
    [null, 'config'],
    ['clear', 'config'],
    [[{ operation: 'clear' }], 'config'],
    [{}, 'operation'],
    [{ operation: 'merge' }, 'operation'],
    [{ operation: 'TRUNCATE', keepLast: 1 }, 'operation'],
    [{ operation: '__proto__' }, 'operation'],
    [{ operation: 'truncate' }, 'truncate'],
    [{ operation: 'insert' }, 'insert'],
    [
      {
        operation: 'insert',
        indices: [],
        data: { role: 'user', content: 'a modification, not a node' },
      },
      'insert',
    ],
    [
      { operation: 'insert', insert: { position: -2, messages: [{ role: 'user', content: 'x' }] } },
      'position',
    ],
    [{ operation: 'insert', insert: { position: 0, messages: [] } }, 'messages'],
    [{ operation: 'replace', replace: { index: 0 } }, 'message'],
    [{ operation: 'truncate', truncate: { keepLast: 1.5 } }, 'keepLast'],
    [{ operation: 'truncate', truncate: { keepLast: '1' } }, 'keepLast'],
    [{ operation: 'truncate', truncate: { role: 'bot', keepLast: 1 } }, 'role'],
    [{ operation: 'truncate', truncate: { keepLast: 1 }, createNewBatch: true }, 'createNewBatch'],
    [{ operation: 'truncate', truncate: { range: { start: 2, end: 1 } } }, 'range'],
    [
      { operation: 'replace', replace: { index: -1, message: { role: 'user', content: 'x' } } },
      'index',
    ],
    [{ operation: 'filter', filter: { contentContains: [''] } }, 'contentContains'],
    [{ operation: 'filter', filter: { roles: ['user'], contains: ['x'] } }, 'contains'],
  ]
  for (const [config, field] of bad) {
    const manager = six()
    const before = all(manager)
    assert.equal(validateContextProcessorNodeConfig(config), false, JSON.stringify(config))
    const isRefused = (error: unknown) => error instanceof ValidationError && error.field === field
    assert.throws(
      () => transformContextProcessorNodeConfig(config),
      isRefused,
      JSON.stringify(config),
    )
    await assert.rejects(handler.execute(manager, config as ContextProcessorNodeConfig), isRefused)
    assert.deepEqual(all(manager), before)
  }
})

test('a validated configuration is a copy', () => {
  const config: ContextProcessorNodeConfig = { operation: 'truncate', truncate: { keepLast: 2 } }
  const copy = transformContextProcessorNodeConfig(config)
  config.truncate!.keepLast = 0
  assert.equal(copy.truncate?.keepLast, 2)
})

test('what fits no conversation is refused only when it is carried out', async () => {
  const config: ContextProcessorNodeConfig = {
    operation: 'replace',
    replace: { index: 99, message: { role: 'user', content: 'x' } },
  }
  assert.equal(validateContextProcessorNodeConfig(config), true)
  await assert.rejects(
    handler.execute(six(), config),
    (error: unknown) => error instanceof ValidationError && error.field === 'index',
  )
})

test('modifications name ordinals', async () => {
  const manager = six()
  manager.execute({ operation: 'TRUNCATE', keepLast: 4 })
  await handler.handleContextOperation(manager, 'delete', [3])
  assert.deepEqual(contents(manager.getMessages()), ['one', 'two', '3'])
  await handler.handleContextOperation(manager, 'replace', [2, 4], {
    role: 'assistant',
    content: 'both',
  })
  assert.deepEqual(contents(manager.getMessages()), ['both', '3'])
  await handler.handleContextOperation(manager, 'compress', [6], {
    role: 'user',
    content: 'summary',
  })
  assert.deepEqual(contents(manager.getMessages()), ['summary', '3'])
  await handler.handleContextOperation(
    manager,
    'insert',
    [],
    [
      { role: 'user', content: '4' },
      { role: 'assistant', content: 'four' },
    ],
  )
  assert.deepEqual(contents(manager.getMessages()), ['summary', '3', '4', 'four'])
  handler.rollbackContextOperation(manager, 0)
  assert.deepEqual(contents(manager.getMessages()), ['rules', '1', 'one', '2', 'two', '3'])
})

test('modifications that are refused change nothing', async () => {
  const manager = six()
  const before = all(manager)
  const refused: Array<[ContextModificationOperation, number[], unknown?]> = [
    ['delete', [6]],
    ['delete', []],
    ['delete', [-1]],
    ['replace', [1]],
    ['insert', []],
    ['insert', [], { role: 'user' }],
    ['batch_end', []],
    ['batch_start', [7]],
    ['batch_end', [1]],
    ['explode' as ContextModificationOperation, [1]],
    ['truncate' as ContextModificationOperation, [1]],
  ]
  for (const [operation, indices, data] of refused) {
    await assert.rejects(
      handler.handleContextOperation(manager, operation, indices, data as never),
      ValidationError,
      `${operation} ${indices}`,
    )
    await assert.rejects(
      handler.validateOperation(manager, operation, indices, data as never),
      ValidationError,
    )
    assert.deepEqual(all(manager), before)
  }
  await handler.validateOperation(manager, 'delete', [1])
  assert.deepEqual(all(manager), before, 'nor does trying one that would be taken')
})

test('a list of modifications is carried out whole or not at all', async () => {
  const manager = six()
  const before = all(manager)
  const operations: ContextModificationConfig[] = [
    { operation: 'delete', indices: [1] },
    { operation: 'delete', indices: [1] },
  ]
  await assert.rejects(
    handler.handleBatchOperations(manager, operations),
    (error: unknown) => error instanceof ValidationError && error.operationIndex === 1,
  )
  await assert.rejects(handler.handleBatchOperations(manager, []), ValidationError)
  assert.deepEqual(all(manager), before)
  await handler.handleBatchOperations(manager, [
    { operation: 'batch_start', indices: [], batch: 6 },
    { operation: 'insert', indices: [], data: { role: 'system', content: 'hint' } },
  ])
  assert.deepEqual(contents(manager.getUncompressedMessages()), ['hint'])
})

test('several blocks of a configuration are one step: clear, filter, truncate, replace, insert', async () => {
  const manager = new ConversationManager({
    initialMessages: ['s:rules', 'u:one', 'a:two', 'u:three'].map(messageOf),
  })
  const config: ContextProcessorNodeConfig = {
    operation: 'truncate',
    insert: { position: 0, messages: [messageOf('u:first')] },
    replace: { index: 0, message: messageOf('u:last') },
    truncate: { keepLast: 1 },
    filter: { roles: ['user'] },
  }
  assert.deepEqual(transformContextProcessorNodeConfig(config), config)
  const before = manager.getStats().totalMessages
  const { operation, messageCount } = await new ContextProcessorNodeHandler().execute(
    manager,
    config,
  )
  assert.deepEqual([operation, messageCount], ['TRUNCATE', 2])
  assert.deepEqual(contents(manager.getMessages()), ['first', 'last'])
  // One that is refused refuses all of them.
  const refused: ContextProcessorNodeConfig = {
    operation: 'truncate',
    truncate: { keepLast: 1 },
    replace: { index: 7, message: messageOf('u:x') },
  }
  await assert.rejects(new ContextProcessorNodeHandler().execute(manager, refused), ValidationError)
  assert.deepEqual(contents(manager.getMessages()), ['first', 'last'])
  assert.equal(manager.getStats().totalMessages, before + 2)
  assert.equal(validateContextProcessorNodeConfig({ ...config, nonsense: 1 }), false)
  assert.equal(validateContextProcessorNodeConfig({ ...config, filter: { roles: [] } }), false)
})
