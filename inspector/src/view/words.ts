// Numbers and times as people read them.

const numbers = new Intl.NumberFormat('en')

export function count(value: number): string {
  return numbers.format(value)
}

// 42,400 as 42.4K: where the magnitude is what matters.
const rounded = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
export function roughly(value: number): string {
  return rounded.format(value)
}

export function plural(value: number, one: string, many = one + 's'): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

export function when(ms: number): string {
  if (!ms) return ''
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().replace('T', ' ').slice(0, 19)
}

export function change(before: number, after: number): string {
  const sign = after > before ? '+' : after < before ? '−' : '±'
  return sign + count(Math.abs(after - before))
}

export function duration(ms: number | undefined): string {
  if (ms === undefined) return '–'
  if (ms < 1000) return `${count(ms)} ms`
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`
}

export function size(bytes: number): string {
  if (bytes < 1000) return plural(bytes, 'byte')
  return bytes < 1_000_000
    ? `${(bytes / 1000).toFixed(1)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`
}

// Small amounts keep the digits that tell them apart.
export function dollars(amount: number): string {
  return `$${amount.toFixed(amount !== 0 && Math.abs(amount) < 1 ? 4 : 2)}`
}
