import { expect, test } from 'vitest'
import { chunksOf, rawText } from './raw_text'

test('JSON is indented, and its bytes stay as they were', async () => {
  const raw = rawText('{"a":[1.50]}', undefined)
  expect(raw?.kind).toBe('JSON')
  expect(raw?.chunks.join('\n')).toContain('\n  "a": [')
  expect(await raw?.bytes.text()).toBe('{"a":[1.50]}')
})

test('events of a stream are text', () => {
  expect(rawText('event: x\ndata: {}\n\n', undefined)).toMatchObject({
    kind: 'text',
    chunks: ['event: x\ndata: {}\n\n'],
  })
})

test('what is no UTF-8 is kept as bytes', async () => {
  const raw = rawText(undefined, 'AP8B')
  expect(raw?.kind).toBe('binary')
  expect(new Uint8Array(await (raw!.bytes as Blob).arrayBuffer())).toEqual(
    new Uint8Array([0, 255, 1]),
  )
})

test('what was not recorded is null', () => expect(rawText(undefined, undefined)).toBeNull())

test('JSON that is nested too deeply to be indented is shown as it is', () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000)
  expect(rawText(deep, undefined)?.chunks.join('')).toBe(deep)
})

test('chunks are whole lines, or cut where a line is too long, and never within a pair', () => {
  expect(chunksOf('')).toEqual([])
  const lines = Array.from({ length: 1000 }, (_, i) => `line ${i}`).join('\n')
  expect(chunksOf(lines).length).toBeGreaterThan(1)
  expect(chunksOf(lines).join('\n')).toBe(lines)
  const long = 'x' + '😀'.repeat(5000)
  expect(chunksOf(long).join('')).toBe(long)
  for (const chunk of chunksOf(long)) expect(() => encodeURIComponent(chunk)).not.toThrow()
})
