// The conversations there are.

import { useRef } from 'preact/hooks';
import { ask } from '../operate/sheet_state';
import { conversation, listed, listNext, loadList, open, search } from '../state';

export function Sidebar() {
  const timer = useRef(0);
  const onSearch = (text: string) => {
    search.value = text;
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => void loadList(), 200);
  };
  return (
    <nav class="sidebar" aria-label="Conversations">
      <div class="sidebar-head">
        <h2>Conversations</h2>
        <button class="icon" type="button" onClick={() => ask('NEW')} aria-label="New conversation" title="New conversation">
          +
        </button>
      </div>
      <input type="search" class="search" value={search.value} onInput={(e) => onSearch(e.currentTarget.value)} placeholder="Search by id" aria-label="Search conversations by id" spellcheck={false} />
      <ul class="conversations">
        {listed.value.map(({ id }) => (
          <li key={id}>
            <button type="button" class="conversation" aria-current={conversation.value?.id === id ? 'page' : undefined} onClick={() => void open(id)}>
              {id}
            </button>
          </li>
        ))}
      </ul>
      {listed.value.length === 0 && <p class="quiet empty">None{search.value ? ' with that in its id' : ' yet'}.</p>}
      {listNext.value !== undefined && (
        <button class="more" type="button" onClick={() => void loadList(listNext.value)}>
          More
        </button>
      )}
    </nav>
  );
}
