// Places in texts that do not take a pair of surrogates apart.

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000

// `at`, or the place before it where that is in the middle of a pair.
export function placeBefore(text: string, at: number): number {
  return at > 0 && at < text.length && isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at))
    ? at - 1
    : at
}

// How many units both begin with.
export function commonStart(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let length = 0
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) ++length
  return Math.min(placeBefore(a, length), placeBefore(b, length))
}

// And how many both end with, at most `most`.
export function commonEnd(a: string, b: string, most: number): number {
  let length = 0
  while (
    length < most &&
    a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length)
  )
    ++length
  const isSplit = [a, b].some(
    text => placeBefore(text, text.length - length) !== text.length - length,
  )
  return isSplit ? length - 1 : length
}
