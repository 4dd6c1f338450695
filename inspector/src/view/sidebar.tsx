// The conversations there are.

import { useEffect, useRef } from 'preact/hooks'
import type { ListedConversation } from '../api/types'
import { ask } from '../operate/sheet_state'
import {
  conversation,
  isOverview,
  listed,
  listNext,
  loadList,
  open,
  refreshList,
  search,
} from '../state'
import { loadRecalled, Recalled } from './recalled'
import { dollars, roughly, when } from './words'

const betweenLooksMs = 5000

export function Sidebar() {
  const timer = useRef(0)
  const onSearch = (text: string) => {
    search.value = text
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => {
      void loadList()
      void loadRecalled()
    }, 200)
  }
  useEffect(() => {
    const looking = window.setInterval(() => void refreshList(), betweenLooksMs)
    return () => clearInterval(looking)
  }, [])
  return (
    <nav class="sidebar" aria-label="Conversations">
      <div class="sidebar-head">
        <h2>Conversations</h2>
        <button
          class="icon"
          type="button"
          onClick={() => ask('NEW')}
          aria-label="New conversation"
          title="New conversation"
        >
          +
        </button>
      </div>
      <input
        type="search"
        class="search"
        value={search.value}
        onInput={e => onSearch(e.currentTarget.value)}
        placeholder="Search titles and messages"
        aria-label="Search conversations by id or title, and messages by words"
        spellcheck={false}
      />
      <ul class="conversations">
        {listed.value.map(each => (
          <li key={each.id}>
            <button
              type="button"
              class="conversation"
              aria-current={
                !isOverview.value && conversation.value?.id === each.id ? 'page' : undefined
              }
              onClick={() => void open(each.id)}
            >
              {each.about ? <Session about={each.about} id={each.id} /> : each.id}
            </button>
          </li>
        ))}
      </ul>
      {listed.value.length === 0 && (
        <p class="quiet empty">None{search.value ? ' with that in its id or title' : ' yet'}.</p>
      )}
      {listNext.value !== undefined && (
        <button class="more" type="button" onClick={() => void loadList(listNext.value)}>
          More
        </button>
      )}
      <Recalled />
    </nav>
  )
}

function Session({ about, id }: { about: NonNullable<ListedConversation['about']>; id: string }) {
  const { input, output, cacheRead, cacheWrite } = about.tokens
  const tokens = input + output + cacheRead + cacheWrite
  const folder = about.project.split('/').filter(Boolean).at(-1)
  const facts = [
    folder,
    about.client,
    about.model,
    tokens > 0 && `${roughly(tokens)} tokens`,
    about.cost > 0 && dollars(about.cost),
    when(about.updatedAt).slice(5, 16),
  ]
  return (
    <>
      <span class="session-title">{about.title || id}</span>
      <span class="session-facts" title={`${about.project} ${when(about.updatedAt)}`}>
        {facts.filter(Boolean).join(' · ')}
      </span>
    </>
  )
}
