// Text in pieces, of which some are addresses of the web. It stays text: whoever shows it makes elements of the pieces, never markup.

import { webLink } from './blocks'

export interface Piece {
  text: string
  href: string | null
}

export const address =
  /https?:\/\/[^\s<>"'`\\^{}|\u0000-\u001f\u200b-\u200f\u202a-\u202e\u2066-\u2069]+/gi

export function pieces(text: string): Piece[] {
  const found: Piece[] = []
  let end = 0
  for (const match of text.matchAll(address)) {
    const url = match[0].replace(/[.,;:!?)\]]+$/, '')
    if (webLink(url) === null) continue
    if (match.index > end) found.push({ text: text.slice(end, match.index), href: null })
    found.push({ text: url, href: url })
    end = match.index + url.length
  }
  if (end < text.length) found.push({ text: text.slice(end), href: null })
  return found
}

// The address if all of the text is one, and hides no sign of direction or control.
export function wholeAddress(text: string): string | null {
  const whole = new RegExp(`^(?:${address.source})$`, 'i')
  return text.length <= 2000 && whole.test(text) ? webLink(text) : null
}
