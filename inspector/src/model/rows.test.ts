import { expect, test } from 'vitest'
import { rowOf } from './row_of'
import { RowCache, stretch } from './rows'

const rows = (start: number, end: number) =>
  Array.from({ length: end - start }, (_, i) => rowOf(start + i, 'user', []))
const settled = () => new Promise(done => setTimeout(done))

test('only what is looked at is fetched, and once', async () => {
  const asked: number[] = []
  const cache = new RowCache(
    async (start, end) => (asked.push(start), rows(start, end)),
    () => {},
  )
  cache.want(5 * stretch + 40, 5 * stretch + 50, 100_000)
  await settled()
  cache.want(5 * stretch + 41, 5 * stretch + 51, 100_000)
  await settled()
  expect(asked).toEqual([5 * stretch])
  expect(cache.get(5 * stretch + 7)?.index).toBe(5 * stretch + 7)
  expect(cache.get(0)).toBeUndefined()
})

test('what has gone out of sight before it came is given up', async () => {
  const aborted: number[] = []
  const cache = new RowCache(
    (start, _end, signal) =>
      new Promise((_, fail) =>
        signal.addEventListener('abort', () => (aborted.push(start), fail(new Error('gone')))),
      ),
    () => {},
  )
  cache.want(0, 10, 100_000)
  cache.want(50_000, 50_010, 100_000)
  await settled()
  expect(aborted).toEqual([0])
})

test('a failure is told, and the rows are asked for again', async () => {
  let fails = true
  const errors: unknown[] = []
  const cache = new RowCache(
    async (start, end) => {
      if (fails) throw new Error('no')
      return rows(start, end)
    },
    error => error && errors.push(error),
  )
  cache.want(0, 10, 50)
  await settled()
  fails = false
  cache.want(0, 10, 50)
  await settled()
  expect(errors.length).toBe(1)
  expect(cache.get(3)?.index).toBe(3)
})

test('rows that changed are forgotten, those before them are not', async () => {
  const cache = new RowCache(
    async (start, end) => rows(start, end),
    () => {},
  )
  cache.want(0, 3 * stretch, 1000)
  await settled()
  await settled()
  cache.forget(stretch + 5)
  expect(cache.get(0)).toBeDefined()
  expect(cache.get(stretch)).toBeUndefined()
})
