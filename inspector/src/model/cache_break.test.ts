import { expect, test } from 'vitest';
import type { Json } from '../api/types';
import { cacheBreak } from './cache_break';

const mark = { cache_control: { type: 'ephemeral' } };
const words = (text: string, more: object = {}) => ({ type: 'text', text, ...more });
const user = (content: Json) => ({ role: 'user', content });
const assistant = (content: Json) => ({ role: 'assistant', content });

function request(more: object = {}): Json {
  return {
    model: 'm',
    messages: [user('Hi'), assistant([words('Hello.')]), user('Go on')],
    system: [words('Be brief.'), words('The day is Monday.')],
    tools: [{ name: 'read', description: 'Reads.', input_schema: { type: 'object', properties: { path: { type: 'string' } } } }],
    max_tokens: 100,
    ...more,
  } as Json;
}

function broken(dialect: string, before: Json, after: Json) {
  const found = cacheBreak(dialect, before, after);
  if (found.kind !== 'broken') throw new Error(`it is ${found.kind}`);
  return { ...found, ...found.at };
}

test('a request is the same as itself, whatever order its members have', () => {
  const { model, ...rest } = request() as Record<string, Json>;
  const found = cacheBreak('anthropic', request(), { max_tokens: 5, ...rest, model } as Json);
  expect(found).toMatchObject({ kind: 'same' });
});

test('messages that are added break nothing, and begin where the earlier request ended', () => {
  const longer = request({ messages: [user('Hi'), assistant([words('Hello.')]), user('Go on'), assistant('Yes.')] });
  expect(cacheBreak('anthropic', request(), longer)).toMatchObject({ kind: 'extended', path: 'messages[3]' });
});

test('a block that is added to the last message is named', () => {
  const longer = request({ messages: [user('Hi'), assistant([words('Hello.')]), user([words('Go on'), words('please')])] });
  expect(cacheBreak('anthropic', request(), longer)).toMatchObject({ kind: 'extended', path: 'messages[2].content[1]' });
});

test('what ends earlier can still be read from the cache', () => {
  expect(cacheBreak('anthropic', request(), request({ messages: [user('Hi')] }))).toMatchObject({ kind: 'shortened', path: 'messages[1]' });
});

test('markers that move, and texts that become lists for them, break nothing', () => {
  const marked = request({ messages: [user('Hi'), assistant([words('Hello.')]), user([words('Go on', mark)])], system: [words('Be brief.'), words('The day is Monday.', mark)] });
  const later = request({ messages: [user('Hi'), assistant([words('Hello.')]), user('Go on'), assistant('Yes.'), user([words('Now', mark)])] });
  expect(cacheBreak('anthropic', marked, later)).toMatchObject({ kind: 'extended', path: 'messages[3]' });
});

test.each([
  ['tools[0].description', request({ tools: [{ name: 'read', description: 'Reads it.', input_schema: {} }] })],
  ['system[1].text', request({ system: [words('Be brief.'), words('The day is Tuesday.')] })],
  ['messages[1].content[0].text', request({ messages: [user('Hi'), assistant([words('Hallo.')]), user('Go on')] })],
  ['messages[1].role', request({ messages: [user('Hi'), user('Go on')] })],
  ['model', request({ model: 'another' })],
  ['thinking.type', request({ thinking: { type: 'enabled', budget_tokens: 1024 } })],
])('%s is named where it breaks the cache', (path, after) => {
  expect(broken('anthropic', request(), after).path).toBe(path);
});

test('tools come before the system, and the system before messages, wherever they are written', () => {
  const after = request({ messages: [user('Ho')], system: 'Otherwise', tools: [] });
  expect(broken('anthropic', request(), after).path).toBe('tools');
  expect(broken('anthropic', request({ tools: [] }), after).path).toBe('system[0].text');
});

test('the byte is counted in UTF-8, of the value and of the whole', () => {
  const of = (text: string) => ({ model: 'm', messages: [{ role: 'user', content: text }] });
  const found = broken('openai_chat', of('é😀 one'), of('é😀 two'));
  expect(found).toMatchObject({ path: 'messages[0].content', byteInValue: 7, same: 'é😀 ', before: 'one', after: 'two' });
  expect(found.equalBytes).toBe(new TextEncoder().encode('{"messages":[{"role":"user","content":"é😀 ').length);
});

