import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { MemoryConversation, type Message, type Operation } from 'undertext'
import { changes, units } from '../../src/adapters/changes.js'
import { runs } from './values.js'

const say = (content: string): Message => ({ role: 'user', content })

function operations(before: string[], after: string[]): Operation[] {
  return changes(units(before), after, (i) => [say(after[i]!)])
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

// What is stored, and how it is read: B is two messages, C one message that is two items, D two messages that are two items.
const stored: Record<string, { contents: string[]; texts: string[] }> = {
  a: { contents: ['a'], texts: ['a'] },
  B: { contents: ['B0', 'B1'], texts: ['B'] },
  C: { contents: ['C0'], texts: ['c1', 'c2'] },
  D: { contents: ['D0', 'D1'], texts: ['d1', 'd2'] },
}

function read(contents: string[]): string[] {
  const texts: string[] = []
  for (let i = 0; i < contents.length; ) {
    const found = Object.values(stored).find((each) => each.contents.every((content, k) => contents[i + k] === content))
    texts.push(...(found?.texts ?? [contents[i]!]))
    i += found?.contents.length ?? 1
  }
  return texts
}

test('messages that are read together are kept together, replaced together and deleted together', () => {
  const before = fc.array(fc.constantFrom('a', 'B', 'C', 'D'), { maxLength: 8 })
  const after = fc.array(fc.constantFrom(['a'], ['B'], ['c1', 'c2'], ['c1'], ['d1', 'd2'], ['d2'], ['x']), { maxLength: 8 }).map((lists) => lists.flat())
  fc.assert(
    fc.property(before, after, (names, texts) => {
      const conversation = new MemoryConversation()
      const contents = names.flatMap((name) => stored[name]!.contents)
      if (contents.length > 0) conversation.append(contents.map(say))
      const found = names.map((name) => ({ texts: stored[name]!.texts, messageCount: stored[name]!.contents.length }))
      const made = changes(found, texts, (i) => (stored[texts[i]!]?.contents ?? [texts[i]!]).map(say))
      if (made.length > 0) conversation.apply(made)
      assert.deepEqual(read(conversation.messages().map(({ content }) => content as string)), texts)
      if (isDeepStrictEqual(names.flatMap((name) => stored[name]!.texts), texts)) assert.deepEqual(made, [])
    }),
    { ...runs, numRuns: 1000 },
  )
})

test('a long list that lost its beginning and got a new end is not stored again', () => {
  const before = Array.from({ length: 2000 }, (_, i) => `m${i}`)
  const made = operations(before, [...before.slice(500), 'new'])
  assert.equal(made.flatMap((each) => ('messages' in each ? each.messages : [])).length, 1)
})
