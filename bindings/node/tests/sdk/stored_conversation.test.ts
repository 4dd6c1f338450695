import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ContextProcessorNodeHandler,
  ConversationManager,
  EventType,
  KeepRecentStrategy,
  UndertextError,
  ValidationError,
} from 'undertext/sdk'
import { openStore } from 'undertext'
import type { CompressionStrategy, LLMMessage } from 'undertext/sdk'
import { temporaryStore } from '../temporary.js'
import { contents, conversationOf, messageOf } from './conversations.js'

test('a conversation in a store has the same methods, with promises, and is there again', async context => {
  const url = temporaryStore(context)
  const manager = await ConversationManager.open(url, 'first', {
    initialMessages: [messageOf('s:rules'), messageOf('u:1')],
  })
  assert.equal(await manager.addMessage(messageOf('a:one')), 3)
  assert.equal(await manager.addMessages(messageOf('u:2'), messageOf('a:two')), 5)
  await manager.markMessage(1, 'important')
  await new ContextProcessorNodeHandler().execute(manager, {
    operation: 'truncate',
    truncate: { keepLast: 3 },
  })
  await manager.close()

  const again = await ConversationManager.open(url, 'first', {
    initialMessages: [messageOf('s:only for a new one')],
  })
  assert.deepEqual(contents(await again.getMessages()), ['one', '2', 'two'])
  assert.equal((await again.getAllMessages()).length, 5)
  assert.equal(await again.getMessageCountByRole('assistant'), 2)
  assert.deepEqual(await again.getTypeIndexManager().getIndicesByRole('assistant'), [2, 4])
  assert.deepEqual(await again.getTypeIndexManager().getRecentIndicesByRole('assistant', 1), [4])
  assert.equal(await again.getIndexManager().getCurrentBatch(), 1)
  assert.equal(await again.getIndexManager().checkConsistency(), true)
  await again.rollbackToBatch(0)
  assert.deepEqual(contents(await again.getMarkedMessagesByRole('user', 'important')), ['1'])
  assert.equal((await again.execute({ operation: 'UNDO' })).operation, 'UNDO')
  await again.close()
})

test('what the managers change in memory they change in a store', async context => {
  const stored = await ConversationManager.open(temporaryStore(context), 'c')
  const memory = conversationOf('s:rules', 'u:1', 'a:one', 'u:2')
  await stored.addMessages(memory.getMessages())
  for (const manager of [stored, memory]) {
    await manager.setOriginalIndices([3, 1])
    await manager.getIndexManager().addIndex(2)
    await manager.getTypeIndexManager().addIndex('system', 0)
    await manager.getIndexManager().startNewBatch(4)
    await manager.addMessage(messageOf('u:3'))
    await manager.getTypeIndexManager().removeIndices([1])
    await manager.clearMessages()
    await manager.rollbackToBatch(2)
  }
  assert.deepEqual(await stored.getMarkMap(), memory.getMarkMap())
  assert.deepEqual(await stored.getMessages(), memory.getMessages())
  assert.deepEqual(await stored.getUncompressedMessages(), memory.getUncompressedMessages())
  assert.deepEqual(await stored.getStats(), memory.getStats())
  const { version, ...snapshot } = await stored.createSnapshot()
  const { version: inMemory, ...expected } = memory.createSnapshot()
  assert.deepEqual(snapshot, expected)
  await assert.rejects(stored.getTypeIndexManager().addIndex('user', 2), ValidationError)
  await assert.rejects(stored.setOriginalIndices([9]), ValidationError)
  await stored.close()
})

test('snapshots and clones of a stored conversation', async context => {
  const manager = await ConversationManager.open(temporaryStore(context), 'c', {
    initialMessages: [messageOf('u:1'), messageOf('a:one')],
  })
  const snapshot = await manager.createSnapshot()
  const clone = await manager.clone()
  await clone.addMessage(messageOf('u:only here'))
  await manager.clearMessages(false)
  assert.equal((await clone.getMessages()).length, 3)
  await manager.restoreFromSnapshot(snapshot)
  assert.deepEqual(contents(await manager.getMessages()), ['1', 'one'])
  const memory = new ConversationManager()
  memory.restoreFromSnapshot(snapshot)
  assert.deepEqual(
    memory.getMessages(),
    await manager.getMessages(),
    'a snapshot moves between the two',
  )
  await manager.restoreFromSnapshot({ ...snapshot, version: 99 })
  assert.equal((await manager.getAllMessages()).length, 4)
  await clone.close()
  await manager.close()
})

