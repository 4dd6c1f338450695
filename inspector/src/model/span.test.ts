import { expect, test } from 'vitest'
import { around, holds, spanAt } from './span'

test('a list that is short enough is one span', () => {
  expect(spanAt(0, 7, 10)).toEqual({ base: 0, length: 7 })
  expect(spanAt(99, 7, 10)).toEqual({ base: 0, length: 7 })
  expect(spanAt(0, 0, 10)).toEqual({ base: 0, length: 0 })
})

test('every message of a long list is in the span around it, and no span is longer than it may be', () => {
  for (let index = 0; index < 95; ++index) {
    const span = spanAt(around(index, 10), 95, 10)
    expect(span.length).toBe(10)
    expect(holds(span, index)).toBe(true)
    expect(span.base + span.length).toBeLessThanOrEqual(95)
  }
})
