// Markdown as values: what messages say in it, for a view that makes elements of them and never markup.
// HTML is text. Line breaks stay as they were written. Every loop looks at most a window ahead, so no text takes more than its length in time.

import { address } from './links'

export type Inline =
  | { kind: 'text' | 'code'; text: string }
  | { kind: 'strong' | 'emphasis' | 'struck'; inside: Inline[] }
  | { kind: 'link'; inside: Inline[]; url: string }
  | { kind: 'picture'; alt: string; url: string }

export type Part =
  | { kind: 'heading'; level: number; inside: Inline[] }
  | { kind: 'paragraph'; inside: Inline[] }
  | { kind: 'code'; language: string; text: string }
  | { kind: 'list'; start: number | null; items: Part[][] } // null: not numbered
  | { kind: 'quote'; parts: Part[] }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { kind: 'rule' }

const depthMax = 6
const inlineWindow = 600

const fence = /^ {0,3}(`{3,}|~{3,})([^`]*)$/
const heading = /^ {0,3}(#{1,6})[ \t]+(.*)$/
const rule = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/
const item = /^( *)(?:[-*+]|(\d{1,9})[.)])( +|$)/
const quote = /^ {0,3}> ?/
const isBlank = (line: string) => line.trim() === ''

export function markdown(text: string): Part[] {
  return partsOf(text.split('\n'), 0)
}

function partsOf(lines: string[], depth: number): Part[] {
  const parts: Part[] = []
  let said: string[] = [] // of the paragraph that has begun
  const end = () => {
    if (said.length) parts.push({ kind: 'paragraph', inside: inlineOf(said.join('\n')) })
    said = []
  }
  for (let i = 0; i < lines.length; ) {
    const found = partAt(lines, i, depth)
    if (found) {
      end()
      parts.push(found.part)
      i = found.next
    } else {
      const line = lines[i++] ?? ''
      if (isBlank(line)) end()
      else said.push(line)
    }
  }
  end()
  return parts
}

interface Found {
  part: Part
  next: number
}

// What begins at a line, other than a paragraph.
function partAt(lines: string[], i: number, depth: number): Found | null {
  const line = lines[i] ?? ''
  const fenced = fence.exec(line)
  if (fenced) return code(lines, i, fenced[1] ?? '', (fenced[2] ?? '').trim())
  const title = heading.exec(line)
  if (title) {
    const inside = inlineOf((title[2] ?? '').trimEnd())
    return { part: { kind: 'heading', level: title[1]?.length ?? 1, inside }, next: i + 1 }
  }
  if (line.length < 200 && rule.test(line)) return { part: { kind: 'rule' }, next: i + 1 }
  if (depth < depthMax && quote.test(line)) return quoted(lines, i, depth)
  if (depth < depthMax && item.test(line)) return list(lines, i, depth)
  return table(lines, i)
}

// Until the fence that closes it, or the end: an answer may have been cut off.
function code(lines: string[], first: number, sign: string, language: string): Found {
  let next = first + 1
  const closes = (line: string) => {
    const found = line.trim()
    return found.length >= sign.length && found === (sign[0] ?? '').repeat(found.length)
  }
  while (next < lines.length && !closes(lines[next] ?? '')) ++next
  const text = lines.slice(first + 1, next).join('\n')
  return { part: { kind: 'code', language, text }, next: next + 1 }
}

function quoted(lines: string[], first: number, depth: number): Found {
  let next = first
  while (next < lines.length && quote.test(lines[next] ?? '')) ++next
  const inside = lines.slice(first, next).map(line => line.replace(quote, ''))
  return { part: { kind: 'quote', parts: partsOf(inside, depth + 1) }, next }
}

