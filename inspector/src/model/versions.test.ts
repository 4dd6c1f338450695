import { expect, test } from 'vitest'
import type { VersionEntry } from '../api/types'
import { Versions } from './versions'

const entry = (version: number) => ({ version, batchIndex: 0 }) as VersionEntry

function served(head: number) {
  const asked: [number, number][] = []
  const versions = new Versions(
    async (before, limit) => {
      asked.push([before, limit])
      const found: VersionEntry[] = []
      for (let v = Math.min(before - 1, head); v >= 0 && found.length < limit; --v)
        found.push(entry(v))
      return found
    },
    () => {},
  )
  return { versions, asked }
}

test('a short history comes with one request, and a new version with one more for itself', async () => {
  const { versions, asked } = served(41)
  await versions.load(40, 40)
  await versions.load(0, 40)
  await versions.load(41, 41)
  expect(asked).toEqual([
    [41, 41],
    [42, 1],
  ])
  expect(versions.between(0, 41).length).toBe(42)
})

test('of a long history only what is looked at is fetched', async () => {
  const { versions, asked } = served(100_000)
  await versions.load(50_000, 50_100)
  expect(asked).toEqual([[50_101, 500]])
  expect(versions.get(49_000)).toBeUndefined()
})

test('versions that are not there are not asked for again and again', async () => {
  const { versions, asked } = served(-1)
  await versions.load(0, 10)
  expect(asked.length).toBe(1)
  expect(versions.between(0, 10)).toEqual([])
})
