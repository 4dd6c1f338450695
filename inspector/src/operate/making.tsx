// A new conversation: an empty one, or one that goes on from a version of another.

import { useState } from 'preact/hooks'
import type { NewConversation } from '../api/types'
import { client, conversation, loadList, open, tell, versions } from '../state'
import { count, plural } from '../view/words'
import { ask, close, type Asked } from './sheet_state'

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
  const { kept, index, message } = asked.values
  const after = Number(asked.values.after ?? 0)
  const isEdited = message !== undefined && index !== undefined
  const [drops, setDrops] = useState(!isEdited)
  const submit = async (event: Event) => {
    event.preventDefault()
    try {
      const made = isFork
        ? await client.fork(from, id.trim(), version)
        : await client.create(fresh(id.trim(), model.trim()))
      close()
      await goOn(made.id)
    } catch (error) {
      setRefused(error instanceof Error ? error.message : String(error))
    }
  }
  // The fork is there whatever becomes of the rest, which is an operation of its own on it.
  const goOn = async (fork: string) => {
    const truncated = { operation: 'TRUNCATE', keepFirst: Number(kept) }
    const failed =
      isFork && after > 0 && drops
        ? await client.operate(fork, JSON.stringify(truncated)).then(
            () => null,
            (error: unknown) => error,
          )
        : null
    await loadList()
    await open(fork)
    if (failed !== null) tell(failed)
    else if (isEdited) ask('REPLACE', { index, message })
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
        {isFork && after > 0 && (
          <label class="field check">
            <input
              type="checkbox"
              checked={drops}
              onChange={event => setDrops(event.currentTarget.checked)}
            />{' '}
            Without the {plural(after, 'message')} after it
          </label>
        )}
        {isEdited && <p>The message is then edited in the fork.</p>}
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
