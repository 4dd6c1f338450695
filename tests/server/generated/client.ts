// A client whose types somebody else's generator made out of /openapi.json: makes a conversation, carries out six operations, reads blocks.
import assert from 'node:assert/strict'
import createClient from 'openapi-fetch'
import type { components, paths } from './api.js'

type Operation = components['schemas']['Operation']

const client = createClient<paths>({
  baseUrl: process.argv[2]!,
  querySerializer: { array: { style: 'form', explode: false } },
})
const made = await client.POST('/v1/conversations', {
  body: { id: 'generated', settings: { pairs: 'shrink', tokenLimit: 1_000_000 } },
})
assert.equal(made.data?.result.version, 0)

const at = { params: { path: { id: 'generated' } } } as const
const operations: Operation[] = [
  {
    operation: 'APPEND',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Read x.' },
    ],
  },
  {
    operation: 'APPEND',
    messages: [
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'a', name: 'read', arguments: { path: 'x' } }],
      },
      { role: 'tool', toolCallId: 'a', content: 'empty' },
      { role: 'assistant', content: 'It is empty.' },
    ],
  },
  { operation: 'INSERT', position: 1, messages: [{ role: 'user', content: 'Hello' }] },
  { operation: 'TRANSFORM', roles: ['user'], replaceText: { find: 'Read', with: 'Please read' } },
  { operation: 'MARK', indices: [0], mark: 'pinned' },
  { operation: 'TRUNCATE', keepLast: 4 },
]
for (const [index, operation] of operations.entries()) {
  const answer = await client.POST('/v1/conversations/{id}/operations', { ...at, body: operation })
  assert.ok(answer.data && 'version' in answer.data, JSON.stringify(answer.error))
  assert.equal(answer.data.version, index + 1)
  assert.equal(answer.data.operation, operation.operation)
}

const blocks = await client.GET('/v1/conversations/{id}/blocks', at)
const said = blocks.data!.result.flatMap(message =>
  message.blocks.map(block => {
    switch (block.kind) {
      case 'text':
        return `${message.role}: ${block.text}`
      case 'call':
        return `${message.role} calls ${block.name}(${JSON.stringify(block.arguments)})`
      case 'result':
        return `${message.role} answers ${block.callId}`
      default:
        return block.kind
    }
  }),
)
assert.deepEqual(said, [
  'system: Be brief.',
  'user: Please read x.',
  'assistant calls read({"path":"x"})',
  'tool answers a',
  'assistant: It is empty.',
])

const found = await client.GET('/v1/conversations/{id}/messages', {
  params: { path: at.params.path, query: { roles: ['user', 'tool'], last: 2 } },
})
assert.equal(found.data?.messages.length, 2)

// What the schema refuses does not compile; what fails has a code.
const wrong = await client.POST('/v1/conversations/{id}/operations', {
  ...at,
  // @ts-expect-error there is no keepMiddle
  body: { operation: 'TRUNCATE', keepMiddle: 1 },
})
const code: components['schemas']['ErrorCode'] | undefined = wrong.error?.error.code
assert.equal(code, 'invalid_argument')
assert.equal(wrong.error?.error.field, 'keepMiddle')

console.log(`${operations.length} operations, ${said.length} blocks`)
