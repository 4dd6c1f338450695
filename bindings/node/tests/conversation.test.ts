import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import {
  addModels,
  countTokens,
  countTools,
  findModel,
  importMessages,
  inMemory,
  open,
  openStore,
  restoreStore,
  StreamAssembler,
  UndertextError,
  validateRequest,
  type Conversation,
  type Event,
  type Message,
} from 'undertext'
import { temporaryStore } from './temporary.js'

const user = (content: string): Message => ({ role: 'user', content })
const texts = async (conversation: Conversation): Promise<unknown[]> =>
  (await conversation.messages()).map(message => message.content)

test('a conversation in a store is there again when it is opened again', async t => {
  const url = temporaryStore(t)
  {
    await using conversation = await open(url, 'support')
    await conversation.append([user('a'), user('b')])
    await conversation.truncate({ keepLast: 1 }, { description: 'too long' })
  }
  await using again = await open(url, 'support')
  assert.equal(again.id, 'support')
  assert.deepEqual(await texts(again), ['b'])
  assert.equal((await again.history()).at(-1)?.description, 'too long')
  await again.undo()
  assert.deepEqual(await texts(again), ['a', 'b'])
})

test('a fork of the head has what another handle wrote', async t => {
  const url = temporaryStore(t)
  await using one = await open(url, 'shared')
  await using other = await open(url, 'shared')
  await other.append(user('late'))
  await using fork = await one.fork()
  assert.deepEqual(await texts(fork), ['late'])
})

test('a message of calls alone has a content of null, also where it is undefined', async () => {
  await using conversation = inMemory()
  const tool_calls = [{ id: 'c', type: 'function', function: { name: 'ls', arguments: '{}' } }]
  await conversation.append({ role: 'assistant', content: undefined, tool_calls } as never)
  assert.deepEqual(await conversation.messages(), [
    { role: 'assistant', content: null, tool_calls },
  ])
  await assert.rejects(conversation.append({ role: 'assistant', tool_calls } as never), {
    code: 'invalid_argument',
    field: 'content',
  })
})

test('an answer of several candidates is refused', async () => {
  await using conversation = inMemory()
  const choices = ['a', 'b'].map(content => ({ message: { role: 'assistant', content } }))
  await assert.rejects(conversation.appendResponse({ choices }), {
    code: 'invalid_argument',
    field: 'choices',
  })
  await conversation.appendResponse({ choices: choices.slice(1) })
  assert.deepEqual(await texts(conversation), ['b'])
})

for (const [where, make] of [
  ['in memory', async () => inMemory()],
  ['in a store', async (url: string) => open(url)],
] as const) {
  test(`calls on a conversation ${where} are carried out in their order, large and small`, async t => {
    await using conversation = await make(temporaryStore(t))
    const sizes = [10, 200_000, 5, 50_000, 1, 1, 100_000, 3]
    await Promise.all(sizes.map((size, i) => conversation.append(user(`${i}:${'x'.repeat(size)}`))))
    assert.deepEqual(
      (await conversation.messages()).map(message => String(message.content).split(':')[0]),
      sizes.map((_, i) => String(i)),
    )
  })
}

