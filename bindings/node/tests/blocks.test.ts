// What messages say, block by block.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  inMemory,
  MemoryConversation,
  openStore,
  readBlocks,
  type Block,
  type Message,
} from 'undertext'

const call = (callId: string, given: object | string, name = 'f'): Block => ({
  kind: 'call',
  callId,
  name,
  arguments: given as never,
})
const asking = (members: object): Message => ({ role: 'assistant', content: null, ...members })

const probes: [name: string, message: Message, blocks: Block[]][] = [
  [
    'a call as a part comes before those that are listed',
    asking({
      content: [{ type: 'tool_use', id: 'b', name: 'f', input: { x: 1 } }],
      toolCalls: [{ id: 'a', name: 'f', arguments: { x: 2 } }],
    }),
    [call('b', { x: 1 }), call('a', { x: 2 })],
  ],
  [
    'a call that is a part and listed is one call',
    asking({
      content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }],
      toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }],
    }),
    [call('a', {})],
  ],
  [
    'arguments that are an empty text are none',
    asking({ toolCalls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] }),
    [call('a', {})],
  ],
  [
    'of `input` and `args` the first counts',
    asking({
      toolCalls: [{ id: 'a', name: 'f', args: { from: 'args' }, input: { from: 'input' } }],
    }),
    [call('a', { from: 'input' })],
  ],
  [
    'calls are read from either list, also where one is empty',
    asking({
      toolCalls: [],
      tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{"y":1}' } }],
    }),
    [call('x', '{"y":1}')],
  ],
  [
    'a result has blocks of its own',
    { role: 'tool', toolCallId: 'a', content: 'done' },
    [{ kind: 'result', callId: 'a', blocks: [{ kind: 'text', text: 'done' }] }],
  ],
  [
    'thoughts and pictures are no text',
    asking({
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
        { type: 'of_tomorrow', x: 1 },
      ],
    }),
    [
      { kind: 'reasoning', text: 'hm' },
      {
        kind: 'media',
        media: 'image',
        source: 'base64',
        data: 'AAAA',
        mime: 'image/png',
        detail: 'low',
      },
      { kind: 'opaque', type: 'of_tomorrow', json: { type: 'of_tomorrow', x: 1 } },
    ],
  ],
]

for (const [name, message, blocks] of probes) {
  test(`${name}, wherever the message is read`, async () => {
    await using store = await openStore('memory:')
    const conversations = [new MemoryConversation(), inMemory(), await store.open('chat')]
    for (const conversation of conversations) {
      await conversation.append([{ role: 'user', content: 'q' }, message])
      assert.deepEqual(await conversation.blocks({ start: 1 }), [
        { ordinal: 1, role: message.role, blocks },
      ])
    }
    assert.deepEqual(readBlocks(message), blocks)
    assert.deepEqual(readBlocks(JSON.stringify(message)), blocks)
  })
}

test('blocks takes the filters of messages', () => {
  const conversation = new MemoryConversation()
  conversation.append([
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'two' },
    { role: 'user', content: 'three' },
  ])
  conversation.delete({ indices: [2] })
  const ordinals = (query: object): number[] =>
    conversation.blocks(query).map(({ ordinal }) => ordinal)
  assert.deepEqual(
    [ordinals({}), ordinals({ all: true, role: 'user' }), ordinals({ atVersion: 1, last: 1 })],
    [[0, 1], [0, 2], [2]],
  )
  assert.deepEqual(conversation.view(1).blocks({ contains: 'three' }), [
    { ordinal: 2, role: 'user', blocks: [{ kind: 'text', text: 'three' }] },
  ])
})

test('what is no message has no blocks', () => {
  assert.throws(() => readBlocks({ role: 'else', content: 'x' } as never), {
    name: 'UndertextError',
    code: 'invalid_argument',
    field: 'role',
  })
  assert.throws(() => readBlocks('[]'), { name: 'UndertextError', code: 'invalid_argument' })
})