test('a pair of surrogates is not taken apart', () => {
  const of = (text: string) => ({ messages: [{ role: 'user', content: text }] });
  expect(broken('openai_chat', of('a😀'), of('a😁'))).toMatchObject({ byteInValue: 1, same: 'a', before: '😀', after: '😁' });
});

test('keys in another order are another text, and so a break', () => {
  const tool = (properties: object) => request({ tools: [{ name: 'read', input_schema: { properties } }] });
  expect(broken('anthropic', tool({ a: {}, b: {} }), tool({ b: {}, a: {} }))).toMatchObject({ path: 'tools[0].input_schema.properties.b', was: 'tools[0].input_schema.properties.a' });
});

test('a tool that goes breaks what is behind it', () => {
  const tool = (name: string) => ({ name, description: name });
  const found = broken('anthropic', request({ tools: [tool('a'), tool('b')] }), request({ tools: [tool('a')] }));
  expect(found).toMatchObject({ path: 'system[0].type', was: 'tools[1].name' });
});

test('each dialect has its own order', () => {
  const of = (instructions: string, tool: string, input: string) => ({ input, tools: [{ name: tool }], instructions });
  expect(broken('openai_responses', of('a', 'a', 'a'), of('b', 'b', 'b')).path).toBe('instructions');
  expect(broken('openai_responses', of('a', 'a', 'a'), of('a', 'b', 'b')).path).toBe('tools[0].name');
  expect(broken('openai_responses', of('a', 'a', 'a'), of('a', 'a', 'b')).path).toBe('input[0].content');
  const gemini = (system: string, said: string) => ({ contents: [{ parts: [{ text: said }] }], system_instruction: { parts: [{ text: system }] } });
  expect(broken('gemini', gemini('a', 'a'), gemini('b', 'b')).path).toBe('system_instruction.parts[0].text');
  expect(broken('gemini', gemini('a', 'a'), gemini('a', 'b')).path).toBe('contents[0].parts[0].text');
});

test('ids of items are not read by the model, but references by id are', () => {
  const of = (id: string, text: string) => ({ input: [{ type: 'message', id, status: 'completed', content: text }] });
  expect(cacheBreak('openai_responses', of('msg_1', 'a'), of('msg_2', 'a')).kind).toBe('same');
  expect(broken('openai_responses', of('msg_1', 'a'), of('msg_2', 'b')).path).toBe('input[0].content');
  const reference = (id: string) => ({ input: [{ type: 'item_reference', id }] });
  expect(broken('openai_responses', reference('a'), reference('b')).path).toBe('input[0].id');
});

test('a request that holds only what is new is not compared', () => {
  const next = { input: 'more', previous_response_id: 'resp_1' };
  expect(cacheBreak('openai_responses', { input: 'first' }, next)).toEqual({ kind: 'reference', path: 'previous_response_id' });
});

test('a dialect without an order, and what is no object, is said to be unknown', () => {
  expect(cacheBreak('', request(), request()).kind).toBe('unknown');
  expect(cacheBreak('anthropic', null, request()).kind).toBe('unknown');
});

// Against a plain model: the canonical texts of both, compared character by character.
test('the equal bytes are those of the texts, for random requests', () => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  let state = seed;
  const random = (below: number) => (state = (state * 48271 + 11) % 2147483647) % below;
  const list = () => Array.from({ length: 1 + random(4) }, () => ({ role: 'user', content: 'ab😀é'.slice(0, random(6)) + random(2) }));
  for (let i = 0; i < 300; ++i) {
    const [a, b] = [list(), list()];
    const found = cacheBreak('openai_chat', { messages: a }, { messages: b });
    const [old, now] = [a, b].map((messages) => Array.from(`{"messages":${JSON.stringify(messages)}`.slice(0, -2))) as [string[], string[]];
    let common = 0;
    while (common < Math.min(old.length, now.length) && old[common] === now[common]) ++common;
    const size = new TextEncoder().encode(now.slice(0, common).join('')).length;
    const isPrefix = common === old.length || common === now.length;
    expect(found.kind === 'broken', `seed ${seed}, ${i}`).toBe(!isPrefix);
    if ('equalBytes' in found) expect(found.equalBytes, `seed ${seed}, ${i}`).toBe(size);
  }
});
