import { expect, test } from 'vitest';
import { jsonDiff } from './json_diff';

test('equal values differ in nothing, whatever order their members have', () => {
  expect(jsonDiff({ a: [1, { b: 'x' }], c: null }, { c: null, a: [1, { b: 'x' }] })).toEqual([]);
});

test('a value that changed is named by its path', () => {
  expect(jsonDiff({ system: [{ text: 'a' }, { text: 'b' }] }, { system: [{ text: 'a' }, { text: 'c' }] })).toEqual([{ path: 'system[1].text', before: 'b', after: 'c' }]);
});

test('members that came and went are whole', () => {
  expect(jsonDiff({ a: { x: 1 } }, { b: [2] })).toEqual([{ path: 'a', before: { x: 1 } }, { path: 'b', after: [2] }]);
});

test('items that are added at the end, or cut out of the middle, leave the others alone', () => {
  expect(jsonDiff({ m: [1, 2] }, { m: [1, 2, 3] })).toEqual([{ path: 'm[2]', after: 3 }]);
  expect(jsonDiff({ m: [1, 2, 3, 4] }, { m: [1, 4] })).toEqual([{ path: 'm[1]', before: 2 }, { path: 'm[2]', before: 3 }]);
  expect(jsonDiff({ m: ['a', 'a'] }, { m: ['a', 'a', 'a'] })).toEqual([{ path: 'm[2]', after: 'a' }]);
});

test('another kind of value is a change', () => {
  expect(jsonDiff({ content: 'x' }, { content: [{ text: 'x' }] })).toEqual([{ path: 'content', before: 'x', after: [{ text: 'x' }] }]);
  expect(jsonDiff({ n: 1 }, { n: '1' })).toEqual([{ path: 'n', before: 1, after: '1' }]);
  expect(jsonDiff({ n: null }, { n: {} })).toEqual([{ path: 'n', before: null, after: {} }]);
});

test('names that are no words are quoted, and those of every object are names too', () => {
  const odd = JSON.parse('{"a b":1,"__proto__":2,"toString":3}');
  expect(jsonDiff({}, odd).map(({ path }) => path)).toEqual(['["a b"]', '__proto__', 'toString']);
});
