import { expect, test } from 'vitest'
import { hasColours, painted } from './ansi'

const esc = '\u001b'
const said = (text: string) =>
  painted(text)
    .map(each => each.text)
    .join('')

test('colours begin and end', () => {
  const [before, red, after] = painted(`a ${esc}[1;31mb${esc}[0m c`)
  expect([before?.text, red?.text, after?.text]).toEqual(['a ', 'b', ' c'])
  expect(red).toMatchObject({ ink: 1, bold: true, ground: null })
  expect(after).toMatchObject({ ink: null, bold: false })
})

test('of more colours than sixteen, the nearest is taken', () => {
  const ink = (code: string) => painted(`${esc}[${code}mx`)[0]?.ink
  expect(ink('38;5;196')).toBe(9)
  expect(ink('38;2;10;120;20')).toBe(2)
  expect(ink('38;5;240')).toBe(8)
  expect(ink('38;5;12')).toBe(12)
  expect(painted(`${esc}[48;2;0;0;200;31mx`)[0]).toMatchObject({ ground: 4, ink: 1 })
})

test('movements of the cursor go, other escapes are shown', () => {
  expect(said(`a${esc}[2K${esc}[?25lb`)).toBe('ab')
  expect(said(`${esc}]8;;https://evil.example\u0007x`)).toBe('␛]8;;https://evil.example\u0007x')
  expect(said(`${esc}[`)).toBe('␛[')
  expect(said(`${esc}[8mhidden`)).toBe('hidden')
})

test('odd numbers are no colours', () => {
  expect(painted(`${esc}[999;38;5mx`)[0]).toMatchObject({ text: 'x' })
  expect(painted(`${esc}[38;5;999mx`)[0]?.ink ?? 0).toBeLessThan(16)
  expect(hasColours('[31m')).toBe(false)
})
