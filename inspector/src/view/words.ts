// Numbers and times as people read them.

const numbers = new Intl.NumberFormat('en');

export function count(value: number): string {
  return numbers.format(value);
}

export function plural(value: number, one: string, many = one + 's'): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function when(ms: number): string {
  if (!ms) return '';
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().replace('T', ' ').slice(0, 19);
}

export function change(before: number, after: number): string {
  const sign = after > before ? '+' : after < before ? '−' : '±';
  return sign + count(Math.abs(after - before));
}
