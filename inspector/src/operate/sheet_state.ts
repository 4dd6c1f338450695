// Which operation is being prepared, if any.

import { signal } from '@preact/signals';
import type { Values } from './forms';

export interface Asked {
  name: string; // of a form, or FORK
  values: Values;
}

export const asked = signal<Asked | null>(null);

export function ask(name: string, values: Values = {}): void {
  asked.value = { name, values };
}

export function close(): void {
  asked.value = null;
}
