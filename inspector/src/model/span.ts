// Browsers draw nothing higher than some 30 million pixels. Of a longer list a span is shown at a time, and whoever goes beyond its end moves it.

const spanMax = 200_000

export interface Span {
  base: number // index of its first message
  length: number
}

// The span that begins at `from`, or as near as the list allows.
export function spanAt(from: number, count: number, most = spanMax): Span {
  const base = Math.max(0, Math.min(from, count - most))
  return { base, length: Math.min(most, count - base) }
}

export function holds(span: Span, index: number): boolean {
  return index >= span.base && index < span.base + span.length
}

// Where a span begins that has `index` in its middle.
export function around(index: number, most = spanMax): number {
  return Math.max(0, index - Math.floor(most / 2))
}
