// Text from messages. It becomes text nodes and nothing else; addresses of the web become links.

import { useState } from 'preact/hooks'
import { pieces } from '../model/links'
import { count } from './words'

const clipAt = 4000

export function Text({ text, mono = false }: { text: string; mono?: boolean }) {
  const [isWhole, setWhole] = useState(false)
  const clipped = !isWhole && text.length > clipAt + 500
  const shown = clipped ? text.slice(0, clipAt) : text
  return (
    <div class={mono ? 'text mono' : 'text'} dir="auto">
      {pieces(shown).map(piece =>
        piece.href === null ? (
          piece.text
        ) : (
          <a href={piece.href} target="_blank" rel="noopener noreferrer">
            {piece.text}
          </a>
        ),
      )}
      {clipped && (
        <button class="more" type="button" onClick={() => setWhole(true)}>
          Show all {count(text.length)} characters
        </button>
      )}
    </div>
  )
}
