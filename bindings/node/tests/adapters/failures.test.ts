// What the adapters refuse, and what they do after something failed.
import { HumanMessage } from '@langchain/core/messages'
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint'
import type { UIMessage } from 'ai'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inMemory, openStore, UndertextError, type Store } from 'undertext'
import { ModelMessageStore, UIMessageStore } from 'undertext/ai'
import { UndertextChatMessageHistory } from 'undertext/langchain'
import { UndertextSaver } from 'undertext/langgraph'
import { UndertextSession } from 'undertext/openai-agents'

const say = (id: string, text: string): UIMessage => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
})

const refused = (path: string) => ({ name: 'UndertextError', code: 'invalid_argument', path })

test('what is no list of messages is refused, and the message at fault is named', async () => {
  await using store = await openStore('memory:')
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  for (const chats of [new UIMessageStore(store), new ModelMessageStore(store)]) {
    const save = (messages: unknown, options?: unknown) =>
      chats.save('chat', messages as never, options as never)
    for (const messages of [undefined, null, 5, {}, 'text'])
      await assert.rejects(save(messages), refused('messages'))
    for (const message of [null, undefined, 5, 'text', []])
      await assert.rejects(save([say('1', 'x'), message]), refused('messages[1]'))
    for (const role of [undefined, 'data', 5])
      await assert.rejects(
        save([say('1', 'x'), { ...say('2', 'y'), role }]),
        refused('messages[1].role'),
      )
    await assert.rejects(
      save([say('1', 'x'), { ...say('2', 'y'), metadata: { at: [new Date()] } }]),
      { ...refused('messages[1].metadata.at[0]'), message: /^messages\[1\]\.metadata\.at\[0\]: / },
    )
    await assert.rejects(save([say('1', 'x'), { ...say('2', 'y'), metadata: cyclic }]), {
      name: 'UndertextError',
    })
    for (const options of [null, 5])
      await assert.rejects(save([say('1', 'x')], options), {
        name: 'UndertextError',
        code: 'invalid_argument',
        field: 'options',
      })
    assert.deepEqual(await chats.load('chat'), [])
  }
})

test('what is no list of items is refused, and the item at fault is named', async () => {
  const conversation = inMemory()
  const session = new UndertextSession(conversation)
  const add = (items: unknown) => session.addItems(items as never)
  for (const items of [undefined, null, {}, 'text'])
    await assert.rejects(add(items), refused('items'))
  for (const item of [null, 5, 'text', []])
    await assert.rejects(add([{ role: 'user', content: 'x' }, item]), refused('items[1]'))
  for (const item of [
    { role: 'nobody' },
    { role: 'tool', content: 'x' },
    { type: 'message', role: 5, content: 'x' },
  ])
    await assert.rejects(add([item]), refused('items[0].role'))
  await assert.rejects(
    add([
      { role: 'user', content: 'x' },
      { role: 'user', content: 'x', providerData: { a: NaN } },
    ]),
    refused('items[1].providerData.a'),
  )
  assert.equal((await conversation.stats()).totalMessages, 0)
})

test('what is no list of messages of LangChain is refused', async () => {
  const history = new UndertextChatMessageHistory(inMemory())
  for (const messages of [undefined, null, {}])
    await assert.rejects(history.addMessages(messages as never), refused('messages'))
  await assert.rejects(
    history.addMessages([new HumanMessage('x'), null] as never),
    refused('messages[1]'),
  )
  assert.deepEqual(await history.getMessages(), [])
})

// The store, of which the first open fails.
function failingOnce(store: Store): Store {
  let failures = 1
  return {
    open: (...given: Parameters<Store['open']>) =>
      failures-- > 0
        ? Promise.reject(new UndertextError('unavailable', 'in use by others'))
        : store.open(...given),
    removals: (id: string) => store.removals(id),
    list: (query: Parameters<Store['list']>[0]) => store.list(query),
  } as Store
}

test('a conversation that could not be opened is opened next time', async () => {
  await using store = await openStore('memory:')
  const saving = new UIMessageStore(failingOnce(store))
  await assert.rejects(saving.save('chat', [say('1', 'x')]), { code: 'unavailable' })
  await saving.save('chat', [say('1', 'x')])
  await saving.close()
  const loading = new UIMessageStore(failingOnce(store))
  await assert.rejects(loading.load('chat'), { code: 'unavailable' })
  assert.deepEqual(await loading.load('chat'), [say('1', 'x')])
  await loading.close()
  const saver = new UndertextSaver(failingOnce(store))
  const put = () =>
    saver.put(
      { configurable: { thread_id: 't' } },
      { ...emptyCheckpoint(), id: uuid6(0) },
      { source: 'input', step: 0, parents: {} },
      {},
    )
  await assert.rejects(put(), { code: 'unavailable' })
  assert.ok(await saver.getTuple(await put()))
  await saver.close()
})

test('the version of a save is the head, also where the conversation compressed itself', async () => {
  await using store = await openStore('memory:')
  await using conversation = await store.open('chat', {
    compressionConfig: { enabled: true, threshold: 40, targetTokens: 30 },
  })
  const chats = new UIMessageStore(store)
  let expectedVersion = 0
  for (let i = 0; i < 8; ++i) {
    const now = await chats.loadVersion('chat')
    assert.equal(now.version, expectedVersion)
    expectedVersion = (
      await chats.save('chat', [...now.messages, say(`${i}`, `message number ${i}`)], {
        expectedVersion,
      })
    ).version
  }
  await conversation.catchUp()
  assert.ok((await conversation.history()).some(({ operation }) => operation === 'COMPRESS'))
  await chats.close()
})
