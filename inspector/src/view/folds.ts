// Which parts of which messages are unfolded: by conversation, ordinal and place in the message.

import { signal } from '@preact/signals';

export const opened = signal<ReadonlySet<string>>(new Set());

export function toggle(place: string): void {
  const next = new Set(opened.value);
  if (!next.delete(place)) next.add(place);
  opened.value = next;
}
