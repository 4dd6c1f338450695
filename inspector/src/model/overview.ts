// What all conversations of the list come to: by the day of their last message, by project and by model.

import type { ListedConversation } from '../api/types'

export interface Sum {
  name: string
  conversations: number
  tokens: number
  dollars: number
}

export const updatedAt = (each: ListedConversation) => each.about?.updatedAt || each.createdAt

// Of conversations that say what they took.
export function tokensOf({ about }: ListedConversation): number {
  if (!about) return 0
  const { input, output, cacheRead, cacheWrite } = about.tokens
  return input + output + cacheRead + cacheWrite
}

export function sumsBy(
  list: readonly ListedConversation[],
  nameOf: (each: ListedConversation) => string,
): Sum[] {
  const sums = new Map<string, Sum>()
  for (const each of list) {
    const name = nameOf(each)
    const sum = sums.get(name) ?? { name, conversations: 0, tokens: 0, dollars: 0 }
    sum.conversations += 1
    sum.tokens += tokensOf(each)
    sum.dollars += each.about?.cost ?? 0
    sums.set(name, sum)
  }
  return [...sums.values()]
}

// The newest first. A time that is none has no day.
export function byDay(list: readonly ListedConversation[]): Sum[] {
  const day = (each: ListedConversation) => {
    const date = new Date(updatedAt(each))
    return Number.isNaN(date.getTime()) || date.getTime() === 0
      ? ''
      : date.toISOString().slice(0, 10)
  }
  return sumsBy(list, day).sort((a, b) => (a.name < b.name ? 1 : -1))
}

export const liveMs = 120_000 // since its last message

// What is being written now, then the newest.
export function liveFirst(
  list: readonly ListedConversation[],
  now: number,
): { each: ListedConversation; isLive: boolean }[] {
  return list
    .map(each => ({ each, isLive: Math.abs(now - updatedAt(each)) < liveMs }))
    .sort((a, b) => Number(b.isLive) - Number(a.isLive) || updatedAt(b.each) - updatedAt(a.each))
}
