// What a framework hides is what is hidden, whatever the conversation was told to do about halves of tool pairs.
import type { AgentInputItem } from '@openai/agents-core'
import type { ModelMessage } from 'ai'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStore } from 'undertext'
import { ModelMessageStore } from 'undertext/ai'
import { UndertextSession } from 'undertext/openai-agents'

const chat: ModelMessage[] = [
  { role: 'user', content: 'Weather?' },
  {
    role: 'assistant',
    content: ['a', 'b'].map(toolCallId => ({
      type: 'tool-call',
      toolCallId,
      toolName: 'f',
      input: {},
    })),
  },
  {
    role: 'tool',
    content: ['a', 'b'].map(toolCallId => ({
      type: 'tool-result',
      toolCallId,
      toolName: 'f',
      output: { type: 'text', value: 'r' },
    })),
  },
  { role: 'assistant', content: 'Done.' },
  { role: 'user', content: 'More.' },
]

const items: AgentInputItem[] = [
  { type: 'message', role: 'user', content: 'Weather?' },
  { type: 'function_call', callId: 'a', name: 'f', arguments: '{}', status: 'completed' },
  {
    type: 'function_call_result',
    callId: 'a',
    name: 'f',
    status: 'completed',
    output: { type: 'text', text: 'r' },
  },
]

for (const pairs of ['literal', 'shrink', 'grow'] as const) {
  test(`a saved list is what is there, and a popped item is the only one that is gone, where pairs are kept ${pairs}`, async () => {
    await using store = await openStore('memory:')
    await using _ = await store.open('chat', { pairs })
    const chats = new ModelMessageStore(store)
    // Each without one message, the last one with another instead of several results.
    for (const state of [
      chat,
      ...chat.map((_, i) => chat.toSpliced(i, 1)),
      chat.with(2, chat[0]!),
    ]) {
      for (const each of [chat, state]) {
        await chats.save('chat', each)
        assert.deepEqual(await chats.load('chat'), each)
      }
    }
    await chats.close()

    await using conversation = await store.open('items', { pairs })
    const session = new UndertextSession(conversation)
    await session.addItems(items)
    for (let left = items.length; left > 0; --left) {
      assert.deepEqual(await session.popItem(), items[left - 1])
      assert.deepEqual(await session.getItems(), items.slice(0, left - 1))
    }
  })
}
