import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConversationManager } from 'undertext/sdk'
import type { CompressionStrategy } from 'undertext/sdk'
import { messageOf } from './conversations.js'

/** A manager that its own listener and strategy refer to. */
function entangled(): WeakRef<ConversationManager> {
  const strategy: CompressionStrategy = {
    compress: async (messages, markMap) => {
      manager.getStats()
      return { messages, markMap }
    },
  }
  const manager: ConversationManager = new ConversationManager({
    eventManager: { emit: () => manager.getStats() },
    compressionConfig: { enabled: true, threshold: 1000, targetTokens: 500, strategy },
  })
  manager.addMessage(messageOf('u:1'))
  manager.getTypeIndexManager().clone()
  return new WeakRef(manager)
}

test('managers that nobody has any more are collected, with their listeners, strategies and clones', async () => {
  const collect = globalThis.gc
  assert.ok(collect, 'to be run with --expose-gc')
  const forgotten = Array.from({ length: 100 }, entangled)
  const isLeft = () => forgotten.some(one => one.deref() !== undefined)
  for (let tries = 0; tries < 20; ++tries) {
    await new Promise(resolve => setImmediate(resolve))
    collect()
    if (!isLeft()) break
  }
  assert.equal(isLeft(), false)
})
