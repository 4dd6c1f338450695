// Which parts of which messages are unfolded: by conversation, ordinal and place in the message.

import { signal } from '@preact/signals'

export const opened = signal<ReadonlySet<string>>(new Set())
export const soughtWords = signal('') // what is folded and holds them is open, until it is closed

export function isUnfolded(place: string, text: string): boolean {
  const holdsThem = soughtWords.value !== '' && text.includes(soughtWords.value)
  return opened.value.has(place) !== holdsThem
}

export function toggle(place: string): void {
  const next = new Set(opened.value)
  if (!next.delete(place)) next.add(place)
  opened.value = next
}
