import { expect, test } from 'vitest';
import { blocksOf, gist, textIn, webLink } from './blocks';

test('calls are read in every spelling', () => {
  const call = { kind: 'call', id: 'c1', name: 'look', arguments: '{"at":1}' };
  expect(blocksOf({ role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'look', arguments: { at: 1 } }] })).toEqual([call]);
  expect(blocksOf({ role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }] })).toEqual([call]);
  expect(blocksOf({ role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: { at: 1 } }] })).toEqual([call]);
});

test('results are read as tool messages and as parts of a user turn', () => {
  const result = { kind: 'result', callId: 'c1', isError: false, blocks: [{ kind: 'text', text: 'found' }] };
  expect(blocksOf({ role: 'tool', content: 'found', toolCallId: 'c1' })).toEqual([result]);
  expect(blocksOf({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'found' }] }] })).toEqual([result]);
});

test('words are looked for in all that is written, also in answers of tools', () => {
  const blocks = blocksOf({ role: 'tool', toolCallId: 'c1', content: 'found here' });
  expect(textIn(blocks)).toContain('found here');
  expect(textIn([{ kind: 'thinking', text: 'hm' }, { kind: 'call', id: 'c', name: 'look', arguments: '{"at":1}' }])).toBe('hm\n{"at":1}');
});

test('a picture is shown only out of the message itself', () => {
  const source = (part: object) => {
    const block = blocksOf({ role: 'user', content: [part as never] })[0];
    return block?.kind === 'image' ? block.source.kind : block?.kind;
  };
  expect(source({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } })).toBe('data');
  expect(source({ type: 'image_url', image_url: { url: 'data:image/jpeg;base64,AAAA' } })).toBe('data');
  expect(source({ type: 'image_url', image_url: { url: 'https://example.org/a.png' } })).toBe('link');
  expect(source({ type: 'image_url', image_url: 'javascript:alert(1)' })).toBe('unknown');
  expect(source({ type: 'image', source: { type: 'base64', media_type: 'text/html', data: 'AAAA' } })).toBe('unknown');
  expect(source({ type: 'image_url', image_url: { url: 'data:image/svg+xml,<svg onload=alert(1)>' } })).toBe('unknown');
});

test('only addresses of the web are links', () => {
  expect(webLink('https://example.org/a?b#c')).toBe('https://example.org/a?b#c');
  for (const text of ['javascript:alert(1)', ' https://x', 'data:text/html,x', 'http://', 'ftp://x', '//x']) expect(webLink(text)).toBeNull();
});

test('what is not known is kept as it is', () => {
  expect(blocksOf({ role: 'user', content: [{ type: 'hologram', x: 1 }, 7] })).toEqual([
    { kind: 'other', type: 'hologram', value: { type: 'hologram', x: 1 } },
    { kind: 'other', type: 'number', value: 7 },
  ]);
});

test('the gist is one line', () => {
  expect(gist({ role: 'user', content: 'a\n\n b' })).toBe('a b');
  expect(gist({ role: 'user', content: 'x'.repeat(500) }, 10)).toBe('xxxxxxxxx…');
});
