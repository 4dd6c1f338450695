// Objects that explain themselves: what they print, what their methods say of themselves, what their errors name.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import {
  inMemory,
  MemoryConversation,
  open,
  openStore,
  StreamAssembler,
  UndertextError,
  View,
} from '../src/index.js'
import { ConversationManager, KeepRecentStrategy } from '../src/sdk/index.js'

const user = { role: 'user', content: 'Why is the build red?' } as const

test('every public function, class and method has a comment that says what it does', () => {
  const folder = new URL('../src/', import.meta.url)
  const silent: string[] = []
  let seen = 0
  const own =
    /^(native|encode|copy|waits|events|code|protocol|inspect|error)\.|^sdk\/(compression|engine|snapshot)\.|^adapters\/(?!(ai|langchain|langgraph|openai-agents)\.)/
  for (const file of readdirSync(folder, { recursive: true })
    .map(String)
    .filter(name => name.endsWith('.d.ts') && !own.test(name))) {
    const lines = readFileSync(new URL(file, folder), 'utf8').split('\n')
    lines.forEach((line, at) => {
      const member =
        /^ {4}(?!private|protected|#|constructor)(?:(?:abstract|static|override|get|readonly|async) )*(\[?[\w.]+\]?)[(<]/.exec(
          line,
        )
      const declared = /^export (?:declare |abstract )*(?:class|function) (\w+)/.exec(line)
      const name = (member ?? declared)?.[1]
      if (name === undefined) return
      ++seen
      const before = lines[at - 1]!
      const overloaded =
        before.trimStart().startsWith(`${name}(`) || before.includes(`function ${name}`)
      if (!before.trimEnd().endsWith('*/') && !overloaded) silent.push(`${file}: ${name}`)
    })
  }
  assert.deepEqual(silent, [])
  assert.ok(seen > 100, `${seen} were seen`)
})