test('what is given is read when the method is called', async context => {
  const manager = await ConversationManager.open(temporaryStore(context), 'c', {
    initialMessages: [messageOf('u:1'), messageOf('u:2')],
  })
  const snapshot = await manager.createSnapshot()
  const message = messageOf('u:3')
  const indices = [2, 0]
  const calls = [manager.addMessage(message), manager.setOriginalIndices(indices)]
  message.content = 'changed'
  indices.push(1)
  await Promise.all(calls)
  assert.deepEqual(contents(await manager.getMessages()), ['3', '1'])
  const restored = manager.restoreFromSnapshot(snapshot)
  snapshot.messages.length = 0
  await restored
  assert.deepEqual(contents(await manager.getMessages()), ['1', '2'])
  await assert.rejects(manager.setOriginalIndices(null as unknown as number[]), UndertextError)
  await assert.rejects(manager.restoreFromSnapshot(null as never), UndertextError)
  await assert.rejects(manager.setMarkMap(null as never), UndertextError)
  await manager.close()
})

test('calls that are not waited for are carried out in their order', async context => {
  const manager = await ConversationManager.open(temporaryStore(context), 'c')
  const added = await Promise.all(
    Array.from({ length: 50 }, (_, i) => manager.addMessage(messageOf(`u:${i}`))),
  )
  assert.deepEqual(
    added,
    Array.from({ length: 50 }, (_, i) => i + 1),
  )
  assert.deepEqual(
    contents(await manager.getMessages()),
    Array.from({ length: 50 }, (_, i) => String(i)),
  )
  await manager.close()
})

test('a message that is added while a method reads and writes is never hidden by it', async context => {
  const manager = await ConversationManager.open(temporaryStore(context), 'c', {
    initialMessages: [messageOf('u:0'), messageOf('u:1')],
  })
  const snapshot = await manager.createSnapshot()
  const foreign = conversationOf('u:other').createSnapshot()
  const methods: Array<[string, () => Promise<void>]> = [
    ['setOriginalIndices', () => manager.setOriginalIndices([0])],
    ['a snapshot of its own', () => manager.restoreFromSnapshot(snapshot)],
    ['a snapshot of another', () => manager.restoreFromSnapshot({ ...foreign, version: 99 })],
    [
      'an empty snapshot',
      () =>
        manager.restoreFromSnapshot({ ...new ConversationManager().createSnapshot(), version: 99 }),
    ],
  ]
  for (const [name, call] of methods) {
    const before = contents(await manager.getMessages())
    const [changed, added] = await Promise.allSettled([
      call(),
      manager.addMessage(messageOf(`u:after ${name}`)),
    ])
    assert.equal(added.status, 'fulfilled', name)
    assert.ok(
      changed.status === 'rejected' && (changed.reason as UndertextError).code === 'conflict',
      name,
    )
    assert.deepEqual(contents(await manager.getMessages()), [...before, `after ${name}`])
  }
  await manager.close()
})

