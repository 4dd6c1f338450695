// The form by which the shown version is saved as a page of its own, without what is not to be seen.

import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { nothingRedacted, sharedPage, type Redactions, redactor } from '../model/share'
import { client, conversation, inform, shown, tell } from '../state'
import { plural } from './words'

export const isSharing = signal(false)

const choices: [Exclude<keyof Redactions, 'words'>, string][] = [
  ['secrets', 'Black out what looks like a key, a password or a mail address'],
  ['system', 'Leave out system prompts'],
  ['reasoning', 'Leave out reasoning'],
  ['arguments', 'Leave out arguments of tool calls'],
  ['results', 'Leave out tool results'],
  ['media', 'Leave out pictures and documents'],
]

export function Share() {
  const dialog = useRef<HTMLDialogElement>(null)
  const [chosen, setChosen] = useState<Redactions>({ ...nothingRedacted, secrets: true })
  const [isBusy, setBusy] = useState(false)
  const isOpen = isSharing.value
  useEffect(() => {
    if (isOpen && dialog.current && !dialog.current.open) dialog.current.showModal()
  }, [isOpen])
  const view = shown.value
  if (!isOpen || !view) return null
  const close = () => (isSharing.value = false)
  const save = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    try {
      const rows = await client.allRows(
        view.id,
        view.version,
        0,
        view.count,
        new AbortController().signal,
      )
      const about = conversation.value?.id === view.id ? conversation.value.about : undefined
      const facts = {
        id: view.id,
        title: about?.title ?? '',
        version: view.version,
        time: new Date().toISOString().slice(0, 10),
      }
      download(`${redactor(chosen)(view.id)}-${view.version}.html`, sharedPage(facts, rows, chosen))
      close()
      inform('Saved as a page. Read it before you pass it on.')
    } catch (error) {
      tell(error)
    }
    setBusy(false)
  }
  return (
    <dialog class="sheet small" ref={dialog} onClose={close} aria-labelledby="share-title">
      <form class="sheet-form" onSubmit={event => void save(event)}>
        <header class="sheet-head">
          <h2 id="share-title">Share as a page</h2>
          <button type="button" class="icon" onClick={close} aria-label="Close">
            ×
          </button>
        </header>
        <div class="sheet-fields">
          <p class="quiet">
            {plural(view.count, 'message')} of version {view.version}, in one file that needs no
            server and runs no script. Hidden messages are not in it.
          </p>
          {choices.map(([name, label]) => (
            <label key={name} class="field check">
              <span>{label}</span>
              <input
                type="checkbox"
                checked={chosen[name]}
                onChange={e => setChosen({ ...chosen, [name]: e.currentTarget.checked })}
              />
            </label>
          ))}
          <label class="field">
            <span class="field-label">
              Words to black out <span class="quiet">one a line</span>
            </span>
            <textarea
              rows={3}
              value={chosen.words.join('\n')}
              onInput={e => setChosen({ ...chosen, words: e.currentTarget.value.split('\n') })}
              spellcheck={false}
            />
          </label>
        </div>
        <footer class="sheet-foot">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="strong" disabled={isBusy}>
            Save the page
          </button>
        </footer>
      </form>
    </dialog>
  )
}

function download(name: string, page: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([page], { type: 'text/html' }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
