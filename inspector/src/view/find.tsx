// Finding words in the view, and going to a message by its index.

import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { client, conversation, cursor, head, reveal, shown, shownVersion, tell } from '../state'
import { soughtWords } from './folds'
import { isRaw } from './text'
import { count } from './words'

const hits = signal<{ words: string; indices: number[]; at: number } | null>(null)
const hitsMax = 200

async function find(words: string): Promise<void> {
  const id = conversation.value?.id
  soughtWords.value = ''
  if (!id || !words) {
    hits.value = null
    return
  }
  try {
    const atVersion = shownVersion.value
    const { ordinals } = await client.find(id, words, atVersion, hitsMax)
    const indices: number[] = []
    for (let start = 0; start < ordinals.length; start += 100) {
      const { rows } = await client.rows(id, {
        atVersion,
        ordinals: ordinals.slice(start, start + 100).join(','),
      })
      for (const row of rows) if (row.index !== null) indices.push(row.index)
    }
    indices.sort((a, b) => a - b)
    hits.value = { words, indices, at: -1 }
    soughtWords.value = words
    go(1)
  } catch (error) {
    tell(error)
  }
}

function go(by: number): void {
  const found = hits.value
  if (!found?.indices.length) return
  const at = (found.at + by + found.indices.length) % found.indices.length
  hits.value = { ...found, at }
  reveal.value = { index: found.indices[at] ?? 0 }
}

// Paints what was found, without touching the text: ranges of it, which the style sheet colours.
export function useHighlight(box: { current: HTMLElement | null }): void {
  const words = hits.value?.words ?? ''
  useEffect(() => {
    if (!('highlights' in CSS)) return
    const ranges: Range[] = []
    const walker =
      box.current && words ? document.createTreeWalker(box.current, NodeFilter.SHOW_TEXT) : null
    while (walker?.nextNode()) {
      const node = walker.currentNode as Text
      for (
        let at = node.data.indexOf(words);
        at >= 0;
        at = node.data.indexOf(words, at + words.length)
      ) {
        const range = new Range()
        range.setStart(node, at)
        range.setEnd(node, at + words.length)
        ranges.push(range)
      }
    }
    CSS.highlights.set('found', new Highlight(...ranges))
  })
}

export function FindBar() {
  const [words, setWords] = useState('')
  const [place, setPlace] = useState('')
  const found = hits.value
  const version = shown.value?.version
  useEffect(() => {
    hits.value = null
    soughtWords.value = ''
  }, [conversation.value?.id, version])
  const submit = (event: Event) => {
    event.preventDefault()
    if (found && found.words === words) go(1)
    else void find(words)
  }
  const jump = (event: Event) => {
    event.preventDefault()
    if (!/^\d+$/.test(place.trim())) return
    reveal.value = { index: Math.min(Number(place), Math.max(0, (shown.value?.count ?? 1) - 1)) }
  }
  const isPast = shown.value !== null && shownVersion.value !== head.value
  return (
    <div class="find-bar" role="search" aria-label="In this transcript">
      <form class="find" onSubmit={submit}>
        <input
          type="search"
          value={words}
          onInput={e => setWords(e.currentTarget.value)}
          placeholder="Find in messages"
          aria-label="Find in messages"
          spellcheck={false}
        />
        <button type="submit">Find</button>
        <span class="hits" role="status">
          {found &&
            (found.indices.length
              ? `${found.at + 1} of ${count(found.indices.length)}${found.indices.length === hitsMax ? '+' : ''}`
              : 'not found')}
        </span>
        <button
          type="button"
          class="icon"
          onClick={() => go(-1)}
          disabled={!found?.indices.length}
          aria-label="Previous hit"
        >
          ↑
        </button>
        <button
          type="button"
          class="icon"
          onClick={() => go(1)}
          disabled={!found?.indices.length}
          aria-label="Next hit"
        >
          ↓
        </button>
      </form>
      <span class="past" role="status">
        {isPast ? `As it was at version ${count(shownVersion.value)}` : ''}
      </span>
      <button
        type="button"
        class="raw-switch"
        aria-pressed={isRaw.value}
        title="Every text as it is stored, character by character"
        onClick={() => (isRaw.value = !isRaw.value)}
      >
        Raw
      </button>
      <form class="jump" onSubmit={jump}>
        <label>
          Go to #
          <input
            inputMode="numeric"
            value={place}
            onInput={e => setPlace(e.currentTarget.value)}
            placeholder={String(cursor.value)}
            size={6}
          />
        </label>
      </form>
    </div>
  )
}
