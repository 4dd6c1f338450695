// Light or dark: as the system says, unless the reader said otherwise.

import { signal } from '@preact/signals'

type Theme = 'system' | 'light' | 'dark'
const key = 'undertext-theme'
const order: Theme[] = ['system', 'light', 'dark']

function stored(): Theme {
  const found = localStorage.getItem(key)
  return found === 'light' || found === 'dark' ? found : 'system'
}

export const theme = signal<Theme>(stored())
// Counted up when colours changed, for what is painted and not styled.
export const coloursChanged = signal(0)

export function applyTheme(): void {
  if (theme.value === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme.value
  coloursChanged.value += 1
}
matchMedia('(prefers-color-scheme: dark)').addEventListener(
  'change',
  () => (coloursChanged.value += 1),
)

// The colour that a custom property comes to now, as a canvas understands it.
export function colour(name: string): string {
  const probe = document.createElement('i')
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const found = getComputedStyle(probe).color
  probe.remove()
  return found
}

export function ThemeSwitch() {
  const next = order[(order.indexOf(theme.value) + 1) % order.length] ?? 'system'
  const sign = { system: '◐', light: '☀', dark: '☾' }[theme.value]
  const change = () => {
    theme.value = next
    localStorage.setItem(key, next)
    applyTheme()
  }
  return (
    <button
      class="icon"
      type="button"
      onClick={change}
      aria-label={`Colours: ${theme.value}. Switch to ${next}`}
      title={`Colours: ${theme.value}`}
    >
      <span aria-hidden="true">{sign}</span>
    </button>
  )
}