function list(lines: string[], first: number, depth: number): Found {
  const [, space = '', number] = item.exec(lines[first] ?? '') ?? []
  const isNumbered = number !== undefined
  const items: Part[][] = []
  let next = first
  while (next < lines.length) {
    const begun = item.exec(lines[next] ?? '')
    if (
      !begun ||
      (begun[1] ?? '').length !== space.length ||
      (begun[2] !== undefined) !== isNumbered
    )
      break
    if (next > first && rule.test(lines[next] ?? '')) break
    const inner = begun[0].length
    const held = [(lines[next] ?? '').slice(inner)]
    for (++next; next < lines.length; ++next) {
      const line = lines[next] ?? ''
      const indent = line.length - line.trimStart().length
      const isInside = indent > space.length
      if (isBlank(line)) {
        // A blank line belongs to the item when what follows does.
        const after = lines[next + 1] ?? ''
        if (isBlank(after) || after.length - after.trimStart().length <= space.length) break
      } else if (!isInside && (isBlank(held.at(-1) ?? '') || startsPart(line))) break
      held.push(line.slice(Math.min(indent, inner)))
    }
    items.push(partsOf(held, depth + 1))
    if (isBlank(lines[next] ?? '') && item.test(lines[next + 1] ?? '')) ++next
  }
  return { part: { kind: 'list', start: isNumbered ? Number(number) : null, items }, next }
}

const startsPart = (line: string) =>
  fence.test(line) || heading.test(line) || quote.test(line) || item.test(line)

const cellsOf = (line: string) =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/)
    .map(cell => cell.trim())

function table(lines: string[], first: number): Found | null {
  const [top = '', under = ''] = [lines[first], lines[first + 1]]
  if (!top.includes('|') || !under.includes('-') || !/^[\s|:-]+$/.test(under)) return null
  const head = cellsOf(top)
  const signs = cellsOf(under)
  if (signs.length !== head.length || !signs.every(sign => /^:?-+:?$/.test(sign))) return null
  let next = first + 2
  const rows: Inline[][][] = []
  for (; next < lines.length && (lines[next] ?? '').includes('|'); ++next) {
    const cells = cellsOf(lines[next] ?? '')
    while (cells.length < head.length) cells.push('')
    rows.push(cells.map(cell => inlineOf(cell)))
  }
  return { part: { kind: 'table', head: head.map(cell => inlineOf(cell)), rows }, next }
}

const escaped = /[\\`*_[\]#|~]/
const isWord = (c: string | undefined) => c !== undefined && /[\p{L}\p{N}_]/u.test(c)
const isSpace = (c: string | undefined) => c === undefined || /\s/.test(c)

export function inlineOf(text: string, depth = 0): Inline[] {
  const found: Inline[] = []
  let plain = ''
  const add = (inline: Inline) => {
    if (plain) found.push({ kind: 'text', text: plain })
    plain = ''
    found.push(inline)
  }
  const missing = new Set<string>() // closing signs that do not come any more
  for (let i = 0; i < text.length; ) {
    const c = text[i] ?? ''
    const taken =
      depth >= depthMax || !/[\\`*_~![h]/.test(c) ? null : inlineAt(text, i, depth, missing)
    if (!taken) {
      plain += c
      ++i
    } else if (typeof taken.inline === 'string') {
      plain += taken.inline
      i = taken.next
    } else {
      add(taken.inline)
      i = taken.next
    }
  }
  if (plain) found.push({ kind: 'text', text: plain })
  return found
}

interface Taken {
  inline: Inline | string
  next: number
}

function inlineAt(text: string, i: number, depth: number, missing: Set<string>): Taken | null {
  switch (text[i]) {
    case '\\': {
      const next = text[i + 1] ?? ''
      return next !== '\\' && escaped.test(next) ? { inline: next, next: i + 2 } : null
    }
    case '`':
      return codeAt(text, i, missing)
    case '!':
      return text[i + 1] === '[' ? linkAt(text, i + 1, depth, true) : null
    case '[':
      return linkAt(text, i, depth, false)
    case 'h':
      return addressAt(text, i)
    default:
      return emphasisAt(text, i, depth, missing)
  }
}

