import { expect, test } from 'vitest';
import { asksModel, anyForm, body, FormError, formNamed, forms, indices, initialValues, write, Raw } from './forms';

const made = (name: string, values: Record<string, string>) => {
  const form = formNamed(name);
  return JSON.parse(body(form, initialValues(form, values), 7)) as Record<string, unknown>;
};

test('indices are numbers and ranges', () => {
  expect(indices({ indices: '3, 5-8 5' })).toEqual([3, 5, 6, 7, 8]);
  for (const text of ['', 'x', '1.5', '-1', '8-5', '1-']) expect(() => indices({ indices: text })).toThrow(FormError);
});

test('every operation says which version it expects', () => {
  expect(made('UNDO', {})).toEqual({ operation: 'UNDO', expectedVersion: 7 });
  expect(made('APPEND', { content: 'hi', description: ' why ' })).toEqual({ operation: 'APPEND', messages: [{ role: 'user', content: 'hi' }], expectedVersion: 7, description: 'why' });
});

test('a strategy is sent with the arguments it has, and no others', () => {
  expect(made('COMPRESS', { way: 'keep_recent', n: '4', keep: '9' })).toEqual({ operation: 'COMPRESS', strategy: { name: 'keep_recent', n: 4 }, expectedVersion: 7 });
  expect(made('COMPRESS', { way: 'smart_summary', targetTokens: '500' })).toEqual({ operation: 'COMPRESS', strategy: { name: 'smart_summary' }, targetTokens: 500, expectedVersion: 7 });
  expect(made('COMPRESS', { way: 'smart_summary', summariser: 'haiku' })).toEqual({ operation: 'COMPRESS', strategy: { name: 'smart_summary', summariser: 'haiku' }, expectedVersion: 7 });
  expect(made('COMPRESS', { way: 'hand', indices: '1-2', summary: 's' })).toEqual({ operation: 'COMPRESS', indices: [1, 2], summary: { role: 'user', content: 's' }, expectedVersion: 7 });
});

test('hidden messages are named by their ordinals', () => {
  expect(made('SHOW', { ordinals: '9, 2-3' })).toEqual({ operation: 'SHOW', ordinals: [9, 2, 3], expectedVersion: 7 });
});

test('only a summary by a model waits for one', () => {
  expect(asksModel(formNamed('COMPRESS'), { way: 'smart_summary', summariser: 'haiku' })).toBe(true);
  expect(asksModel(formNamed('COMPRESS'), { way: 'smart_summary', summariser: '' })).toBe(false);
  expect(asksModel(formNamed('COMPRESS'), { way: 'keep_recent', summariser: 'haiku' })).toBe(false);
});

test('a message written as JSON goes out byte for byte', () => {
  const text = '{"role":"user","content":"x","n":1.50e1}';
  expect(body(formNamed('REPLACE'), { index: '2', message: text }, 7)).toBe(`{"operation":"REPLACE","index":2,"message":${text},"expectedVersion":7}`);
  expect(() => body(formNamed('REPLACE'), { index: '2', message: '{' }, 7)).toThrow(FormError);
  expect(write({ a: new Raw('1.0'), b: undefined, c: ['"'] })).toBe('{"a":1.0,"c":["\\""]}');
});

test('any operation can be written as JSON, and expects the version unless it says which', () => {
  const sent = (text: string) => JSON.parse(body(anyForm, { operation: text }, 7)) as unknown;
  expect(sent('{"operation":"UNDO"}')).toEqual({ operation: 'UNDO', expectedVersion: 7 });
  expect(sent('{"operation":"UNDO","expectedVersion":3}')).toEqual({ operation: 'UNDO', expectedVersion: 3 });
  expect(sent('[{"operation":"UNDO"}]')).toEqual([{ operation: 'UNDO' }]);
});

test('no two forms have one name', () => {
  expect(new Set(forms.map((form) => form.name)).size).toBe(forms.length);
});