test('every operation has a method, and every query', async () => {
  await using conversation = inMemory()
  await conversation.append([
    { role: 'system', content: 's' },
    user('one'),
    { role: 'assistant', content: 'two' },
    user('three four'),
  ])
  assert.equal((await conversation.insert(1, user('new'))).affectedBatchIndex, 1)
  await conversation.replace(1, user('newer'))
  await conversation.merge([1, 2])
  await conversation.split(1, [5])
  await conversation.transform({ roles: ['user'], replaceText: { find: 'o', with: '0' } })
  await conversation.transformBy({ roles: ['assistant'] }, message => ({
    ...message,
    content: 'TWO',
  }))
  await conversation.mark({ indices: [0] }, 'pinned')
  await conversation.compress({ indices: [1, 2], summary: user('short') })
  await conversation.expand(1)
  await conversation.filter({ roles: ['system', 'user'] })
  await conversation.delete({ indices: [1] })
  await conversation.startBatch()
  await conversation.append(user('hint'))
  await conversation.endBatch((await conversation.stats()).currentBatchIndex - 1)
  await conversation.clear()
  await conversation.undo()
  await conversation.redo()
  await conversation.unmark({ indices: [0] }, 'pinned')
  await conversation.rollback(0)
  assert.deepEqual(await texts(conversation), ['s', 'one', 'two', 'three four'])
  await conversation.restore(1)
  const head = await conversation.version()
  assert.deepEqual(await conversation.count({ role: 'user' }), {
    count: 2,
    tokens: (await conversation.count({ role: 'user' })).tokens,
  })
  assert.deepEqual(await conversation.find({ last: 1 }), {
    ok: true,
    messages: [user('three four')],
    ordinals: [3],
  })
  assert.equal((await conversation.state()).messages.length, 4)
  assert.equal((await conversation.history()).length, head + 1)
  assert.deepEqual(await conversation.diff(0, 1), { removed: [], added: [0, 1, 2, 3], moved: [] })
  assert.equal((await conversation.blame(1)).visible, true)
  assert.equal((await conversation.batches())[0]?.openedBy, null)
  assert.equal(await conversation.batchSnapshot(9), null)
  assert.equal((await conversation.uncompressed()).messages.length, 4)
  assert.deepEqual((await conversation.markMap()).originalIndices, [0, 1, 2, 3])
  assert.equal((await conversation.tokens({ perMessage: true })).messages?.length, 4)
  assert.equal((await conversation.fit({ window: 100_000 })).outcome, 'fits')
  assert.equal((await conversation.receipts()).length, 1)
  const rendered = await conversation.render({ dialect: 'anthropic' })
  assert.equal(rendered.request['system'], 's')
  assert.equal((await conversation.validate({ dialect: 'openai_chat' })).valid, true)
  assert.equal(typeof (await conversation.cost({ from: 1, dialect: 'anthropic' })).stable, 'number')
  const tried = await conversation.cost({
    operations: [{ operation: 'CLEAR' }],
    dialect: 'anthropic',
    cacheMarkers: 'auto',
  })
  assert.equal(tried.brokenThinking, 0)
  assert.match(
    JSON.stringify(
      (await conversation.render({ dialect: 'anthropic', cacheMarkers: 'auto' })).request,
    ),
    /cache_control/,
  )
  const outcomes = await conversation.apply([
    { operation: 'truncate', truncate: { keepLast: 1 } },
    { operation: 'insert', data: user('by ordinals') },
  ])
  assert.deepEqual(
    outcomes.map(outcome => outcome.operation),
    ['TRUNCATE', 'APPEND'],
  )
})

test('a fork goes its own way', async t => {
  await using store = await openStore(temporaryStore(t))
  await using trunk = await store.open('trunk')
  await trunk.append(user('a'))
  await using stored = await trunk.fork({ id: 'branch' })
  await using loose = await trunk.fork({ version: 0 })
  await stored.append(user('b'))
  assert.deepEqual(await texts(stored), ['a', 'b'])
  assert.deepEqual(await texts(trunk), ['a'])
  assert.equal((await loose.messages()).length, 0)
  await assert.rejects(trunk.fork({ id: 'branch' }), { code: 'conflict' })
  assert.deepEqual(
    (await store.list()).map(record => record.conversation),
    ['branch', 'trunk'],
  )
})

test('a store tells of its conversations, checks, exports, imports and purges them', async t => {
  await using store = await openStore(temporaryStore(t))
  await using conversation = await store.open('a', { tokenLimit: 100 })
  await conversation.append([user('keep'), user('secret')])
  await conversation.checkpoint()
  assert.deepEqual(await store.settings('a'), { tokenLimit: 100 })
  const lines = await store.export('a')
  assert.equal((await store.import('copy', lines)).messages, 2)
  await using copy = await store.open('copy')
  assert.deepEqual(await copy.messages(), [user('keep'), user('secret')])
  assert.deepEqual(await conversation.redact([1], 'me', 'asked to', { derived: true }), {
    redacted: 1,
    derived: [],
    operations: [],
  })
  assert.deepEqual(
    (await store.removals('a')).map(removal => [removal.ordinal, removal.who, removal.why]),
    [[1, 'me', 'asked to']],
  )
  assert.deepEqual((await store.check()).damage, [])
  await store.compact()
  await store.purge('a', 'me')
  assert.equal((await store.list()).length, 1)
  await assert.rejects(store.open('nobody', undefined, { make: 'never' }), { code: 'not_found' })
})