// Addresses have signs in them that mean something elsewhere.
function addressAt(text: string, i: number): Taken | null {
  if (!text.startsWith('http://', i) && !text.startsWith('https://', i)) return null
  const inline = new RegExp(address.source, 'iy')
  inline.lastIndex = i
  const found = inline
    .exec(text.slice(0, i + 4 * inlineWindow))?.[0]
    .replace(/[*_~`[\]()]+.*$/s, '')
  return found ? { inline: found, next: i + found.length } : null
}

function codeAt(text: string, i: number, missing: Set<string>): Taken | null {
  let length = 1
  while (text[i + length] === '`') ++length
  const sign = '`'.repeat(length)
  const whole = { inline: sign, next: i + length }
  if (missing.has(sign)) return whole
  let end = i + length
  for (;;) {
    end = text.indexOf(sign, end)
    if (end < 0) {
      missing.add(sign)
      return whole
    }
    let run = length
    while (text[end + run] === '`') ++run
    if (run === length) break
    end += run
  }
  const inside = text.slice(i + length, end)
  const isPadded = inside.length > 2 && inside.startsWith(' ') && inside.endsWith(' ')
  return {
    inline: { kind: 'code', text: isPadded ? inside.slice(1, -1) : inside },
    next: end + length,
  }
}

function emphasisAt(text: string, i: number, depth: number, missing: Set<string>): Taken | null {
  const c = text[i] ?? ''
  const isDouble = text[i + 1] === c
  if (c === '~' && !isDouble) return null
  const sign = isDouble ? c + c : c
  let whole = sign.length
  while (text[i + whole] === c) ++whole
  const nothing = { inline: text.slice(i, i + whole), next: i + whole }
  // Two underscores are those of __init__ more often than a sign.
  if (
    whole > (c === '_' ? 1 : 3) ||
    isSpace(text[i + whole]) ||
    isWord(text[i - 1]) ||
    missing.has(sign)
  )
    return nothing
  const last = Math.min(text.length, i + inlineWindow)
  for (let end = i + whole; end < last; ++end) {
    if (text[end] === '\n' && text[end + 1] === '\n') break
    if (!text.startsWith(sign, end) || isSpace(text[end - 1]) || text[end - 1] === '\\') continue
    let run = sign.length
    while (text[end + run] === c) ++run
    // Of ** in *a **b** c* neither closes the first one.
    if (sign.length === 1 && run === 2) {
      end += 1
      continue
    }
    const close = end + run - sign.length
    if (isWord(text[close + sign.length])) continue
    const kind = c === '~' ? 'struck' : isDouble ? 'strong' : 'emphasis'
    const inside = inlineOf(text.slice(i + sign.length, close), depth + 1)
    return { inline: { kind, inside }, next: close + sign.length }
  }
  if (last === text.length) missing.add(sign)
  return nothing
}

// [label](address "title"), or with ! before it.
function linkAt(text: string, i: number, depth: number, isPicture: boolean): Taken | null {
  let open = 0
  let end = i
  const labelEnd = Math.min(text.length, i + inlineWindow)
  for (; end < labelEnd; ++end) {
    if (text[end] === '\\') ++end
    else if (text[end] === '[') ++open
    else if (text[end] === ']' && --open === 0) break
  }
  if (end >= labelEnd || text[end + 1] !== '(') return null
  const label = text.slice(i + 1, end)
  let parentheses = 0
  let close = end + 1
  const isData = isPicture && text.startsWith('data:', end + 2)
  const closeMax = isData ? text.length : Math.min(text.length, end + 4 * inlineWindow)
  for (; close < closeMax; ++close) {
    if (text[close] === '\n') return null
    if (text[close] === '(') ++parentheses
    else if (text[close] === ')' && --parentheses === 0) break
  }
  if (close >= closeMax) return null
  const url = text
    .slice(end + 2, close)
    .trim()
    .replace(/\s+["'(][^"')]*["')]$/, '')
    .replace(/^<(.*)>$/, '$1')
  if (!url || /\s/.test(url)) return null
  const next = close + 1
  if (isPicture) return { inline: { kind: 'picture', alt: label, url }, next }
  return { inline: { kind: 'link', inside: inlineOf(label, depth + 1), url }, next }
}
