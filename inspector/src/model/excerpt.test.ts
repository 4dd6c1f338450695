import { expect, test } from 'vitest'
import { excerpt } from './excerpt'

test('of a long text the part that differs is shown, with what stands around it', () => {
  const of = (day: string) => `${'x'.repeat(500)} It is ${day}. ${'y'.repeat(500)}`
  const { before, after } = excerpt({ path: 'p', before: of('Monday'), after: of('Tuesday') })
  expect([before?.text, after?.text]).toEqual(['Mon', 'Tues'])
  expect(after?.lead).toBe(`…${'x'.repeat(73)} It is `)
  expect(after?.trail).toBe(`day. ${'y'.repeat(75)}…`)
})

test('texts that overlap are not counted twice', () => {
  expect(excerpt({ path: 'p', before: 'aa', after: 'aaa' })).toMatchObject({
    before: { lead: 'aa', text: '', trail: '' },
    after: { lead: 'aa', text: 'a', trail: '' },
  })
})

test('a pair of surrogates is not taken apart', () => {
  expect(excerpt({ path: 'p', before: 'a😀b', after: 'a😁b' })).toMatchObject({
    before: { text: '😀' },
    after: { text: '😁' },
  })
  expect(excerpt({ path: 'p', before: '\ud83d\ude00', after: '\ud83c\ude00' })).toMatchObject({
    before: { text: '\ud83d\ude00', trail: '' },
  })
})

test('what came is shown as JSON, and cut where it is very long', () => {
  expect(excerpt({ path: 'p', after: { a: 1 } })).toEqual({
    path: 'p',
    before: null,
    after: { lead: '', text: '{\n  "a": 1\n}', trail: '', leftOut: 0 },
  })
  expect(excerpt({ path: 'p', after: 'x'.repeat(3010) }).after).toMatchObject({ leftOut: 10 })
})
