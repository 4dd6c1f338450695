import { expect, test } from 'vitest';
import type { Block, Row } from '../api/types';
import { nothingRedacted, redactor, sharedPage, type Redactions } from './share';

const row = (index: number, role: Row['role'], blocks: Block[]): Row => ({ index, ordinal: index, time: 0, tokens: 5, marks: [], standsFor: [], role, blocks, message: {} }) as unknown as Row;
const facts = { id: 'c', title: 'A <b>title</b>', version: 3, time: '2026-11-18' };
const page = (rows: Row[], chosen: Partial<Redactions> = {}) => sharedPage(facts, rows, { ...nothingRedacted, ...chosen });

const hostile = '</div><script>alert(1)</script><img src=x onerror=alert(2)>" \'';

test('what messages say is text, wherever it stands', () => {
  const everywhere = page([
    row(0, 'user', [{ kind: 'text', text: hostile }]),
    row(1, 'assistant', [{ kind: 'reasoning', text: hostile }, { kind: 'call', callId: 'a', name: hostile, arguments: hostile }]),
    row(2, 'tool', [{ kind: 'result', callId: 'a', blocks: [{ kind: 'text', text: hostile }] }]),
    row(3, 'user', [{ kind: 'media', media: 'file', source: 'text', data: hostile, filename: hostile }, { kind: 'opaque', type: hostile, json: { hostile } }]),
  ]);
  expect(everywhere).not.toMatch(/<script|<img|onerror=alert\(2\)>(?!&)/);
  expect(everywhere.match(/&lt;script&gt;alert\(1\)/g)?.length).toBe(9);
  expect(everywhere).toContain('A &lt;b&gt;title&lt;/b&gt;');
  expect(everywhere).toContain("default-src 'none'");
});

test('a picture of the message is shown, one from elsewhere is not fetched', () => {
  const shown = page([row(0, 'user', [{ kind: 'media', media: 'image', source: 'base64', mime: 'image/png', data: 'AAAA' }])]);
  expect(shown).toContain('src="data:image/png;base64,AAAA"');
  const elsewhere = page([row(0, 'user', [{ kind: 'media', media: 'image', source: 'url', data: 'https://[::1]/a.png' }])]);
  expect(elsewhere).not.toMatch(/<img|::1/);
});

test('of what is left out there is no trace', () => {
  const rows = [
    row(0, 'system', [{ kind: 'text', text: 'alpha' }]),
    row(1, 'assistant', [{ kind: 'reasoning', text: 'beta' }, { kind: 'call', callId: 'a', name: 'read', arguments: { path: 'gamma' } }]),
    row(2, 'tool', [{ kind: 'result', callId: 'a', blocks: [{ kind: 'text', text: 'delta' }] }]),
    row(3, 'user', [{ kind: 'media', media: 'image', source: 'base64', mime: 'image/png', data: 'epsilon0' }, { kind: 'text', text: 'Zeta and zeta' }]),
  ];
  for (const word of ['alpha', 'beta', 'gamma', 'delta', 'epsilon0', 'Zeta']) expect(page(rows)).toContain(word);
  const none = page(rows, { system: true, reasoning: true, arguments: true, results: true, media: true, words: ['zeta', ''] });
  expect(none).not.toMatch(/alpha|beta|gamma|delta|epsilon0|zeta/i);
  expect(none).toContain('3 messages of version 3');
});

test.each([
  ['sk-ant-api03-AbCdEfGhIjKlMnOpQrStUv', 'a key'],
  ['sk-proj-AbCdEfGhIjKlMnOpQrStUv', 'a key'],
  ['ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789', 'a token'],
  ['AKIAABCDEFGHIJKLMNOP', 'an id'],
  ['hunter2hunter2', 'password: '],
  ['abcdefghijklmnop', 'Authorization: Bearer '],
  ['somebody@mail.example', 'mail to '],
])('%s is a secret', (secret, before) => {
  const clean = redactor({ ...nothingRedacted, secrets: true })(`${before}${before.endsWith(' ') ? '' : ' '}${secret} and more`);
  expect(clean).not.toContain(secret);
  expect(clean).toContain('and more');
});

test('what is none stays', () => {
  const plain = 'The tokenizer counts 42,400 tokens of src/rate.c; see task-list and disk-usage.';
  expect(redactor({ ...nothingRedacted, secrets: true, words: ['(a+)+$'] })(plain)).toBe(plain);
});
