// What a text is, by what stands in it: how it is set out follows from that.

import { hasColours } from './ansi'
import { isDiff } from './diff_text'

export type Shape = 'markdown' | 'diff' | 'json' | 'colours' | 'plain'
export type Source = 'prose' | 'output' // what a message says; what a tool or a file holds

// More than that is shown as it is: setting it out would take longer than anybody looks at it.
export const shapedMax = 200_000

export function shapeOf(text: string, source: Source): Shape {
  if (text.length > shapedMax) return 'plain'
  if (hasColours(text)) return 'colours'
  if (isDiff(text)) return 'diff'
  if (mayBeJson(text)) return 'json'
  return source === 'prose' ? 'markdown' : 'plain'
}

function mayBeJson(text: string): boolean {
  const inside = text.trim()
  if (!/^(?:\{[\s\S]*\}|\[[\s\S]*\])$/.test(inside)) return false
  try {
    JSON.parse(inside)
    return true
  } catch {
    return false
  }
}
