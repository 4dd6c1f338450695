import { expect, test } from 'vitest'
import { duration, size } from './words'

test('durations have the unit that fits them', () => {
  expect([undefined, 0, 999, 1000, 9990, 65_432].map(duration)).toEqual([
    '–',
    '0 ms',
    '999 ms',
    '1.00 s',
    '9.99 s',
    '65.4 s',
  ])
})

test('sizes are in decimal units', () => {
  expect([1, 999, 1000, 76_311, 10_400_000].map(size)).toEqual([
    '1 byte',
    '999 bytes',
    '1.0 kB',
    '76.3 kB',
    '10.4 MB',
  ])
})