test('a backup takes the place of a store that nothing has open', async t => {
  const url = temporaryStore(t)
  const backup = `${url.slice('sqlite:'.length)}.backup`
  {
    await using store = await openStore(url)
    await using conversation = await store.open('a')
    await conversation.append(user('kept'))
    await store.backup(backup)
    await conversation.append(user('later'))
    await assert.rejects(restoreStore(url, backup), { code: 'unavailable' })
  }
  await restoreStore(url, backup)
  await using conversation = await open(url, 'a')
  assert.deepEqual(await texts(conversation), ['kept'])
  await assert.rejects(restoreStore(url, `${backup}.none`), { code: 'not_found' })
})

test('events come in order, as an iterator that ends with the conversation', async () => {
  const conversation = inMemory({ tokenLimit: 8 })
  const heard: Event[] = []
  const listening = (async () => {
    for await (const event of conversation.events()) heard.push(event)
  })()
  await conversation.append(user('one'))
  await conversation.append(user('two '.repeat(20)))
  await conversation.close()
  await listening
  assert.deepEqual(
    heard.map(event => event.type),
    [
      'MESSAGE_ADDED',
      'CONTEXT_CHANGED',
      'MESSAGE_ADDED',
      'TOKEN_LIMIT_EXCEEDED',
      'CONTEXT_CHANGED',
    ],
  )
})

test('a listener whose promise is rejected is a warning too', async () => {
  const conversation = inMemory()
  conversation.on('MESSAGE_ADDED', async () => {
    throw new Error('bad promise')
  })
  const warned = once(process, 'warning')
  await conversation.append({ role: 'user', content: 'x' })
  assert.match(String((await warned)[0]), /bad promise/)
  assert.equal(await conversation.version(), 1)
})

test('every listener has an event of its own; what is no listener, or listens to nothing, is refused', async () => {
  const conversation = inMemory()
  const heard: number[] = []
  for (let i = 0; i < 2; ++i) {
    conversation.on('CONTEXT_CHANGED', event => {
      heard.push(event.version)
      event.version = 99
    })
  }
  await conversation.append({ role: 'user', content: 'x' })
  assert.deepEqual(heard, [1, 1])
  assert.throws(() => conversation.on('*', null as unknown as () => void), {
    code: 'invalid_argument',
    field: 'listener',
  })
  assert.throws(() => conversation.on('NO_SUCH' as '*', () => undefined), {
    code: 'invalid_argument',
    field: 'type',
  })
})

test('events asked for before there are any come one each, and end together', async () => {
  const conversation = inMemory()
  const events = conversation.events()
  const asked = [events.next(), events.next()]
  await conversation.append({ role: 'user', content: 'x' })
  assert.deepEqual(
    (await Promise.all(asked)).map(({ value }) => (value as { type: string }).type),
    ['MESSAGE_ADDED', 'CONTEXT_CHANGED'],
  )
  const ends = [events.next(), events.next()]
  await conversation.close()
  assert.deepEqual(
    (await Promise.all(ends)).map(({ done }) => done),
    [true, true],
  )
})

test('what waits behind a long text was read when it was asked for', async () => {
  const conversation = inMemory()
  const bytes = Buffer.from('{"operation":"APPEND","messages":[{"role":"user","content":"AAAA"}]}')
  const options = { version: 1 }
  const appended = [
    conversation.append({ role: 'user', content: 'L'.repeat(300_000) }),
    conversation.raw(bytes),
  ]
  const forked = conversation.fork(options)
  bytes.write('BBBB', bytes.indexOf('AAAA'))
  options.version = 2
  await Promise.all(appended)
  assert.equal((await conversation.messages({ last: 1 }))[0]?.content, 'AAAA')
  assert.equal(await (await forked).version(), 1)
  assert.equal(await (await conversation.fork(0)).version(), 0)
  await assert.rejects(conversation.fork(null as unknown as number), { code: 'invalid_argument' })
  const settings = { tokenLimit: 5 }
  const opening = open('memory:', 'x', { settings })
  settings.tokenLimit = 'broken' as unknown as number
  await (await opening).close()
})

