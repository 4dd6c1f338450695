// Text from messages, set out as what it is: Markdown, a diff, JSON, a terminal's colours. It becomes elements and text nodes and nothing else;
// addresses of the web become links, and pictures come from the text itself. Raw shows it character by character.

import { signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { painted, type Painted } from '../model/ansi'
import { isPicture } from '../model/blocks'
import { diffRuns } from '../model/diff_text'
import { pieces, wholeAddress } from '../model/links'
import { markdown, type Inline, type Part } from '../model/markdown'
import { shapedMax, shapeOf, type Source } from '../model/shape'
import { soughtWords } from './folds'
import { JsonTree, parsed } from './json_tree'
import { count } from './words'

export const isRaw = signal(false)

const clipAt = 4000

export function Text({ text, as = 'output' }: { text: string; as?: Source }) {
  const [isWhole, setWhole] = useState(false)
  const raw = isRaw.value
  const shape = useMemo(() => (raw ? 'plain' : shapeOf(text, as)), [text, as, raw])
  // JSON that is cut is none; what is folded in it is not made until it is opened.
  const clipped = !isWhole && text.length > clipAt + 500 && shape !== 'json'
  const shown = clipped ? text.slice(0, clipAt) : text
  const set = useMemo(() => inShape(shown, shape), [shown, shape])
  return (
    <div class={`text ${as === 'output' ? 'mono' : ''} as-${shape}`} dir="auto">
      {shape === 'json' ? <JsonText text={shown} /> : set}
      {clipped && (
        <button class="more" type="button" onClick={() => setWhole(true)}>
          Show all {count(text.length)} characters
        </button>
      )}
    </div>
  )
}

function inShape(text: string, shape: ReturnType<typeof shapeOf>): ComponentChild {
  switch (shape) {
    case 'markdown':
      return markdown(text).map(partView)
    case 'diff':
      return diffView(text)
    case 'colours':
      return painted(text).map(paintedView)
    default:
      return linked(text)
  }
}

// As it was written, where it is no JSON, or is to be shown so.
export function JsonText({ text }: { text: string }) {
  const value = useMemo(() => (text.length > shapedMax ? undefined : parsed(text)), [text])
  if (isRaw.value || value === undefined) return <pre class="json">{text}</pre>
  return <JsonTree value={value} sought={soughtWords.value} />
}

function linked(text: string): ComponentChild {
  return pieces(text).map(piece =>
    piece.href === null ? (
      piece.text
    ) : (
      <a href={piece.href} target="_blank" rel="noopener noreferrer">
        {piece.text}
      </a>
    ),
  )
}

function diffView(text: string): ComponentChild {
  return (
    <span class="diff-text">
      {diffRuns(text).map(run => (
        <span class={`diff-${run.kind}`}>{run.text}</span>
      ))}
    </span>
  )
}

function paintedView({ text, ink, ground, ...style }: Painted): ComponentChild {
  const names = Object.entries(style).flatMap(([name, is]) => (is ? [`ansi-${name}`] : []))
  if (ink !== null) names.push(`ansi-ink-${ink}`)
  if (ground !== null) names.push(`ansi-ground-${ground % 8}`)
  return names.length ? <span class={names.join(' ')}>{text}</span> : linked(text)
}

// Headings are no headings of the page: a reader who goes from one to the next means the page's.
function partView(part: Part): ComponentChild {
  switch (part.kind) {
    case 'heading':
      return (
        <p class={`md-heading md-level-${part.level}`} dir="auto">
          {part.inside.map(inlineView)}
        </p>
      )
    case 'paragraph':
      return <p dir="auto">{part.inside.map(inlineView)}</p>
    case 'code':
      return (
        <div class="md-code">
          {part.language && <span class="md-language">{part.language}</span>}
          <pre>
            <code dir="ltr">
              {/^(diff|patch)\b/i.test(part.language) ? diffView(part.text) : part.text}
            </code>
          </pre>
        </div>
      )
    case 'list': {
      const items = part.items.map(each => <li dir="auto">{itemView(each)}</li>)
      return part.start === null ? <ul>{items}</ul> : <ol start={part.start}>{items}</ol>
    }
    case 'quote':
      return <blockquote>{part.parts.map(partView)}</blockquote>
    case 'table':
      return (
        <table>
          <thead>
            <tr>
              {part.head.map(cell =>
                cell.length ? <th scope="col">{cell.map(inlineView)}</th> : <td />,
              )}
            </tr>
          </thead>
          <tbody>
            {part.rows.map(row => (
              <tr>
                {row.map(cell => (
                  <td>{cell.map(inlineView)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )
    case 'rule':
      return <hr />
  }
}

// A paragraph alone needs no element of its own in an item.
function itemView(parts: Part[]): ComponentChild {
  const [first, ...rest] = parts
  return first?.kind === 'paragraph'
    ? [first.inside.map(inlineView), rest.map(partView)]
    : parts.map(partView)
}

function inlineView(inline: Inline): ComponentChild {
  switch (inline.kind) {
    case 'text':
      return linked(inline.text)
    case 'code':
      return <code>{inline.text}</code>
    case 'strong':
      return <strong>{inline.inside.map(inlineView)}</strong>
    case 'emphasis':
      return <em>{inline.inside.map(inlineView)}</em>
    case 'struck':
      return <s>{inline.inside.map(inlineView)}</s>
    case 'link':
      return (
        <>
          {inline.inside.map(inlineView)} <Address url={inline.url} />
        </>
      )
    case 'picture':
      return isPicture(inline.url) ? (
        <img class="picture" src={inline.url} alt={inline.alt || 'Picture in the message'} />
      ) : (
        <span class="media">
          [picture{inline.alt && `: ${inline.alt}`}, not fetched] <Address url={inline.url} />
        </span>
      )
  }
}

// Where a link leads stands beside what it says, which may be anything.
function Address({ url }: { url: string }) {
  const href = wholeAddress(url)
  return (
    <span class="md-address">
      (
      {href === null ? (
        url
      ) : (
        <a href={href} target="_blank" rel="noopener noreferrer">
          {url}
        </a>
      )}
      )
    </span>
  )
}