test('objects say what they are', async () => {
  const conversation = inMemory()
  await conversation.append([user, { role: 'assistant', content: 'A test fails.' }])
  const { tokens } = await conversation.stats()
  assert.equal(
    inspect(conversation),
    `Conversation { id: '', version: 1, messages: 2, tokens: ${tokens} }`,
  )
  await conversation.close()
  assert.equal(inspect(conversation), "Conversation { id: '', closed: true }")

  const memory = new MemoryConversation()
  memory.append(user)
  assert.match(inspect(memory), /^MemoryConversation { version: 1, messages: 1, tokens: \d+ }$/)
  assert.match(inspect(memory.view()), /^View { version: 1, messages: 1, tokens: \d+ }$/)
  assert.match(inspect({ memory }), /{ memory: MemoryConversation { version: 1/)

  const store = await openStore('memory:')
  assert.equal(inspect(store), "Store { url: 'memory:' }")
  const stored = await store.open('support-17')
  assert.match(inspect(stored), /^Conversation { id: 'support-17', version: 0/)
  await stored.close()
  assert.equal(inspect(stored), "Conversation { id: 'support-17', closed: true }")
  await store.close()
  assert.equal(inspect(store), "Store { url: 'memory:', closed: true }")

  const stream = new StreamAssembler('openai_chat')
  assert.equal(inspect(stream), "StreamAssembler { dialect: 'openai_chat', complete: false }")
})

test('objects of the documents say what they are', async () => {
  const manager = new ConversationManager({ initialMessages: [user] })
  const held = (name: string): RegExp =>
    new RegExp(
      `^${name} {\\s+conversation: MemoryConversation { version: 1, messages: 1, tokens: \\d+ }\\s+}$`,
    )
  assert.match(inspect(manager), held('ConversationManager'))
  assert.match(inspect(manager.getTypeIndexManager()), held('TypeIndexManager'))
  assert.match(inspect(manager.getIndexManager()), held('MessageIndexManager'))
  assert.match(inspect(manager.getTokenUsageTracker()), held('TokenUsageTracker'))
  assert.match(inspect(manager.getMessageArrayManager()), held('MessageArrayManagerImpl'))
  assert.equal(
    inspect(new KeepRecentStrategy(3)),
    "KeepRecentStrategy { strategy: { name: 'keep_recent', n: 3 } }",
  )
  const stored = await ConversationManager.open('memory:', 'support-17')
  assert.match(
    inspect(stored),
    /^StoredConversationManager {\s+conversation: Conversation { id: 'support-17', version: 0/,
  )
  await stored.cleanup()
})

test('a mistyped path makes no folders', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'undertext-'))
  t.after(() => rmSync(folder, { recursive: true }))
  await assert.rejects(open(`sqlite:${folder}/mistyped/deep/agent.db`, 'c'), {
    code: 'not_found',
    message: /there is no folder/,
  })
  assert.deepEqual(readdirSync(folder), [])
})

test('messages can be iterated over', async () => {
  const memory = new MemoryConversation()
  memory.append([user, { role: 'user', content: 'two' }])
  assert.deepEqual([...memory], memory.messages())
  const view: View = memory.view()
  assert.deepEqual([...view], memory.messages())
  assert.deepEqual(
    [view.at(0), view.at(-1)?.content, view.at(2), view.at(-3)],
    [user, 'two', undefined, undefined],
  )

  await using store = await openStore('memory:')
  await using conversation = await store.open('support-17')
  await conversation.append(user)
  const read = []
  for await (const message of conversation) read.push(message)
  assert.deepEqual(read, [user])
  const names = []
  for await (const record of store) names.push(record.conversation)
  assert.deepEqual(names, ['support-17'])
})

const responses = {
  chat: {
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
  },
  responses: {
    object: 'response',
    output: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] },
    ],
  },
  anthropic: {
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Hi.' }],
    stop_reason: 'end_turn',
  },
  gemini: { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi.' }] } }] },
}
for (const [name, response] of Object.entries(responses)) {
  test(`the answer of a provider is appended by what it is: ${name}`, async () => {
    const said = (blocks: { blocks: object[] }[]): unknown[] =>
      blocks.flatMap(({ blocks }) => blocks.map(block => 'text' in block && block.text))
    const memory = new MemoryConversation()
    assert.equal(memory.appendResponse(response).version, 1)
    assert.deepEqual(said(memory.blocks()), ['Hi.'])
    await using conversation = inMemory({ model: 'claude-opus-4-7' })
    await conversation.append(user)
    assert.equal(
      (await conversation.appendResponse(response, { description: 'an answer' })).version,
      2,
    )
    assert.deepEqual(said(await conversation.blocks({ role: 'assistant' })), ['Hi.'])
    await assert.rejects(conversation.appendResponse({ nothing: 1 }), { code: 'invalid_argument' })
  })
}

test('errors name what they are about', async () => {
  await using store = await openStore('memory:')
  const conversation = await store.open('support-17')
  await conversation.close()
  await assert.rejects(conversation.messages(), {
    code: 'invalid_argument',
    message: 'conversation support-17 is closed',
  })
  assert.throws(() => inMemory().on('MESSAGE_ADDED', 1 as never), {
    message: 'listener must be a function',
  })
  await assert.rejects(store.open(1 as never), {
    code: 'invalid_argument',
    message: 'id must be a string',
  })
  const closed = await openStore('memory:')
  await closed.close()
  await closed.close()
  for (const call of [() => closed.list(), () => closed.open('support-17'), () => closed.check()])
    await assert.rejects(call, {
      code: 'invalid_argument',
      field: 'store',
      message: 'store memory: is closed',
    })
})

test('what a strategy throws is the cause, with its type and its stack', async () => {
  class Mine extends Error {}
  const choosesBadly = (): never => {
    throw new Mine('no plan today')
  }
  await using conversation = inMemory({
    strategies: { mine: choosesBadly, later: { plan: async () => choosesBadly(), slow: true } },
  })
  await conversation.append([user, user, user])
  for (const strategy of ['mine', 'later']) {
    await assert.rejects(conversation.compress({ strategy }), (error: UndertextError) => {
      assert.ok(error.cause instanceof Mine && error.cause.stack?.includes('choosesBadly'))
      return error.code === 'invalid_argument'
    })
  }
  await assert.rejects(
    conversation.transformBy({ indices: [0] }, choosesBadly),
    (error: UndertextError) => error.cause instanceof Mine,
  )
})
