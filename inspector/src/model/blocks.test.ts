import { expect, test } from 'vitest'
import type { Block, MediaBlock } from '../api/types'
import { argumentsText, gist, mediaSource, textIn, webLink } from './blocks'

const text = (words: string): Block => ({ kind: 'text', text: words })

test('words are looked for in all that is written, also in answers of tools', () => {
  expect(textIn([{ kind: 'result', callId: 'c1', blocks: [text('found here')] }])).toBe(
    'found here',
  )
  expect(
    textIn([
      { kind: 'reasoning', text: 'hm' },
      { kind: 'call', name: 'look', arguments: { at: 1 } },
    ]),
  ).toBe('hm\n{"at":1}')
  expect(
    textIn([
      {
        kind: 'call',
        type: 'mcp_call',
        name: 'look',
        arguments: {},
        byProvider: true,
        blocks: [text('found')],
      },
    ]),
  ).toBe('{}\nfound')
  expect(
    textIn([
      { kind: 'media', media: 'file', source: 'text', data: 'a page' },
      { kind: 'opaque', json: { x: 'deep' } },
    ]),
  ).toMatch(/a page\n.*deep/s)
})

test('a picture is shown only out of the message itself', () => {
  const shown = (part: Partial<MediaBlock>) =>
    mediaSource({ kind: 'media', media: 'image', source: 'url', data: '', ...part }).kind
  expect(shown({ source: 'base64', mime: 'image/png', data: 'AAAA' })).toBe('picture')
  expect(shown({ data: 'data:image/jpeg;base64,AAAA' })).toBe('picture')
  expect(shown({ data: 'https://example.org/a.png' })).toBe('link')
  expect(shown({ data: 'javascript:alert(1)' })).toBe('unshown')
  expect(shown({ source: 'base64', mime: 'text/html', data: 'AAAA' })).toBe('unshown')
  expect(shown({ source: 'base64', mime: 'image/png', data: '"><svg onload=alert(1)>' })).toBe(
    'unshown',
  )
  expect(shown({ source: 'base64', mime: 'image/png;x,', data: 'AAAA' })).toBe('unshown')
  expect(shown({ source: 'base64', data: 'AAAA' })).toBe('unshown')
  expect(shown({ data: 'data:image/svg+xml,<svg onload=alert(1)>' })).toBe('unshown')
  for (const data of ['https://example.org/a.png', 'data:image/png;base64,AAAA'])
    expect(shown({ source: 'file_id', data })).toBe('unshown')
})

test('other media are named, linked or read, and never played', () => {
  const shown = (part: Partial<MediaBlock>) =>
    mediaSource({ kind: 'media', media: 'audio', source: 'base64', data: 'AAAA', ...part })
  expect(shown({ mime: 'image/png' })).toEqual({ kind: 'unshown', note: '3 bytes' })
  expect(shown({ source: 'url', data: 'https://example.org/a.wav' })).toEqual({
    kind: 'link',
    url: 'https://example.org/a.wav',
  })
  expect(shown({ media: 'file', source: 'text', data: 'a page' })).toEqual({
    kind: 'text',
    text: 'a page',
  })
})

test('only addresses of the web are links', () => {
  expect(webLink('https://example.org/a?b#c')).toBe('https://example.org/a?b#c')
  for (const word of [
    'javascript:alert(1)',
    ' https://x',
    'data:text/html,x',
    'http://',
    'ftp://x',
    '//x',
  ])
    expect(webLink(word)).toBeNull()
})

test('arguments are the text that was given, or the value as JSON', () => {
  expect(argumentsText({ kind: 'call', arguments: '{ "at": 1 }' })).toBe('{ "at": 1 }')
  expect(argumentsText({ kind: 'call', arguments: {} })).toBe('{}')
})

test('the gist is one line', () => {
  expect(gist([text('a\n\n b')])).toBe('a b')
  expect(gist([text('x'.repeat(500))], 10)).toBe('xxxxxxxxx…')
  expect(
    gist([
      { kind: 'reasoning' },
      { kind: 'call', type: 'shell_call', name: 'shell', arguments: {} },
    ]),
  ).toBe('(reasoning) shell({})')
  expect(
    gist([
      {
        kind: 'result',
        blocks: [
          { kind: 'opaque', json: { ok: 1 } },
          { kind: 'opaque', type: 'hologram', json: {} },
        ],
      },
    ]),
  ).toBe('{"ok":1} [hologram]')
  expect(
    gist([{ kind: 'media', media: 'file', source: 'file_id', data: 'f', filename: 'a.pdf' }]),
  ).toBe('[a.pdf]')
})
