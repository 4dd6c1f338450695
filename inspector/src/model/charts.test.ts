import { expect, test } from 'vitest'
import type { TimelinePoint } from '../api/types'
import { bars, stacked } from './charts'

test('roles are stacked, and the last one is the whole', () => {
  const point = (system: number, user: number, assistant: number, tool: number) =>
    ({ byRole: { system, user, assistant, tool } }) as TimelinePoint
  expect(stacked([point(1, 2, 3, 4), point(0, 5, 0, 0)])).toEqual([
    [1, 0],
    [3, 5],
    [6, 5],
    [10, 5],
  ])
})

test('few messages are a bar each, many share one, and the largest is always seen', () => {
  expect(bars([3, 1, 2], 10)).toEqual({ first: [0, 1, 2], most: [3, 1, 2], width: 1 })
  const many = new Array<number>(100_000).fill(1)
  many[77_777] = 500
  const found = bars(many, 1000)
  expect(found.first.length).toBe(1000)
  expect(Math.max(...found.most)).toBe(500)
  expect(bars([], 10).first).toEqual([])
})