test('events, usage and a strategy in TypeScript with a store', async context => {
  const strategy: CompressionStrategy = {
    compress: async (messages, markMap) => ({
      messages: [messages[0] as LLMMessage, ...messages.slice(-1)],
      markMap,
    }),
  }
  const manager = await ConversationManager.open(temporaryStore(context), 'c', {
    tokenLimit: 30,
    compressionConfig: { enabled: true, threshold: 40, targetTokens: 30, strategy },
  })
  const heard: string[] = []
  manager.on(EventType.TOKEN_LIMIT_EXCEEDED, event => heard.push(event.type))
  manager.on(EventType.COMPRESSED, event => heard.push(event.type))
  await manager.addMessage(messageOf('s:rules'))
  for (let i = 0; i < 8; ++i) await manager.addMessage(messageOf(`u:message ${i}`))
  await manager.waitForCompression()
  assert.ok(heard.includes(EventType.TOKEN_LIMIT_EXCEEDED))
  assert.ok(heard.includes(EventType.COMPRESSED))
  assert.ok((await manager.getMessages()).length < 9)
  await Promise.all([
    manager.addMessage(messageOf('u:at the same time')),
    manager.updateTokenUsage({ promptTokens: 3, completionTokens: 1 }),
  ])
  assert.deepEqual(await manager.getCurrentRequestUsage(), {
    promptTokens: 3,
    completionTokens: 1,
    totalTokens: 4,
  })
  await manager.finalizeCurrentRequest()
  assert.deepEqual(await manager.getTokenUsage(), {
    promptTokens: 3,
    completionTokens: 1,
    totalTokens: 4,
  })
  await manager.close()
})

test('a snapshot of another conversation is taken over though its version was pruned here', async context => {
  const url = temporaryStore(context)
  const manager = await ConversationManager.open(url, 'c')
  for (let i = 0; i < 5; ++i) await manager.addMessage(messageOf(`u:${i}`))
  const store = await openStore(url)
  const conversation = await store.open('c')
  await conversation.pruneVersions({ versions: 1 })
  await conversation.close()
  await store.close()
  const other = new ConversationManager({ initialMessages: [messageOf('u:other')] })
  await manager.restoreFromSnapshot(other.createSnapshot())
  assert.deepEqual(contents(await manager.getMessages()), ['other'])
  await assert.rejects(
    manager.restoreFromSnapshot({ ...other.createSnapshot(), pinned: [null as never] }),
    ValidationError,
  )
  await manager.close()
})

test('reports of usage that are not waited for are taken in their order', async context => {
  const manager = await ConversationManager.open(temporaryStore(context), 'c')
  await Promise.all([
    manager.updateTokenUsage({ promptTokens: 1, completionTokens: 1 }),
    manager.finalizeCurrentRequest(),
    manager.updateTokenUsage({ promptTokens: 2, completionTokens: 2 }),
    manager.finalizeCurrentRequest(),
  ])
  assert.deepEqual(await manager.getTokenUsage(), {
    promptTokens: 3,
    completionTokens: 3,
    totalTokens: 6,
  })
  assert.equal((await manager.getTokenUsageTracker().getHistory()).length, 2)
  await manager.close()
})

test('usage is there when the conversation is opened again, and can be restored and reset', async context => {
  const url = temporaryStore(context)
  const manager = await ConversationManager.open(url, 'c')
  await manager.updateTokenUsage({ promptTokens: 10, completionTokens: 2, model: 'm' })
  await manager.finalizeCurrentRequest()
  await manager.updateTokenUsage({ promptTokens: 20, completionTokens: 4, model: 'm' })
  const snapshot = await manager.createSnapshot()
  await manager.close()

  const again = await ConversationManager.open(url, 'c')
  const tracker = again.getTokenUsageTracker()
  assert.deepEqual(await again.getCurrentRequestUsage(), {
    promptTokens: 20,
    completionTokens: 4,
    totalTokens: 24,
  })
  assert.deepEqual(await tracker.getStatistics(), {
    requests: 2,
    promptTokens: 30,
    completionTokens: 6,
    totalTokens: 36,
    averagePromptTokens: 15,
    averageCompletionTokens: 3,
    maxPromptTokens: 20,
    maxCompletionTokens: 4,
    byModel: { m: { promptTokens: 30, completionTokens: 6, totalTokens: 36 } },
  })
  await tracker.reset()
  assert.equal(await again.getTokenUsage(), null)
  const other = new ConversationManager()
  other.getTokenUsageTracker().restore(snapshot.usage)
  assert.deepEqual(other.getTokenUsage(), {
    promptTokens: 30,
    completionTokens: 6,
    totalTokens: 36,
  })
  await tracker.restore(other.getTokenUsageTracker().getState())
  assert.deepEqual(await again.getTokenUsage(), {
    promptTokens: 30,
    completionTokens: 6,
    totalTokens: 36,
  })
  await assert.rejects(tracker.restore({ models: 1 } as never), ValidationError)
  await again.close()
})

