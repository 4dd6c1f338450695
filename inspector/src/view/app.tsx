// The page: conversations on the left, the transcript in the middle, what can be known about it on the right, its versions below.

import { useState } from 'preact/hooks'
import { ask } from '../operate/sheet_state'
import { Sheet } from '../operate/sheet'
import { Requests } from '../requests/requests'
import {
  chosenVersion,
  conversation,
  giveToken,
  head,
  isOverview,
  line,
  needsToken,
  notice,
  overviewPlace,
  placeOf,
  requestsPlace,
  shownVersion,
  versions,
  versionsChanged,
} from '../state'
import { Overview } from './overview'
import { Panel } from './panel'
import { isSharing, Share } from './share'
import { Sidebar } from './sidebar'
import { ThemeSwitch } from './theme'
import { Timeline } from './timeline'
import { Transcript } from './transcript'
import { count, plural } from './words'

export function App() {
  if (needsToken.value) return <TokenPrompt />
  const place = requestsPlace.value
  const id = conversation.value?.id
  return (
    <>
      <div class={place || isOverview.value ? 'page page-requests' : 'page'}>
        <TopBar />
        <Sidebar />
        {isOverview.value ? (
          <Overview />
        ) : place && id ? (
          <Requests id={id} place={place} />
        ) : (
          <>
            <Transcript />
            <Panel />
            <Timeline />
          </>
        )}
      </div>
      <Notice />
      <Sheet />
      <Share />
    </>
  )
}

function TopBar() {
  const about = conversation.value
  return (
    <header class="top">
      <h1>
        Undertext <span class="quiet">inspector</span>
      </h1>
      <Views id={about?.id} />
      {about && !isOverview.value && <Title />}
      <span class="top-space" />
      {about && !requestsPlace.value && !isOverview.value && <Commands />}
      <ThemeSwitch />
    </header>
  )
}

function Views({ id }: { id: string | undefined }) {
  const shows = isOverview.value ? 'overview' : requestsPlace.value ? 'requests' : 'transcript'
  const current = (what: string) => (shows === what ? 'page' : undefined)
  return (
    <nav class="views" aria-label="Views">
      <a href={overviewPlace} aria-current={current('overview')}>
        Overview
      </a>
      {id !== undefined && (
        <>
          <a href={placeOf(id, chosenVersion.value, null)} aria-current={current('transcript')}>
            Transcript
          </a>
          <a href={placeOf(id, null, { number: null })} aria-current={current('requests')}>
            Requests
          </a>
        </>
      )}
    </nav>
  )
}

function Title() {
  versionsChanged.value
  const about = conversation.value
  if (!about) return null
  const { stats } = about
  const entry = versions.get(shownVersion.value) ?? {
    tokens: stats.tokens,
    messageCount: stats.currentBatchMessages,
  }
  return (
    <div class="title">
      <span class="title-id" title={about.id}>
        {about.about?.title || about.id}
      </span>
      {about.origin && (
        <span class="badge">
          fork of {about.origin.id} at {about.origin.version}
        </span>
      )}
      <span class="badge version">
        version {count(shownVersion.value)}
        {chosenVersion.value !== null && ` of ${count(head.value)}`}
      </span>
      <Meter
        tokens={entry.tokens}
        limit={about.settings.tokenLimit}
        messages={entry.messageCount}
      />
      <span class={`line line-${line.value}`} role="status">
        {line.value === 'live' ? 'live' : line.value === 'waiting' ? 'offline' : 'connecting'}
      </span>
    </div>
  )
}

function Meter({
  tokens,
  limit,
  messages,
}: {
  tokens: number
  limit: number | undefined
  messages: number
}) {
  const text = `${plural(messages, 'message')} · ${count(tokens)}${limit ? ' of ' + count(limit) : ''} tokens`
  return (
    <span class={limit && tokens > limit ? 'meter over' : 'meter'}>
      {text}
      {limit ? (
        <progress
          max={limit}
          value={Math.min(tokens, limit)}
          aria-label={`${count(tokens)} of ${count(limit)} tokens`}
        />
      ) : null}
    </span>
  )
}

function Commands() {
  const isPast = chosenVersion.value !== null
  return (
    <div class="commands" role="toolbar" aria-label="Operations">
      {isPast ? (
        <button
          type="button"
          class="strong"
          onClick={() => ask('RESTORE', { version: String(shownVersion.value) })}
        >
          Restore this version
        </button>
      ) : (
        <>
          <button type="button" onClick={() => ask('UNDO')}>
            Undo
          </button>
          <button type="button" onClick={() => ask('REDO')}>
            Redo
          </button>
          <button type="button" onClick={() => ask('APPEND')}>
            Append
          </button>
          <button type="button" onClick={() => ask('COMPRESS')}>
            Compress
          </button>
          <button type="button" onClick={() => ask('ROLLBACK')}>
            Roll back
          </button>
        </>
      )}
      <button type="button" onClick={() => ask('FORK', { version: String(shownVersion.value) })}>
        Fork
      </button>
      <button type="button" onClick={() => (isSharing.value = true)}>
        Share
      </button>
      {!isPast && (
        <button type="button" onClick={() => ask('JSON')}>
          More…
        </button>
      )}
    </div>
  )
}

function Notice() {
  const said = notice.value
  return (
    <div class="notices" aria-live="polite">
      {said && (
        <p class={`notice notice-${said.kind}`}>
          {said.text}
          <button
            type="button"
            class="icon"
            onClick={() => (notice.value = null)}
            aria-label="Close this notice"
          >
            ×
          </button>
        </p>
      )}
    </div>
  )
}

function TokenPrompt() {
  const [text, setText] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    if (text.trim()) giveToken(text.trim())
  }
  return (
    <main class="token-page">
      <form class="token-prompt" onSubmit={submit}>
        <h1>Undertext inspector</h1>
        <p>This server asks for a token. It is kept until this tab is closed, and nowhere else.</p>
        <label>
          Token
          <input
            type="password"
            value={text}
            onInput={e => setText(e.currentTarget.value)}
            autocomplete="off"
            spellcheck={false}
            autofocus
          />
        </label>
        <button type="submit" class="strong">
          Open
        </button>
        <p class="quiet">
          Made by <code>undertext token make</code>.
        </p>
      </form>
    </main>
  )
}
