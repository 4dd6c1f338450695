import { expect, test } from 'vitest'
import type { ListedConversation } from '../api/types'
import { byDay, liveFirst, sumsBy, tokensOf } from './overview'

const at = (time: string) => Date.parse(time)
const session = (id: string, updated: string, cost: number): ListedConversation =>
  ({
    id,
    version: 0,
    totalMessages: 2,
    createdAt: 0,
    about: {
      client: 'claude-code',
      title: id,
      project: '/work',
      model: 'm',
      startedAt: 0,
      updatedAt: at(updated),
      tokens: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 },
      cost,
    },
  }) as ListedConversation
const list = [
  session('a', '2026-11-17T10:00:00Z', 1),
  session('b', '2026-11-18T10:00:00Z', 2),
  session('c', '2026-11-18T23:59:59Z', 4),
]

test('days are summed, the newest first', () => {
  expect(byDay(list)).toEqual([
    { name: '2026-11-18', conversations: 2, tokens: 20, dollars: 6 },
    { name: '2026-11-17', conversations: 1, tokens: 10, dollars: 1 },
  ])
})

test('a conversation that says nothing of itself counts, and has no tokens', () => {
  const bare = { ...list[0], about: undefined } as unknown as ListedConversation
  expect(tokensOf(bare)).toBe(0)
  expect(sumsBy([bare], () => 'x')).toEqual([
    { name: 'x', conversations: 1, tokens: 0, dollars: 0 },
  ])
  expect(byDay([bare])[0]?.name).toBe('')
})

test('what is being written comes first', () => {
  const found = liveFirst(list, at('2026-11-17T10:01:00Z'))
  expect(found.map(({ each, isLive }) => [each.id, isLive])).toEqual([
    ['a', true],
    ['c', false],
    ['b', false],
  ])
})