test('a strategy in TypeScript that comes with the call, with a store', async context => {
  const manager = await ConversationManager.open(temporaryStore(context), 'c')
  for (let i = 0; i < 8; ++i) await manager.addMessage(messageOf(`u:message ${i}`))
  const strategy: CompressionStrategy = {
    compress: async (messages, markMap) => ({ messages: messages.slice(-2), markMap }),
  }
  const [outcome] = await Promise.all([
    manager.compress(strategy, 100),
    manager.addMessage(messageOf('u:meanwhile')),
  ])
  assert.equal(outcome.outcome, 'compressed')
  assert.deepEqual(contents(await manager.getMessages()), ['message 6', 'message 7', 'meanwhile'])
  await manager.close()
})

test('two who write to one conversation do not lose each other’s messages', async context => {
  const url = temporaryStore(context)
  const [one, two] = await Promise.all([
    ConversationManager.open(url, 'c'),
    ConversationManager.open(url, 'c'),
  ])
  await one.addMessage(messageOf('u:from one'))
  await two.addMessage(messageOf('u:from two'))
  assert.deepEqual(contents(await one.getMessages()), ['from one', 'from two'])
  await two.setOriginalIndices([1])
  assert.deepEqual(contents(await one.getMessages()), ['from two'])
  await one.close()
  await two.close()
})

test('settings are kept with the conversation; code must be given again', async context => {
  const url = temporaryStore(context)
  const limited = await ConversationManager.open(url, 'limited', { tokenLimit: 5 })
  await limited.close()
  const again = await ConversationManager.open(url, 'limited')
  const exceeded = new Promise(resolve => again.on(EventType.TOKEN_LIMIT_EXCEEDED, resolve))
  await again.addMessage(messageOf('u:more than five tokens, for certain'))
  assert.ok(await exceeded)
  assert.equal(again.tokenLimit, 5)
  const undefined_is_not_there = await ConversationManager.open(url, 'limited', {
    tokenLimit: undefined,
  })
  assert.equal(undefined_is_not_there.tokenLimit, 5)
  await undefined_is_not_there.close()
  assert.equal(await again.isTokenLimitExceeded(), true)
  await again.close()
  const recent = await ConversationManager.open(url, 'recent', {
    compressionConfig: {
      enabled: false,
      threshold: 100,
      targetTokens: 50,
      strategy: new KeepRecentStrategy(2),
    },
  })
  await recent.addMessages(
    [...Array(8)].map((_, i) => messageOf(`u:${i} some words to be counted`)),
  )
  await recent.close()
  const once_more = await ConversationManager.open(url, 'recent')
  assert.equal((await once_more.compress()).outcome, 'compressed')
  assert.equal((await once_more.getMessages()).length, 2)
  await once_more.close()
  const strategy: CompressionStrategy = {
    compress: async (messages, markMap) => ({ messages, markMap }),
  }
  const own = await ConversationManager.open(url, 'own', {
    compressionConfig: { enabled: true, threshold: 100, targetTokens: 50, strategy },
  })
  await own.close()
  await assert.rejects(ConversationManager.open(url, 'own'), ValidationError)
})

test('what cannot be opened rejects', async context => {
  await assert.rejects(ConversationManager.open('nonsense:', 'c'), UndertextError)
  await assert.rejects(ConversationManager.open(temporaryStore(context), ''), UndertextError)
  await assert.rejects(
    ConversationManager.open(temporaryStore(context), 'c', { tokenLimit: -1 }),
    ValidationError,
  )
  const manager = await ConversationManager.open(temporaryStore(context), 'c')
  await manager.close()
  await assert.rejects(manager.addMessage(messageOf('u:1')), UndertextError)
})
