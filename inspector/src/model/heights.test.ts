import { expect, test } from 'vitest'
import { Heights } from './heights'

function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

test('offsets and places agree with a plain list, whatever is measured and however it is resized', () => {
  const next = random(7)
  const heights = new Heights(100, 20)
  let plain = new Array<number>(100).fill(20)
  for (let step = 0; step < 3000; ++step) {
    if (step % 500 === 499) {
      const length = 1 + Math.floor(next() * 150)
      heights.resize(length)
      plain = Array.from({ length }, (_, i) => plain[i] ?? 20)
    }
    const index = Math.floor(next() * plain.length)
    const height = Math.floor(next() * 5) * 10
    expect(heights.set(index, height)).toBe(height - plain[index]!)
    plain[index] = height
    const asked = Math.floor(next() * (plain.length + 1))
    const top = plain.slice(0, asked).reduce((sum, h) => sum + h, 0)
    expect(heights.offset(asked)).toBe(top)
    const total = plain.reduce((sum, h) => sum + h, 0)
    expect(heights.total).toBe(total)
    const y = next() * total
    const found = heights.find(y)
    if (total > 0) expect(heights.offset(found) <= y && y < heights.offset(found + 1)).toBe(true)
  }
})

test('beyond the ends there is the first and the last row', () => {
  const heights = new Heights(3, 10)
  expect(heights.find(-5)).toBe(0)
  expect(heights.find(1000)).toBe(2)
  expect(new Heights(0, 10).find(5)).toBe(0)
  expect(heights.set(3, 50)).toBe(0)
})

test('a hundred thousand rows are found at once', () => {
  const heights = new Heights(100_000, 90)
  heights.set(99_999, 190)
  expect(heights.total).toBe(9_000_100)
  expect(heights.find(9_000_099)).toBe(99_999)
})
