import { expect, test } from 'vitest'
import { inlineOf, markdown, type Inline, type Part } from './markdown'

// All text in it, in order.
const said = (inside: Inline[]): string =>
  inside
    .map(each =>
      'inside' in each ? said(each.inside) : 'text' in each ? each.text : `${each.alt}${each.url}`,
    )
    .join('')
const kinds = (parts: Part[]) => parts.map(part => part.kind)

test('headings, paragraphs, rules, quotes and code are told apart', () => {
  const parts = markdown(
    '# Title\n\nOne\ntwo\n\n---\n> quoted\n> on\n```ts\nlet a = "*"\n\n# no\n```\nend',
  )
  expect(kinds(parts)).toEqual(['heading', 'paragraph', 'rule', 'quote', 'code', 'paragraph'])
  expect(parts[1]).toEqual({ kind: 'paragraph', inside: [{ kind: 'text', text: 'One\ntwo' }] })
  expect(parts[4]).toEqual({ kind: 'code', language: 'ts', text: 'let a = "*"\n\n# no' })
})

test('a fence that is never closed holds the rest', () => {
  expect(markdown('~~~\na\n```\nb')).toEqual([{ kind: 'code', language: '', text: 'a\n```\nb' }])
})

test('lists nest, are numbered, and hold code', () => {
  const [list] = markdown('3. one\n   - inner\n   - other\n4. two\n\n   ```\n   code\n   ```')
  if (list?.kind !== 'list') throw new Error('no list')
  expect(list.start).toBe(3)
  expect(list.items.map(kinds)).toEqual([
    ['paragraph', 'list'],
    ['paragraph', 'code'],
  ])
  expect(list.items[1]?.[1]).toEqual({ kind: 'code', language: '', text: 'code' })
})

test('items with blank lines between them are one list', () => {
  const parts = markdown('- a\n\n- b\n\nafter')
  expect(kinds(parts)).toEqual(['list', 'paragraph'])
  expect(parts[0]).toMatchObject({ items: [{}, {}] })
})

test('a table has at least as many cells in each row as its head', () => {
  const [table] = markdown('| a | b |\n|---|:-:|\n| 1 | 2 | 3 |\n| x\\|y |\n')
  if (table?.kind !== 'table') throw new Error('no table')
  expect(table.rows.map(row => row.map(said))).toEqual([
    ['1', '2', '3'],
    ['x|y', ''],
  ])
  expect(kinds(markdown('a | b\nno table'))).toEqual(['paragraph'])
})

test('emphasis, code and struck text', () => {
  expect(inlineOf('**a *b* c** `*d*` ~~e~~ _f_')).toEqual([
    {
      kind: 'strong',
      inside: [
        { kind: 'text', text: 'a ' },
        { kind: 'emphasis', inside: [{ kind: 'text', text: 'b' }] },
        { kind: 'text', text: ' c' },
      ],
    },
    { kind: 'text', text: ' ' },
    { kind: 'code', text: '*d*' },
    { kind: 'text', text: ' ' },
    { kind: 'struck', inside: [{ kind: 'text', text: 'e' }] },
    { kind: 'text', text: ' ' },
    { kind: 'emphasis', inside: [{ kind: 'text', text: 'f' }] },
  ])
})

test.each([
  'a * b * c',
  'snake_case_name and __init__.py',
  'C:\\Users\\name',
  '2*3*4',
  '`unclosed',
  '**unclosed',
  '[no link] (x)',
  'a ~ b ~ c',
  'https://example.org/a_b_c*d*',
])('%s is text', text => expect(inlineOf(text)).toEqual([{ kind: 'text', text }]))

test('links and pictures say their addresses', () => {
  expect(inlineOf('see [the *page*](https://example.org/a_(b) "title")!')[1]).toEqual({
    kind: 'link',
    inside: [
      { kind: 'text', text: 'the ' },
      { kind: 'emphasis', inside: [{ kind: 'text', text: 'page' }] },
    ],
    url: 'https://example.org/a_(b)',
  })
  expect(inlineOf('![alt](x.png)')).toEqual([{ kind: 'picture', alt: 'alt', url: 'x.png' }])
})

test('hostile text takes no more than its length in time', () => {
  for (const piece of [
    '*a ',
    '**',
    '`',
    '``a`',
    '[',
    '[a](',
    '![](',
    '_a',
    '> ',
    '- ',
    '|',
    '~~a ',
    '\\',
    '#',
    '1. ',
    '|-',
    ' ',
  ])
    for (const text of [piece.repeat(10_000), `${piece}\n`.repeat(5000)]) {
      const began = performance.now()
      markdown(text)
      expect(performance.now() - began, JSON.stringify(piece)).toBeLessThan(3000)
    }
}, 60_000)

test('nothing that was said is lost', () => {
  let state = Number(process.env.SEED ?? 7)
  const random = (n: number) => (state = (state * 1103515245 + 12345) % 2147483648) % n
  const pieces = [
    'word ',
    '*',
    '**',
    '_',
    '`',
    '\n',
    '\n\n',
    '[x](y)',
    '# ',
    '- ',
    '1. ',
    '> ',
    '|',
    '  ',
    '<b>',
    '```\n',
  ]
  const words = (parts: Part[]): string =>
    parts
      .map(part => {
        switch (part.kind) {
          case 'heading':
          case 'paragraph':
            return said(part.inside)
          case 'code':
            return part.language + part.text
          case 'list':
            return part.items.map(words).join('')
          case 'quote':
            return words(part.parts)
          case 'table':
            return [part.head, ...part.rows].flat().map(said).join('')
          case 'rule':
            return ''
        }
      })
      .join('')
  for (let round = 0; round < 2000; ++round) {
    const text = Array.from({ length: 1 + random(25) }, () => pieces[random(pieces.length)]).join(
      '',
    )
    const count = (from: string) => from.split('word').length + from.split('<b>').length
    expect(count(words(markdown(text))), JSON.stringify(text)).toBe(count(text))
  }
})
