// The view as a transcript: of a hundred thousand messages, those in sight.

import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Row } from '../api/types';
import { roleClass } from '../model/blocks';
import { cursor, head, lookAt, reveal, rowsChanged, shown, type Shown } from '../state';
import type { Answer } from './blocks';
import { Card } from './card';
import { FindBar, useHighlight } from './find';
import { useWindow, type Window } from './window';
import { plural } from './words';

export function Transcript() {
  const view = shown.value;
  return (
    <main class="transcript" aria-label="Transcript">
      <FindBar />
      {view ? <List view={view} /> : <p class="empty quiet">Choose a conversation.</p>}
    </main>
  );
}

function List({ view }: { view: Shown }) {
  rowsChanged.value; // a reason to be drawn again
  const window = useWindow(view.id, view.count, lookAt);
  const { first, last } = window;
  const folding = view.rows.folding(first, last);
  useEffect(() => lookAt(first, Math.max(first, last)), [view]);
  useReveal(view, window);
  useHighlight(window.box);

  const items: preact.ComponentChild[] = [];
  for (let index = first; index <= last; ++index) {
    const row = view.rows.get(index);
    if (row && folding.foldedInto.has(index)) {
      window.setHeight(index, 0);
      continue;
    }
    items.push(<Item key={index} view={view} index={index} row={row} answers={folding.answers.get(index)} window={window} />);
  }

  const onKeyDown = (event: KeyboardEvent) => {
    const at = event.target as HTMLElement;
    if (at !== event.currentTarget && at.tagName !== 'ARTICLE') return;
    const next = moved(event.key, cursor.value, view.count, (i) => view.rows.folding(first, last).foldedInto.has(i));
    if (next === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moveTo(window, next);
  };

  return (
    <div class="list" role="feed" aria-label={plural(view.count, 'message')} aria-busy={false} tabIndex={0} ref={window.box} onKeyDown={onKeyDown}>
      {view.count === 0 && <p class="empty quiet">There is nothing in this view.</p>}
      <div class="list-all" style={{ height: `${window.heights.total}px` }}>
        {items}
      </div>
    </div>
  );
}

// Where a key leads to; null for keys that lead nowhere.
function moved(key: string, from: number, count: number, isFolded: (index: number) => boolean): number | null {
  const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 8, PageUp: -8 }[key];
  if (key === 'Home') return 0;
  if (key === 'End') return Math.max(0, count - 1);
  if (by === undefined) return null;
  let to = Math.min(Math.max(0, from + by), Math.max(0, count - 1));
  while (isFolded(to) && to + Math.sign(by) < count && to > 0) to += Math.sign(by);
  return to;
}

let focusWanted = false;

function moveTo(window: Window, index: number): void {
  focusWanted = true;
  cursor.value = index;
  window.scrollTo(index, 'nearest');
}

// Brings a message into sight; one that is folded into another, by that other one, which may be known only when its rows have come.
function useReveal(view: Shown, window: Window): void {
  const wanted = reveal.value;
  const done = useRef<{ wanted: typeof wanted; to: number }>({ wanted: null, to: 0 });
  useLayoutEffect(() => {
    if (!wanted) return;
    const to = view.rows.folding(wanted.index, wanted.index).foldedInto.get(wanted.index) ?? wanted.index;
    if (done.current.wanted === wanted && done.current.to === to) return;
    done.current = { wanted, to };
    cursor.value = to;
    window.scrollTo(to, 'start');
  }, [wanted, rowsChanged.value]);
}

function Item({ view, index, row, answers, window }: { view: Shown; index: number; row: Row | undefined; answers: Map<string, Answer> | undefined; window: Window }) {
  const element = useRef<HTMLElement>(null);
  const isAt = cursor.value === index;
  const isHead = view.version === head.value;
  const said = [...(answers?.values() ?? [])].map((answer) => answer.row.ordinal).join();
  // The same vnode again is not compared: scrolling costs nothing for the cards that stay.
  const card = useMemo(() => row && <Card id={view.id} row={row} answers={answers} isHead={isHead} />, [row, said, isHead]);
  useLayoutEffect(() => window.observe(element.current), []);
  useLayoutEffect(() => {
    if (!isAt || !focusWanted) return;
    focusWanted = false;
    element.current?.focus({ preventScroll: true });
  });
  return (
    <article
      class={`item ${isAt ? 'at' : ''}`}
      ref={element}
      data-index={index}
      tabIndex={isAt ? 0 : -1}
      aria-posinset={index + 1}
      aria-setsize={view.count}
      aria-label={row ? `Message ${index}, ${row.message.role}` : `Message ${index}`}
      onFocus={() => (cursor.value = index)}
      style={{ transform: `translateY(${window.heights.offset(index)}px)` }}
    >
      <div class={`card ${row ? 'card-' + roleClass(row.message) : 'card-waits'}`}>{card ?? <span class="quiet">#{index}</span>}</div>
    </article>
  );
}