test('messages of types of one’s own are taken', async () => {
  interface Mine {
    role: 'user' | 'assistant'
    content: string
    mood: string
  }
  const mine: Mine = { role: 'user', content: 'x', mood: 'good' }
  const conversation = inMemory()
  await conversation.append(mine)
  await conversation.append([mine, { role: 'user', content: 'y', further: 1 }])
  await conversation.insert(0, mine)
  assert.deepEqual((await conversation.messages())[0], mine)
})

test('a listener that throws is a warning, and the change stands', async () => {
  await using conversation = inMemory()
  conversation.on('*', () => {
    throw new Error('bad listener')
  })
  const warned = once(process, 'warning')
  assert.equal((await conversation.append(user('a'))).version, 1)
  assert.match(String((await warned)[0]), /bad listener/)
})

test('numbers: JSON.parse rounds them, raw text does not', async () => {
  await using conversation = inMemory()
  const text = '{"role":"user","content":"n","id":"\\u0061","big":9007199254740993,"price":1.10}'
  await conversation.raw(`{"operation":"APPEND","messages":[${text}]}`)
  assert.equal((await conversation.messages())[0]?.['big'], 9007199254740992)
  assert.equal(
    await conversation.raw({ query: 'messages' }),
    `{"ok":true,"messages":[${text}],"ordinals":[0]}`,
  )
})

test('what is asked of a closed conversation is refused, what was asked before is done', async t => {
  const url = temporaryStore(t)
  const conversation = await open(url)
  const before = conversation.append(user('in time'))
  const closing = conversation.close()
  await assert.rejects(
    conversation.append(user('too late')),
    error => error instanceof UndertextError && error.code === 'invalid_argument',
  )
  assert.equal((await before).version, 1)
  await closing
  await conversation.close()
  assert.throws(() => conversation.on('*', () => undefined), UndertextError)
})

