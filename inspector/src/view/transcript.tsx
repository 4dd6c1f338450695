// The view as a transcript: of a hundred thousand messages, those in sight.

import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Row } from '../api/types'
import type { Answer } from '../model/pairs'
import { around, holds, spanAt, type Span } from '../model/span'
import { cursor, head, lookAt, reveal, rowsChanged, shown, type Shown } from '../state'
import { Card } from './card'
import { FindBar, useHighlight } from './find'
import { useWindow, type Window } from './window'
import { plural } from './words'

const spanFrom = signal(0)

export function Transcript() {
  const view = shown.value
  return (
    <main class="transcript" aria-label="Transcript">
      <FindBar />
      {view ? <List view={view} /> : <p class="empty quiet">Choose a conversation.</p>}
    </main>
  )
}

function List({ view }: { view: Shown }) {
  rowsChanged.value // a reason to be drawn again
  const span = spanAt(spanFrom.value, view.count)
  const window = useWindow(`${view.id}/${span.base}`, span.length, (from, to) =>
    lookAt(span.base + from, span.base + to),
  )
  const [first, last] = [span.base + window.first, span.base + window.last]
  const folding = view.rows.folding(first, last)
  useEffect(() => lookAt(first, Math.max(first, last)), [view])
  useReveal(view, span, window)
  useHighlight(window.box)

  const items: preact.ComponentChild[] = []
  for (let index = first; index <= last; ++index) {
    const row = view.rows.get(index)
    if (row && folding.foldedInto.has(index)) {
      window.setHeight(index - span.base, 0)
      continue
    }
    items.push(
      <Item
        key={index}
        view={view}
        index={index}
        place={index - span.base}
        row={row}
        answers={folding.answers.get(index)}
        window={window}
      />,
    )
  }

  const onKeyDown = (event: KeyboardEvent) => {
    const at = event.target as HTMLElement
    if (at !== event.currentTarget && at.tagName !== 'ARTICLE') return
    const next = moved(event.key, cursor.value, view.count, i =>
      view.rows.folding(first, last).foldedInto.has(i),
    )
    if (next === null || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    moveTo(span, window, next)
  }

  return (
    <div
      class="list"
      role="feed"
      aria-label={plural(view.count, 'message')}
      aria-busy={false}
      tabIndex={0}
      ref={window.box}
      onKeyDown={onKeyDown}
    >
      {view.count === 0 && <p class="empty quiet">There is nothing in this view.</p>}
      {span.base > 0 && <Beyond index={span.base - 1} what="earlier" count={span.base} />}
      <div class="list-all" style={{ height: `${window.heights.total}px` }}>
        {items}
      </div>
      {span.base + span.length < view.count && (
        <Beyond
          index={span.base + span.length}
          what="later"
          count={view.count - span.base - span.length}
        />
      )}
    </div>
  )
}

// Where a key leads to; null for keys that lead nowhere.
function moved(
  key: string,
  from: number,
  count: number,
  isFolded: (index: number) => boolean,
): number | null {
  const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 8, PageUp: -8 }[key]
  if (key === 'Home') return 0
  if (key === 'End') return Math.max(0, count - 1)
  if (by === undefined) return null
  let to = Math.min(Math.max(0, from + by), Math.max(0, count - 1))
  while (isFolded(to) && to + Math.sign(by) < count && to > 0) to += Math.sign(by)
  return to
}

// What lies before or behind the span that is shown.
function Beyond({ index, what, count }: { index: number; what: string; count: number }) {
  return (
    <p class="beyond">
      <button type="button" onClick={() => (reveal.value = { index })}>
        {plural(count, `${what} message`)}
      </button>
    </p>
  )
}

let focusWanted = false

function moveTo(span: Span, window: Window, index: number): void {
  focusWanted = true
  cursor.value = index
  if (holds(span, index)) window.scrollTo(index - span.base, 'nearest')
  else reveal.value = { index }
}

// Brings a message into sight; one that is folded into another, by that other one, which may be known only when its rows have come.
function useReveal(view: Shown, span: Span, window: Window): void {
  const wanted = reveal.value
  const done = useRef<{ wanted: typeof wanted; to: number }>({ wanted: null, to: 0 })
  useLayoutEffect(() => {
    if (!wanted) return
    const to =
      view.rows.folding(wanted.index, wanted.index).foldedInto.get(wanted.index) ?? wanted.index
    if (done.current.wanted === wanted && done.current.to === to) return
    if (!holds(span, to)) {
      spanFrom.value = around(to)
      return
    }
    done.current = { wanted, to }
    cursor.value = to
    window.scrollTo(to - span.base, 'start')
  }, [wanted, rowsChanged.value, span.base])
}

function Item({
  view,
  index,
  place,
  row,
  answers,
  window,
}: {
  view: Shown
  index: number
  place: number
  row: Row | undefined
  answers: Map<string, Answer> | undefined
  window: Window
}) {
  const element = useRef<HTMLElement>(null)
  const isAt = cursor.value === index
  const isHead = view.version === head.value
  const said = [...(answers?.values() ?? [])].map(answer => answer.row?.ordinal).join()
  // The same vnode again is not compared: scrolling costs nothing for the cards that stay.
  const card = useMemo(
    () => row && <Card id={view.id} row={row} answers={answers} isHead={isHead} />,
    [row, said, isHead],
  )
  useLayoutEffect(() => window.observe(element.current), [])
  // Tab leads into the message that the keyboard is at, and then out of the list, however long that is.
  useLayoutEffect(() => {
    for (const inner of element.current?.querySelectorAll<HTMLElement>('button, a') ?? [])
      inner.tabIndex = isAt ? 0 : -1
  })
  useLayoutEffect(() => {
    if (!isAt || !focusWanted) return
    focusWanted = false
    element.current?.focus({ preventScroll: true })
  })
  return (
    <article
      class={`item ${isAt ? 'at' : ''}`}
      ref={element}
      data-index={index}
      data-place={place}
      tabIndex={isAt ? 0 : -1}
      aria-posinset={index + 1}
      aria-setsize={view.count}
      aria-label={row ? `Message ${index}, ${row.role}` : `Message ${index}`}
      onFocusIn={() => (cursor.value = index)}
      style={{ transform: `translateY(${window.heights.offset(place)}px)` }}
    >
      <div class={`card ${row ? 'card-' + row.role : 'card-waits'}`}>
        {card ?? <span class="quiet">#{index}</span>}
      </div>
    </article>
  )
}
