import { expect, test } from 'vitest'
import { jsonDiff } from './json_diff'

test('equal values differ in nothing, whatever order their members have', () => {
  expect(jsonDiff({ a: [1, { b: 'x' }], c: null }, { c: null, a: [1, { b: 'x' }] })).toEqual([])
})

test('a value that changed is named by its path', () => {
  expect(
    jsonDiff(
      { system: [{ text: 'a' }, { text: 'b' }] },
      { system: [{ text: 'a' }, { text: 'c' }] },
    ),
  ).toEqual([{ path: 'system[1].text', before: 'b', after: 'c' }])
})

test('members that came and went are whole', () => {
  expect(jsonDiff({ a: { x: 1 } }, { b: [2] })).toEqual([
    { path: 'a', before: { x: 1 } },
    { path: 'b', after: [2] },
  ])
})

test('items that are added at the end, or cut out of the middle, leave the others alone', () => {
  expect(jsonDiff({ m: [1, 2] }, { m: [1, 2, 3] })).toEqual([{ path: 'm[2]', after: 3 }])
  expect(jsonDiff({ m: [1, 2, 3, 4] }, { m: [1, 4] })).toEqual([
    { path: 'm[1]', before: 2 },
    { path: 'm[2]', before: 3 },
  ])
  expect(jsonDiff({ m: ['a', 'a'] }, { m: ['a', 'a', 'a'] })).toEqual([
    { path: 'm[2]', after: 'a' },
  ])
})

test('items that stay in the middle of a list are found again', () => {
  expect(jsonDiff(['a', 'b', 'c', 'd'], ['x', 'b', 'y', 'z', 'd', 'e'])).toEqual([
    { path: '[0]', before: 'a', after: 'x' },
    { path: '[2]', before: 'c', after: 'y' },
    { path: '[3]', after: 'z' },
    { path: '[5]', after: 'e' },
  ])
})

test('an item is not compared with one of another role, type or name', () => {
  const [asked, said] = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ]
  expect(jsonDiff([asked], [said])).toEqual([
    { path: '[0]', before: asked },
    { path: '[0]', after: said },
  ])
  expect(jsonDiff([asked], [{ ...asked, content: 'c' }])).toEqual([
    { path: '[0].content', before: 'a', after: 'c' },
  ])
})

// Against a plain model: an item that is named as gone or come is in no other place of what is left.
test('what went and came makes the one list out of the other, for random lists', () => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
  let state = seed
  const random = (below: number) => (state = (state * 48271 + 11) % 2147483647) % below
  const list = () => Array.from({ length: random(8) }, () => random(4))
  for (let i = 0; i < 500; ++i) {
    const [before, after] = [list(), list()]
    const changes = jsonDiff(before, after)
    const placeOf = ({ path }: { path: string }) => Number(path.slice(1, -1))
    const come = new Set(changes.filter(change => 'after' in change).map(placeOf))
    for (const change of changes)
      if ('after' in change) expect(after[placeOf(change)], `seed ${seed}, ${i}`).toBe(change.after)
    const kept = after.filter((_, at) => !come.has(at))
    const went = changes.filter(change => 'before' in change).map(change => change.before)
    expect([...kept, ...went].sort(), `seed ${seed}, ${i}`).toEqual([...before].sort())
  }
})

test('another kind of value is a change', () => {
  expect(jsonDiff({ content: 'x' }, { content: [{ text: 'x' }] })).toEqual([
    { path: 'content', before: 'x', after: [{ text: 'x' }] },
  ])
  expect(jsonDiff({ n: 1 }, { n: '1' })).toEqual([{ path: 'n', before: 1, after: '1' }])
  expect(jsonDiff({ n: null }, { n: {} })).toEqual([{ path: 'n', before: null, after: {} }])
})

test('names that are no words are quoted, and those of every object are names too', () => {
  const odd = JSON.parse('{"a b":1,"__proto__":2,"toString":3}')
  expect(jsonDiff({}, odd).map(({ path }) => path)).toEqual(['["a b"]', '__proto__', 'toString'])
})
