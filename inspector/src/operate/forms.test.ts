import { expect, test } from 'vitest'
import { operations } from '../api/types'
import {
  asksModel,
  anyForm,
  body,
  FormError,
  formNamed,
  forms,
  indices,
  initialValues,
  write,
  Raw,
} from './forms'

const made = (name: string, values: Record<string, string>) => {
  const form = formNamed(name)
  return JSON.parse(body(form, initialValues(form, values), 7)) as Record<string, unknown>
}

test('indices are numbers and ranges', () => {
  expect(indices({ indices: '3, 5-8 5' })).toEqual([3, 5, 6, 7, 8])
  for (const text of ['', 'x', '1.5', '-1', '8-5', '1-'])
    expect(() => indices({ indices: text })).toThrow(FormError)
})

test('every operation says which version it expects', () => {
  expect(made('UNDO', {})).toEqual({ operation: 'UNDO', expectedVersion: 7 })
  expect(made('APPEND', { content: 'hi', description: ' why ' })).toEqual({
    operation: 'APPEND',
    messages: [{ role: 'user', content: 'hi' }],
    expectedVersion: 7,
    description: 'why',
  })
})

test('a strategy is sent with the arguments it has, and no others', () => {
  expect(made('COMPRESS', { way: 'keep_recent', n: '4', keep: '9' })).toEqual({
    operation: 'COMPRESS',
    strategy: { name: 'keep_recent', n: 4 },
    expectedVersion: 7,
  })
  expect(made('COMPRESS', { way: 'smart_summary', targetTokens: '500' })).toEqual({
    operation: 'COMPRESS',
    strategy: { name: 'smart_summary' },
    targetTokens: 500,
    expectedVersion: 7,
  })
  expect(made('COMPRESS', { way: 'smart_summary', summariser: 'haiku' })).toEqual({
    operation: 'COMPRESS',
    strategy: { name: 'smart_summary', summariser: 'haiku' },
    expectedVersion: 7,
  })
  expect(made('COMPRESS', { way: 'hand', indices: '1-2', summary: 's' })).toEqual({
    operation: 'COMPRESS',
    indices: [1, 2],
    summary: { role: 'user', content: 's' },
    expectedVersion: 7,
  })
})

test('hidden messages are named by their ordinals', () => {
  expect(made('SHOW', { ordinals: '9, 2-3' })).toEqual({
    operation: 'SHOW',
    ordinals: [9, 2, 3],
    expectedVersion: 7,
  })
})

test('only a summary by a model waits for one', () => {
  expect(asksModel(formNamed('COMPRESS'), { way: 'smart_summary', summariser: 'haiku' })).toBe(true)
  expect(asksModel(formNamed('COMPRESS'), { way: 'smart_summary', summariser: '' })).toBe(false)
  expect(asksModel(formNamed('COMPRESS'), { way: 'keep_recent', summariser: 'haiku' })).toBe(false)
})

test('a message written as JSON goes out byte for byte', () => {
  const text = '{"role":"user","content":"x","n":1.50e1}'
  expect(body(formNamed('REPLACE'), { index: '2', message: text }, 7)).toBe(
    `{"operation":"REPLACE","index":2,"message":${text},"expectedVersion":7}`,
  )
  expect(() => body(formNamed('REPLACE'), { index: '2', message: '{' }, 7)).toThrow(FormError)
  expect(write({ a: new Raw('1.0'), b: undefined, c: ['"'] })).toBe('{"a":1.0,"c":["\\""]}')
})

test('any operation can be written as JSON, and expects the version unless it says which', () => {
  const sent = (text: string) => JSON.parse(body(anyForm, { operation: text }, 7)) as unknown
  expect(sent('{"operation":"UNDO"}')).toEqual({ operation: 'UNDO', expectedVersion: 7 })
  expect(sent('{"operation":"UNDO","expectedVersion":3}')).toEqual({
    operation: 'UNDO',
    expectedVersion: 3,
  })
  expect(sent('[{"operation":"UNDO"}]')).toEqual([{ operation: 'UNDO' }])
})

test('every operation of the schema has a form, with every member that is needed', () => {
  expect(forms.map(form => form.name)).toEqual(operations.map(shape => shape.name))
  for (const shape of operations) {
    const asked = new Set(formNamed(shape.name).fields.map(field => field.name))
    for (const member of shape.members)
      if (member.required && member.type !== 'Message[]') expect([...asked]).toContain(member.name)
  }
})

test('what a form sends has the members of the schema and no others', () => {
  const filled: Record<string, string> = {
    content: 'x',
    indices: '0',
    index: '0',
    ordinals: '0',
    at: '1',
    mark: 'm',
    message: '{}',
    position: '0',
    request: '{}',
    targetBatch: '0',
    targetBatchIndex: '0',
    version: '0',
  }
  for (const shape of operations) {
    const allowed = [
      'operation',
      'expectedVersion',
      'description',
      ...shape.members.map(member => member.name),
    ]
    expect(allowed).toEqual(expect.arrayContaining(Object.keys(made(shape.name, filled))))
  }
})

test('members of which one is given are asked for by a choice', () => {
  expect(made('TRANSFORM', { indices: '1-2', replaceText: '{"find":"a","with":"b"}' })).toEqual({
    operation: 'TRANSFORM',
    indices: [1, 2],
    replaceText: { find: 'a', with: 'b' },
    expectedVersion: 7,
  })
  expect(
    made('TRANSFORM', {
      choice0: 'roles',
      roles: 'user, tool',
      choice1: 'setMetadata',
      setMetadata: '{"k":1}',
    }),
  ).toEqual({
    operation: 'TRANSFORM',
    roles: ['user', 'tool'],
    setMetadata: { k: 1 },
    expectedVersion: 7,
  })
  expect(() => made('TRANSFORM', { choice0: 'roles', roles: 'nobody' })).toThrow(FormError)
})

test('lists, words and flags are sent as what they are', () => {
  expect(made('FILTER', { roles: 'user', contentContains: 'one thing\nanother' })).toEqual({
    operation: 'FILTER',
    roles: ['user'],
    contentContains: ['one thing', 'another'],
    expectedVersion: 7,
  })
  expect(made('END_BATCH', { targetBatch: '1' })).toEqual({
    operation: 'END_BATCH',
    targetBatch: 1,
    carry: ['assistant'],
    expectedVersion: 7,
  })
  expect(made('CLEAR', { keepSystemMessage: 'no' })).toEqual({
    operation: 'CLEAR',
    keepSystemMessage: false,
    expectedVersion: 7,
  })
  expect(made('TRUNCATE', { keepLast: '', range: '{"start":1,"end":2}', role: 'user' })).toEqual({
    operation: 'TRUNCATE',
    range: { start: 1, end: 2 },
    role: 'user',
    expectedVersion: 7,
  })
})
