// A change of JSON as texts to show: of long texts the part that differs, with a little of what stands around it.

import { pretty } from '../api/json'
import type { Json } from '../api/types'
import type { Change } from './json_diff'
import { commonEnd, commonStart } from './utf16'

export interface Excerpt {
  lead: string // what both have before it
  text: string
  trail: string // and behind it
  leftOut: number // characters of `text` that are not shown
}

export interface ShownChange {
  path: string
  before: Excerpt | null
  after: Excerpt | null
}

const around = 80
const textMax = 3000

export function excerpt({ path, before, after }: Change): ShownChange {
  if (typeof before !== 'string' || typeof after !== 'string')
    return { path, before: whole(before), after: whole(after) }
  const start = commonStart(before, after)
  const end = commonEnd(before, after, Math.min(before.length, after.length) - start)
  const part = (text: string): Excerpt => {
    const middle = text.slice(start, text.length - end)
    const behind = text.slice(text.length - end)
    return {
      lead: (start > around ? '…' : '') + text.slice(Math.max(0, start - around), start),
      text: middle.slice(0, textMax),
      trail:
        middle.length > textMax
          ? ''
          : behind.slice(0, around) + (behind.length > around ? '…' : ''),
      leftOut: Math.max(0, middle.length - textMax),
    }
  }
  return { path, before: part(before), after: part(after) }
}

function whole(value: Json | undefined): Excerpt | null {
  if (value === undefined) return null
  const text = typeof value === 'string' ? value : pretty(value)
  return {
    lead: '',
    text: text.slice(0, textMax),
    trail: '',
    leftOut: Math.max(0, text.length - textMax),
  }
}
