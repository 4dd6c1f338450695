import { expect, test } from 'vitest'
import { pieces } from './links'

test('addresses are found, without the full stop behind them, and nothing of the text is lost', () => {
  const text = 'See https://example.org/a, and (http://b.example/?q=1). <b>no</b>'
  const found = pieces(text)
  expect(found.filter(piece => piece.href).map(piece => piece.href)).toEqual([
    'https://example.org/a',
    'http://b.example/?q=1',
  ])
  expect(found.map(piece => piece.text).join('')).toBe(text)
})

test('nothing else becomes a link', () => {
  for (const text of [
    'javascript:alert(1)',
    'JaVaScRiPt://x',
    'data:text/html,x',
    'file:///etc/passwd',
    'https://',
  ]) {
    expect(pieces(text)).toEqual([{ text, href: null }])
  }
})
