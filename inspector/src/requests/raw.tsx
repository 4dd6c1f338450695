// A raw text, of which the part in sight is drawn, and its bytes to copy and to save.

import { useLayoutEffect, useRef } from 'preact/hooks'
import type { RawText } from '../model/raw_text'
import { inform, tell } from '../state'
import { useWindow, type Window } from '../view/window'
import { size } from '../view/words'

export function Raw({
  title,
  name,
  raw,
  recorded,
}: {
  title: string
  name: string
  raw: RawText | null
  recorded: number
}) {
  return (
    <section aria-label={`${title}, raw`}>
      <div class="request-head">
        <h3>
          {title} <span class="quiet">{raw ? size(raw.bytes.size) : ''}</span>
        </h3>
        {raw && (
          <div class="raw-commands">
            {raw.kind !== 'binary' && (
              <button
                type="button"
                onClick={() => void copy(title, raw)}
                aria-label={`Copy the ${title.toLowerCase()}`}
              >
                Copy
              </button>
            )}
            <button
              type="button"
              onClick={() => save(name, raw)}
              aria-label={`Download the ${title.toLowerCase()}`}
            >
              Download
            </button>
          </div>
        )}
      </div>
      {!raw && (
        <p class="quiet">
          {recorded ? `${size(recorded)}, of which the text was not recorded.` : 'There is none.'}
        </p>
      )}
      {raw?.kind === 'binary' && <p class="quiet">Not a text.</p>}
      {raw && raw.chunks.length > 0 && (
        <Chunks key={name} title={title} name={name} chunks={raw.chunks} />
      )}
    </section>
  )
}

const estimate = 800 // of a chunk, in pixels

function Chunks({ title, name, chunks }: { title: string; name: string; chunks: string[] }) {
  const window = useWindow(name, chunks.length, () => {}, estimate)
  const shown: preact.ComponentChild[] = []
  for (let i = window.first; i <= window.last; ++i)
    shown.push(<Chunk key={i} place={i} text={chunks[i] ?? ''} window={window} />)
  return (
    <div class="raw-text" role="region" aria-label={`${title}, text`} tabIndex={0} ref={window.box}>
      <div class="list-all" style={{ height: `${window.heights.total}px` }}>
        {shown}
      </div>
    </div>
  )
}

function Chunk({ place, text, window }: { place: number; text: string; window: Window }) {
  const element = useRef<HTMLPreElement>(null)
  useLayoutEffect(() => window.observe(element.current), [])
  return (
    <pre
      class="raw-chunk"
      ref={element}
      data-place={place}
      style={{ transform: `translateY(${window.heights.offset(place)}px)` }}
    >
      {text}
    </pre>
  )
}

async function copy(title: string, raw: RawText): Promise<void> {
  try {
    await navigator.clipboard.writeText(await raw.bytes.text())
    inform(`${title} copied.`)
  } catch (error) {
    tell(error)
  }
}

function save(name: string, raw: RawText): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(raw.bytes)
  link.download = `${name}.${{ JSON: 'json', text: 'txt', binary: 'bin' }[raw.kind]}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
