import { expect, test } from 'vitest';
import type { Message, Row } from '../api/types';
import { fold, foldReach } from './pairs';

const row = (index: number, message: Message): Row => ({ index, ordinal: index + 100, time: 0, tokens: 1, marks: [], standsFor: [], message });
const call = (index: number, ...ids: string[]) => row(index, { role: 'assistant', content: '', toolCalls: ids.map((id) => ({ id, name: 't' })) });
const answer = (index: number, id: string) => row(index, { role: 'tool', content: id, toolCallId: id });
const folded = (rows: Row[]) => [...fold(rows).foldedInto];

test('answers are folded into the message that asked, parallel ones too', () => {
  expect(folded([call(0, 'a', 'b'), answer(1, 'a'), answer(2, 'b')])).toEqual([[1, 0], [2, 0]]);
});

test('an answer without its call, or a second answer, stands by itself', () => {
  expect(folded([answer(0, 'a')])).toEqual([]);
  expect(folded([call(0, 'a'), answer(1, 'a'), answer(2, 'a')])).toEqual([[1, 0]]);
});

test('an id that is used again belongs to the newer call', () => {
  expect(folded([call(0, 'a'), answer(1, 'a'), call(2, 'a'), answer(3, 'a')])).toEqual([[1, 0], [3, 2]]);
});

test('an answer far away is shown where it stands', () => {
  expect(folded([call(0, 'a'), answer(foldReach + 1, 'a')])).toEqual([]);
});

test('a turn that says more than the answers stands by itself', () => {
  const result = { type: 'tool_result', tool_use_id: 'a', content: 'x' };
  const ask = row(0, { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input: {} }] });
  expect(folded([ask, row(1, { role: 'user', content: [result] })])).toEqual([[1, 0]]);
  expect(folded([ask, row(1, { role: 'user', content: [result, { type: 'text', text: 'and?' }] })])).toEqual([]);
});