test('providers: requests in, streams put together, tokens counted', () => {
  assert.deepEqual(importMessages('openai_chat', { model: 'm', messages: [user('hi')] }), {
    messages: [user('hi')],
    rest: { model: 'm' },
    known: 0,
  })
  assert.equal(
    validateRequest(
      { dialect: 'openai_chat' },
      { messages: [{ role: 'tool', tool_call_id: 'x', content: '' }] },
    ).valid,
    false,
  )
  const stream = new StreamAssembler('openai_chat')
  stream.feed({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Hel' } }] })
  stream.feed({ choices: [{ index: 0, delta: { content: 'lo' }, finish_reason: 'stop' }] })
  assert.equal(stream.result().message?.content, 'Hello')
  assert.ok(countTokens('hello world') > 0)
  assert.throws(() => countTokens('x', 'no such'), {
    code: /not_found|invalid_argument|unavailable/,
  })
})

test('usage is kept with the conversation', async () => {
  await using conversation = inMemory()
  await conversation.reportUsage({ requestId: 'r1', prompt: 10, completion: 5, final: true })
  assert.equal(conversation.usage().totals.prompt, 10)
  await assert.rejects(conversation.reportUsage({ requestId: 'r2' } as never), {
    code: 'invalid_argument',
    field: 'prompt',
  })
  const kept = conversation.usage()
  await conversation.setUsage()
  assert.equal(conversation.usage().totals.requests, 0)
  await conversation.setUsage(kept)
  assert.deepEqual(conversation.usage(), kept)
  await assert.rejects(conversation.setUsage({ models: [{ model: 'm' }] } as never), {
    code: 'invalid_argument',
    field: 'totals',
  })
})

test('what a client sends back is imported after what is there', async () => {
  await using conversation = inMemory()
  await conversation.append(user('hi'))
  const imported = await conversation.importAfter(
    { dialect: 'openai_chat' },
    { messages: [user('hi'), { role: 'assistant', content: 'hello' }] },
  )
  assert.deepEqual(
    [imported.known, imported.messages],
    [1, [{ role: 'assistant', content: 'hello' }]],
  )
})

test('a mark map is checked, and taken', async () => {
  await using conversation = inMemory()
  await conversation.append([user('a'), user('b')])
  const map = await conversation.markMap()
  await conversation.importMarkMap({
    ...map,
    originalIndices: [1],
    typeIndices: { ...map.typeIndices, user: [1] },
  })
  assert.deepEqual(await texts(conversation), ['b'])
  await assert.rejects(conversation.importMarkMap({ ...map, currentBatch: 9 }), {
    code: 'invalid_argument',
  })
  await assert.rejects(conversation.importMarkMap(map, 1), { code: 'conflict' })
})

test('a tool is called by the name that the caller gave', async () => {
  const conversation = inMemory()
  await conversation.append({ role: 'user', content: 'go' })
  const tools = [{ type: 'function', function: { name: 'my.tool' } }]
  const { toolNames, request } = await conversation.render({
    dialect: 'openai_chat',
    request: { tools },
  })
  const sent = Object.keys(toolNames ?? {})[0] as string
  assert.deepEqual(toolNames, { [sent]: 'my.tool' })
  assert.deepEqual(request.tools, [{ type: 'function', function: { name: sent } }])
  const call = { id: 'a', type: 'function', function: { name: sent, arguments: '{}' } }
  const answer = { role: 'assistant', content: null, tool_calls: [call] }
  const stream = new StreamAssembler('openai_chat', toolNames)
  stream.feed({
    choices: [{ index: 0, delta: { role: 'assistant', tool_calls: [{ index: 0, ...call }] } }],
  })
  const messages = [
    importMessages('openai_chat', answer, toolNames).messages[0],
    (await conversation.importMessages({ dialect: 'openai_chat', json: answer, toolNames }))
      .messages[0],
    (
      await conversation.importAfter(
        { dialect: 'openai_chat', toolNames },
        { messages: [{ role: 'user', content: 'go' }, answer] },
      )
    ).messages[0],
    stream.result().message,
  ]
  for (const message of messages) assert.match(JSON.stringify(message), /"name":"my.tool"/)
})

test('a model looks into its conversation by tools', async () => {
  const conversation = inMemory()
  await conversation.append([
    { role: 'user', content: 'Where is the token bucket?' },
    { role: 'assistant', content: 'In limiter.cpp.' },
  ])
  await conversation.delete({ ordinals: [0] })
  assert.deepEqual(
    (await conversation.tools('anthropic')).map(tool => tool.name),
    ['context_search', 'context_expand', 'context_status'],
  )
  for (const args of ['{"ordinals":[0]}', { ordinals: [0] }]) {
    const result = await conversation.callTool('context_expand', args)
    assert.match(result.text, /Where is the token bucket\?/)
    assert.equal(result.isError, false)
  }
  assert.match(
    (await conversation.callTool('context_search', { text: 'bucket' })).text,
    /token bucket/,
  )
  assert.match((await conversation.callTool('context_status')).text, /Hidden: 1 message;/)
  assert.equal((await conversation.callTool('context_undo')).isError, true)
  assert.equal(await conversation.version(), 2)
})

test('a model brings tokenizer, costs, profile and window', async () => {
  const conversation = inMemory({ model: 'Anthropic/Claude-Opus-4.7' })
  const model = await conversation.model()
  assert.deepEqual(
    [model.known, model.row, model.tokenizer, model.limits?.window],
    [true, 'claude-opus-4-7', 'estimate:claude-4.7', 1000000],
  )
  assert.equal((await conversation.fit()).tokensMax, 1000000)
  assert.deepEqual(Object.keys((await conversation.render()).request), ['messages'])
  assert.deepEqual(await conversation.model('GPT-5.5'), {
    ...findModel('gpt-5.5'),
    name: 'GPT-5.5',
  })
  assert.equal(findModel('parrot').known, false)
  const tools = [
    { name: 'f', description: 'Does it.', input_schema: { type: 'object', properties: {} } },
  ]
  assert.deepEqual(await conversation.countTools(tools), countTools(tools, 'claude-opus-4-7'))
  assert.deepEqual(
    await conversation.countTools(tools, 'claude-opus-4.7'),
    countTools(tools, 'claude-opus-4-7'),
  )
  addModels({ models: [{ names: ['magpie-1'], tokenizer: 'estimate', limits: { window: 77 } }] })
  assert.equal((await inMemory({ model: 'Magpie-1-latest' }).fit()).tokensMax, 77)
  assert.throws(() => addModels('{"models":[{"names":["a"],"costs":"none"}]}'), {
    code: 'invalid_argument',
    message: /line 1, models/,
  })
})
