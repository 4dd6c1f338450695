// A new conversation: an empty one, or one that goes on from a version of another.

import { useState } from 'preact/hooks'
import type { NewConversation } from '../api/types'
import { client, conversation, loadList, open, versions } from '../state'
import { count, plural } from '../view/words'
import { close, type Asked } from './sheet_state'

const fresh = (id: string, model: string): NewConversation => ({
  ...(id && { id }),
  ...(model && { settings: { model } }),
})

export function Making({ asked }: { asked: Asked }) {
  const isFork = asked.name === 'FORK'
  const [id, setId] = useState('')
  const [model, setModel] = useState('')
  const [refused, setRefused] = useState('')
  const version = Number(asked.values.version ?? 0)
  const from = conversation.value?.id ?? ''
  const entry = versions.get(version)
  const submit = async (event: Event) => {
    event.preventDefault()
    try {
      const made = isFork
        ? await client.fork(from, id.trim(), version)
        : await client.create(fresh(id.trim(), model.trim()))
      close()
      await loadList()
      await open(made.id)
    } catch (error) {
      setRefused(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <form class="sheet-form" onSubmit={event => void submit(event)}>
      <header class="sheet-head">
        <h2 id="sheet-title">{isFork ? 'Fork' : 'New conversation'}</h2>
        <button type="button" class="icon" onClick={close} aria-label="Close">
          ×
        </button>
      </header>
      <div class="sheet-fields">
        {isFork ? (
          <p>
            Another conversation that goes on from version {count(version)} of <code>{from}</code>
            {entry && (
              <>
                : {plural(entry.messageCount, 'message')}, {count(entry.tokens)} tokens
              </>
            )}
            . All messages are shared; nothing is copied, and this one stays as it is.
          </p>
        ) : (
          <p>An empty conversation.</p>
        )}
        <label class="field">
          <span class="field-label">
            Id <span class="quiet">letters, digits, . _ -; may be left empty</span>
          </span>
          <input
            autofocus
            value={id}
            onInput={event => setId(event.currentTarget.value)}
            pattern="[A-Za-z0-9_\-][A-Za-z0-9._\-]{0,127}"
            spellcheck={false}
          />
        </label>
        {!isFork && (
          <label class="field">
            <span class="field-label">
              Model{' '}
              <span class="quiet">
                tokenizer, costs and window follow from it; may be left empty
              </span>
            </span>
            <input
              value={model}
              onInput={event => setModel(event.currentTarget.value)}
              spellcheck={false}
            />
          </label>
        )}
        {refused && (
          <p class="failed" role="alert">
            {refused}
          </p>
        )}
      </div>
      <footer class="sheet-foot">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" class="strong">
          {isFork ? 'Fork' : 'Make it'}
        </button>
      </footer>
    </form>
  )
}
