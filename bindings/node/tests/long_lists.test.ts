// Lists that are too long to be written at once say what they said when the call was made, and are stored as a whole or not at all.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inMemory, MemoryConversation, open, type Conversation, type Message } from 'undertext'
import { temporaryStore } from './temporary.js'

const count = 3000

function list(): Message[] {
  return [...Array(count)].map((_, i): Message => {
    if (i % 3 === 0)
      return {
        role: 'user',
        content: [{ type: 'text', text: `part ${i}` }],
        metadata: { at: { i, list: [i, [i], null, true, 1.5] } },
      }
    if (i % 3 === 1)
      return {
        role: 'assistant',
        content: '',
        toolCalls: [
          { id: `call_${i}`, type: 'function', function: { name: 'f', arguments: '{"a":"ü\\n"}' } },
        ],
      }
    return {
      role: 'tool',
      toolCallId: `call_${i - 1}`,
      content: i === 5 ? '😀'.repeat(50_000) : 'x'.repeat(300),
    }
  })
}

async function everyWay(
  t: Parameters<typeof temporaryStore>[0],
  check: (conversation: Conversation) => Promise<void>,
): Promise<void> {
  for (const conversation of [inMemory(), await open(temporaryStore(t))]) {
    await check(conversation)
    await conversation.close()
  }
}

test('what is written bit by bit is what is written at once, byte for byte', async t => {
  const atOnce = new MemoryConversation()
  atOnce.append(list())
  const all = { query: 'messages' }
  await everyWay(t, async conversation => {
    await conversation.append(list())
    assert.equal(await conversation.raw(all), atOnce.raw(all))
    await conversation.undo()
    await conversation.append(list(), { operationId: 'with options' })
    assert.equal((await conversation.messages()).length, count)
    await conversation.undo()
    await conversation.append(list().values())
    assert.deepEqual(await conversation.messages(), list())
  })
})

test('a long list changed after the call changes nothing', async t => {
  await everyWay(t, async conversation => {
    const given = list()
    const appended = conversation.append(given)
    for (const message of given) {
      if (message.role === 'user') (message.content as { text: string }[])[0]!.text = 'changed'
      if (message.role === 'user')
        (message.metadata as { at: { list: unknown[] } }).at.list.push('changed')
      if (message.role === 'assistant')
        (message['toolCalls'] as { function: { name: string } }[])[0]!.function.name = 'changed'
      message.role = 'system'
    }
    given.length = 0
    await appended
    assert.deepEqual(await conversation.messages(), list())
  })
})

test('__proto__ and its like are data in a long list too, and what every object inherits is not', async () => {
  const strange = JSON.parse(
    '{"role":"user","content":"x","__proto__":{"polluted":[1]},"constructor":{"prototype":{}},"metadata":{"__proto__":null}}',
  ) as Message
  const given = [...list(), strange]
  const conversation = inMemory()
  await conversation.append(given)
  assert.ok(
    (await conversation.raw({ query: 'messages', last: 1 })).includes(JSON.stringify(strange)),
  )
  Object.defineProperty(Object.prototype, 'inherited', {
    value: { by: 'all' },
    enumerable: true,
    configurable: true,
  })
  try {
    await conversation.append(given)
  } finally {
    delete (Object.prototype as { inherited?: unknown }).inherited
  }
  assert.ok(!(await conversation.raw({ query: 'messages' })).includes('inherited'))
})

test('a getter in a long list is read once, when the call is made, also beside instances of classes', async () => {
  class Mine {
    readonly role = 'user'
    readonly content = 'of a class'
  }
  let reads = 0
  const conversation = inMemory()
  const appended = conversation.append([
    ...list(),
    {
      role: 'user',
      get content(): string {
        return `read ${++reads}`
      },
    },
    new Mine() as unknown as Message,
  ])
  assert.equal(reads, 1)
  await appended
  assert.equal(reads, 1)
  assert.deepEqual(
    (await conversation.messages({ last: 2 })).map(message => message.content),
    ['read 1', 'of a class'],
  )
})

test('calls made while a long list is being written wait for it, and it for those before', async t => {
  await everyWay(t, async conversation => {
    const done: string[] = []
    const note = (name: string) => () => void done.push(name)
    await Promise.all([
      conversation.append({ role: 'user', content: 'first' }).then(note('first')),
      conversation.append(list()).then(note('list')),
      conversation.append({ role: 'user', content: 'between' }).then(note('between')),
      conversation.append(list().values()).then(note('one by one')),
      conversation.append({ role: 'user', content: 'last' }).then(note('last')),
    ])
    assert.deepEqual(done, ['first', 'list', 'between', 'one by one', 'last'])
    const found = await conversation.messages()
    assert.equal(found.length, 2 * count + 3)
    assert.equal(found[count + 1]?.content, 'between')
    assert.equal(await conversation.version(), 5)
  })
})

test('messages that come one by one are taken as the loop comes by; an iterator that fails, or whose messages are refused, is closed and leaves nothing', async t => {
  await everyWay(t, async conversation => {
    let closed = 0
    let taken = 0
    function* messages(last: () => Message): Generator<Message> {
      try {
        for (const message of list()) {
          ++taken
          yield message
        }
        yield last()
        yield { role: 'user', content: 'never asked for' }
      } finally {
        ++closed
      }
    }
    const appended = conversation.append(
      messages(() => {
        throw new Error('no more')
      }),
    )
    assert.ok(taken < count)
    await assert.rejects(
      appended,
      (error: { code?: string; message: string; cause?: Error }) =>
        error.code === 'invalid_argument' && error.cause?.message === 'no more',
    )
    await assert.rejects(
      conversation.append(messages(() => ({ role: 'user', content: NaN as unknown as string }))),
      { code: 'invalid_argument', path: `[${count}].content` },
    )
    await assert.rejects(
      conversation.append(
        messages(() => ({ role: 'user', content: `${'x'.repeat(100_000)}\ud800` })),
      ),
      { code: 'invalid_argument', path: `[${count}].content` },
    )
    assert.equal(closed, 3)
    await assert.rejects(
      conversation.append(
        messages(() => ({ role: 'user', content: 'x' })),
        { description: new Map() as unknown as string },
      ),
      { code: 'invalid_argument' },
    )
    assert.equal(closed, 4)
    const unreadable = {
      [Symbol.iterator]: () => {
        throw new Error('mine')
      },
    } as unknown as Message[] // prettier-ignore
    await assert.rejects(conversation.append(unreadable), { code: 'invalid_argument' })
    assert.equal(await conversation.version(), 0)
    await conversation.append(new Set(list().slice(0, 2)))
    assert.equal((await conversation.messages()).length, 2)
  })
})
