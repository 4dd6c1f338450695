// Which operation is being prepared, if any.

import { signal } from '@preact/signals'
import type { Values } from './forms'

export interface Asked {
  name: string // of a form, or FORK
  values: Values
}

export const asked = signal<Asked | null>(null)

let before: Element | null = null // where the keyboard was, and goes back to

export function ask(name: string, values: Values = {}): void {
  if (!asked.value) before = document.activeElement
  asked.value = { name, values }
}

export function close(): void {
  asked.value = null
  const back = before
  before = null
  setTimeout(() => back instanceof HTMLElement && back.isConnected && back.focus())
}
