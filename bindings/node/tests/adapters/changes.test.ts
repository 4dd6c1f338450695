import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryConversation, type Message, type Operation } from 'undertext'
import { changes } from '../../src/adapters/changes.js'
import { runs } from './values.js'

const say = (content: string): Message => ({ role: 'user', content })

function operations(before: string[], after: string[]): Operation[] {
  return changes(before, after, (i) => say(after[i]!))
}

function names(before: string, after: string): string[] {
  return operations([...before], [...after]).map(({ operation }) => operation)
}

test('each usual change of a list is one operation', () => {
  assert.deepEqual(names('abc', 'abc'), [])
  assert.deepEqual(names('', 'ab'), ['APPEND'])
  assert.deepEqual(names('ab', 'abcd'), ['APPEND'])
  assert.deepEqual(names('abc', 'abX'), ['REPLACE'])
  assert.deepEqual(names('abcd', 'ab'), ['DELETE'])
  assert.deepEqual(names('abcd', ''), ['DELETE'])
  assert.deepEqual(names('abcd', 'cd'), ['DELETE'])
  assert.deepEqual(names('abcd', 'cde'), ['DELETE', 'APPEND'])
  assert.deepEqual(names('abcd', 'abXcd'), ['INSERT'])
  assert.deepEqual(names('abcd', 'abX'), ['REPLACE', 'DELETE'])
})

test('after the operations the view reads the other list, whatever the two are', () => {
  const list = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 12 })
  fc.assert(
    fc.property(list, list, (before, after) => {
      const conversation = new MemoryConversation()
      if (before.length > 0) conversation.append(before.map(say))
      const made = operations(before, after)
      if (made.length > 0) conversation.apply(made)
      assert.deepEqual(
        conversation.messages().map(({ content }) => content),
        after,
      )
    }),
    { ...runs, numRuns: 1000 },
  )
})

test('a long list that lost its beginning and got a new end is not stored again', () => {
  const before = Array.from({ length: 2000 }, (_, i) => `m${i}`)
  const made = operations(before, [...before.slice(500), 'new'])
  assert.equal(made.flatMap((each) => ('messages' in each ? each.messages : [])).length, 1)
})
