// A raw text as it is shown: JSON indented, anything else as it is, in chunks that a page can show one by one.

import { parseExact, pretty } from '../api/json'
import type { Json } from '../api/types'
import { placeBefore } from './utf16'

export interface RawText {
  kind: 'JSON' | 'text' | 'binary'
  chunks: string[]
  bytes: Blob // as they were recorded
}

const chunkMax = 4000

export function rawText(text: string | undefined, base64: string | undefined): RawText | null {
  if (base64 !== undefined)
    return { kind: 'binary', chunks: [], bytes: new Blob([bytesOf(base64)]) }
  if (text === undefined) return null
  const bytes = new Blob([text])
  const value = parsed(text)
  return value === undefined
    ? { kind: 'text', chunks: chunksOf(text), bytes }
    : { kind: 'JSON', chunks: chunksOf(indented(value) ?? text), bytes }
}

// undefined: it is no JSON.
export function parsed(text: string): Json | undefined {
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

// null: it is nested too deeply.
function indented(value: Json): string | null {
  try {
    return pretty(value)
  } catch {
    return null
  }
}

// Whole lines where they are not too long. Joined they are the text, but for the line end between two chunks.
export function chunksOf(text: string): string[] {
  const chunks: string[] = []
  for (let start = 0; start < text.length; ) {
    const most = start + chunkMax
    if (text.length <= most) {
      chunks.push(text.slice(start))
      break
    }
    const line = text.lastIndexOf('\n', most)
    const end = line > start ? line : placeBefore(text, most)
    chunks.push(text.slice(start, end))
    start = text[end] === '\n' ? end + 1 : end
  }
  return chunks
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), unit => unit.charCodeAt(0))
}
