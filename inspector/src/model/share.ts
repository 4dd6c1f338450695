// A conversation as one page that needs nothing else: no script, nothing that is fetched, and of what was chosen to be left out no trace.

import type { Block, Row } from '../api/types'
import { mediaSource, toolName } from './blocks'

export interface Redactions {
  system: boolean // the prompts
  reasoning: boolean
  arguments: boolean // of calls
  results: boolean
  media: boolean
  secrets: boolean // what looks like a key, a password or an address of a person
  words: string[]
}

export const nothingRedacted: Redactions = {
  system: false,
  reasoning: false,
  arguments: false,
  results: false,
  media: false,
  secrets: false,
  words: [],
}

const bar = '█████'

// Keys by the marks of those who give them out, values beside names that say what they are, private keys, tokens of JWT, addresses of mail.
const secrets: RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9_-]{16,}/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|npm_|hf_)[A-Za-z0-9_-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g,
  /(?<=\bBearer[ \t]{1,8})[A-Za-z0-9._~+/-]{12,}=*/gi,
  /(?<=\b[\w-]{0,40}(?:password|passwd|secret|token|api[_-]?key|(?:secret|private|access|auth)[\w-]{0,20}key)["']?[ \t]{0,8}[:=][ \t]{0,8}["']?)[^\s"',;]{6,}/gi,
  /(?<=:\/\/[^\s:@/]{0,80}:)[^\s@/]+(?=@)/g, // of an address with a user
  /(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,80}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}/g,
]

const literal = (word: string) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

export function redactor(chosen: Redactions): (text: string) => string {
  const words = chosen.words
    .map(word => word.trim())
    .filter(Boolean)
    .sort((a, b) => b.length - a.length)
  const wanted = words.length > 0 ? new RegExp(words.map(literal).join('|'), 'gi') : null
  return text => {
    let left = text
    if (chosen.secrets) for (const pattern of secrets) left = left.replace(pattern, bar)
    return wanted ? left.replace(wanted, bar) : left
  }
}

// Values of JSON before they are written: a quotation mark or the end of a line in them is no mark of JSON's yet. A member whose name says
// that it is secret is redacted as `name: value`.
export function redactedJson(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map(each => redactedJson(each, redact))
  if (typeof value === 'number') return redact(String(value)) === String(value) ? value : bar
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      const isSecret = typeof each === 'string' && redact(`${name}: ${each}`) === `${name}: ${bar}`
      return [redact(name), isSecret ? bar : redactedJson(each, redact)]
    }),
  )
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
export const escaped = (text: string) => text.replace(/[&<>"']/g, c => entities[c] ?? c)

const style = `:root{color-scheme:light dark;font:15px/1.55 system-ui,sans-serif}body{margin:0 auto;max-width:52rem;padding:1.5rem 1rem 4rem;background:light-dark(#f5f6f8,#14171b);color:light-dark(#1a2027,#e4e8ee)}
h1{font-size:1.25rem;overflow-wrap:anywhere}.about,.left,h2 span{color:light-dark(#566170,#a0abb9)}article,details{border:1px solid light-dark(#dde1e7,#323944);border-radius:8px;background:light-dark(#fff,#1b1f25)}
article{margin:.8rem 0;padding:.6rem .9rem}h2{font-size:.85rem;margin:0 0 .3rem}.text,pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.4rem 0}pre{font:.82rem/1.45 ui-monospace,monospace}
details{margin:.4rem 0;padding:.35rem .6rem}summary{cursor:pointer;overflow-wrap:anywhere}img{max-width:100%;height:auto}.failed{color:light-dark(#b3261e,#ff9b93)}a:target,article:target{outline:2px solid light-dark(#2b57cf,#86a8ff)}`

class Writer {
  private readonly redact: (text: string) => string

  constructor(private readonly chosen: Redactions) {
    this.redact = redactor(chosen)
  }

  say(text: string): string {
    return escaped(this.redact(text))
  }

  // JSON, given as it was read or as its text.
  private json(value: unknown, indent?: number): string {
    let read = value
    if (typeof value === 'string') {
      try {
        read = JSON.parse(value)
      } catch {
        return this.say(value)
      }
    }
    return escaped(JSON.stringify(redactedJson(read, this.redact), null, indent) ?? '')
  }

  blocks(blocks: Block[]): string {
    return blocks.map(block => this.block(block)).join('')
  }

  // What a tool said is its result in whichever form.
  message(row: Row): string {
    return this.chosen.results && row.role === 'tool'
      ? this.left('result')
      : this.blocks(row.blocks)
  }

  private left(what: string): string {
    return `<p class="left">${escaped(what)} left out</p>`
  }

  private folded(label: string, inside: string, failed = false): string {
    return `<details><summary${failed ? ' class="failed"' : ''}>${label}</summary>${inside}</details>`
  }

  private block(block: Block): string {
    switch (block.kind) {
      case 'text':
        return `<div class="text" dir="auto">${this.say(block.text)}</div>`
      case 'reasoning':
        return this.chosen.reasoning
          ? this.left('reasoning')
          : this.folded(
              'Reasoning',
              `<div class="text" dir="auto">${this.say(block.text ?? '(only the provider can read it)')}</div>`,
            )
      case 'call':
        return this.folded(
          `Call of ${this.say(toolName(block))}`,
          (this.chosen.arguments
            ? this.left('arguments')
            : `<pre>${this.json(block.arguments)}</pre>`) +
            (block.blocks ? this.result(block.blocks) : ''),
        )
      case 'result':
        return this.folded(
          block.isError ? 'Result, failed' : 'Result',
          this.result(block.blocks),
          block.isError,
        )
      case 'media':
        return this.media(block)
      case 'opaque':
        return this.folded(
          this.say(block.type ?? 'Other'),
          `<pre>${this.json(block.json, 2)}</pre>`,
        )
    }
  }

  private result(blocks: Block[]): string {
    return this.chosen.results ? this.left('result') : this.blocks(blocks)
  }

  private media(block: Block & { kind: 'media' }): string {
    if (this.chosen.media) return this.left(block.media)
    const source = mediaSource(block)
    if (source.kind === 'picture')
      return `<img alt="${this.say(block.filename ?? 'Picture')}" src="${escaped(source.url)}">`
    if (source.kind === 'text')
      return this.folded(
        this.say(block.filename ?? 'Document'),
        `<pre>${this.say(source.text)}</pre>`,
      )
    return `<p class="left">${this.say(block.filename ?? block.media)}, not shown</p>`
  }
}

export interface SharedFacts {
  id: string
  title: string
  version: number
  time: string
}

export function sharedPage(facts: SharedFacts, rows: Row[], chosen: Redactions): string {
  const writer = new Writer(chosen)
  let left = 0
  const articles = rows.map(row => {
    if (chosen.system && row.role === 'system') {
      left += 1
      return ''
    }
    const stands =
      row.standsFor.length > 0
        ? ` · stands for ${row.standsForCount ?? row.standsFor.length} messages`
        : ''
    return `<article id="m${row.ordinal}"><h2>${row.role} <span>#${row.index ?? ''} · ${row.tokens} tokens${stands}</span></h2>${writer.message(row)}</article>\n`
  })
  const title = writer.say(facts.title || facts.id)
  const policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
  return `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="referrer" content="no-referrer"><title>${title}</title><style>${style}</style></head><body>
<h1 dir="auto">${title}</h1>
<p class="about">${rows.length - left} messages of version ${facts.version}, ${escaped(facts.time)}${left > 0 ? ` · ${left} system prompts left out` : ''}</p>
${articles.join('')}</body></html>\n`
}
