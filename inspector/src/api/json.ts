// JSON in which numbers keep their spelling, as far as the browser can (`context.source`, `JSON.rawJSON`): what is shown is what is stored.

import type { Json } from './types'

type RawJson = { rawJSON?: (text: string) => Json }
type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown

function keepSpelling(_key: string, value: unknown, context?: { source?: string }): unknown {
  const raw = (JSON as RawJson).rawJSON
  if (
    typeof value !== 'number' ||
    !raw ||
    context?.source === undefined ||
    String(value) === context.source
  )
    return value
  return raw(context.source)
}

// Asking for the source of every number is slow, and most answers have none that is spelled otherwise than JavaScript would.
const oddNumber = /\d[eE]|\.\d*0(?!\d)|\d{16}|-0/

export function parseExact(text: string): Json {
  if (!oddNumber.test(text)) return JSON.parse(text) as Json
  return JSON.parse(
    text,
    keepSpelling as Reviver as (key: string, value: unknown) => unknown,
  ) as Json
}

export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? ''
}
