import { expect, test } from 'vitest'
import type { RequestRecord } from '../api/types'
import { Records } from './records'

const record = (number: number, more: Partial<RequestRecord> = {}) =>
  ({ number, kind: 'turn', dialect: 'anthropic', ...more }) as RequestRecord

function stored(count: number) {
  const all = Array.from({ length: count }, (_, i) => record(i + 1))
  let asked = 0
  const records = new Records(async ({ first = 1, limit = 100, last }) => {
    ++asked
    return last === undefined
      ? all.filter(({ number }) => number >= first).slice(0, limit)
      : all.slice(-last)
  })
  const numbers = () => records.known.map(({ number }) => number)
  return { all, records, numbers, asked: () => asked }
}

test('the newest come first, and older ones when they are asked for', async () => {
  const { records, numbers } = stored(250)
  await records.catchUp()
  expect([numbers()[0], numbers().at(-1), records.hasOlder]).toEqual([151, 250, true])
  await records.older()
  await records.older()
  expect(numbers()).toEqual(Array.from({ length: 250 }, (_, i) => i + 1))
  expect(records.hasOlder).toBe(false)
})

test('what is recorded later is added, however much it is, without asking for the rest', async () => {
  const { all, records, numbers, asked } = stored(2)
  await records.catchUp()
  for (let number = 3; number <= 250; ++number) all.push(record(number))
  expect(await records.catchUp()).toBe(true)
  expect(numbers()).toEqual(all.map(({ number }) => number))
  expect(asked()).toBe(4)
  expect(await records.catchUp()).toBe(false)
})

test('the first request of a conversation that had none is seen', async () => {
  const { all, records, numbers } = stored(0)
  expect(await records.catchUp()).toBe(true)
  expect(await records.catchUp()).toBe(false)
  all.push(record(1))
  await records.catchUp()
  expect(numbers()).toEqual([1])
})

test('two that catch up at once add nothing twice', async () => {
  const { all, records, numbers } = stored(1)
  await records.catchUp()
  all.push(record(2))
  await Promise.all([records.catchUp(), records.catchUp()])
  expect(numbers()).toEqual([1, 2])
})
