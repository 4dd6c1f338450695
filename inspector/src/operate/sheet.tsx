// An operation by form: what is filled in on the left, what it would do on the right. Nothing is applied that was not previewed.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api/client'
import type { Preview } from '../api/types'
import { choose, client, conversation, head, inform, refresh } from '../state'
import {
  anyForm,
  asksModel,
  body,
  FormError,
  formNamed,
  forms,
  initialValues,
  type Form,
  type Values,
} from './forms'
import { Fields } from './fields'
import { Making } from './making'
import { PreviewView } from './preview'
import { ask, asked, close, type Asked } from './sheet_state'

export function Sheet() {
  const wanted = asked.value
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const element = dialog.current
    if (wanted && element && !element.open) element.showModal()
  }, [wanted])
  if (!wanted) return null
  const isMaking = wanted.name === 'FORK' || wanted.name === 'NEW'
  return (
    <dialog
      class={isMaking ? 'sheet small' : 'sheet'}
      ref={dialog}
      onClose={close}
      aria-labelledby="sheet-title"
    >
      {isMaking ? <Making asked={wanted} /> : <OperationSheet key={wanted.name} asked={wanted} />}
    </dialog>
  )
}

interface Tried {
  body: string
  preview: Preview | null
  error: { field: string; text: string } | null
}

function OperationSheet({ asked: wanted }: { asked: Asked }) {
  const form = formNamed(wanted.name)
  const [values, setValues] = useState<Values>(() => initialValues(form, wanted.values))
  const [isBusy, setBusy] = useState(false)
  const [refused, setRefused] = useState('')
  const id = conversation.value?.id ?? ''
  const made = useMade(form, values)
  const isSlow = asksModel(form, values)
  const tried = usePreview(id, isSlow ? null : made.text)
  const current = tried?.body === made.text ? tried : null
  const error = made.error ?? current?.error ?? null

  const apply = async (event: Event) => {
    event.preventDefault()
    if (!(current?.preview || isSlow) || made.text === null) return
    setBusy(true)
    setRefused('')
    try {
      if (isSlow) {
        await client.compress(id, made.text)
        return close() // events tell how far it is
      }
      const outcomes = await client.operate(id, made.text)
      const version = outcomes.at(-1)?.version
      close()
      choose(null)
      inform(`${form.title}: done, version ${version ?? ''}.`)
      await refresh(id)
    } catch (failure) {
      setBusy(false)
      // Where somebody was faster, the form stays, and is tried again on what there is now.
      const isConflict = failure instanceof ApiError && failure.isConflict
      setRefused(
        isConflict
          ? 'The conversation was changed meanwhile. This is what it would do now; apply it again if that is still what you want.'
          : told(failure).text,
      )
      if (isConflict) await refresh(id)
    }
  }

  return (
    <form class="sheet-form" onSubmit={event => void apply(event)}>
      <header class="sheet-head">
        <h2 id="sheet-title">{form.title}</h2>
        <label class="sheet-choice">
          <span class="visually-hidden">Operation</span>
          <select value={form.name} onChange={e => ask(e.currentTarget.value)}>
            {[...forms, anyForm].map(({ name, title }) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="icon" onClick={close} aria-label="Close">
          ×
        </button>
      </header>
      <div class="sheet-body">
        <div class="sheet-fields">
          <p class="quiet">{form.what}</p>
          <Fields
            form={form}
            values={values}
            error={error}
            onChange={(name, value) => setValues({ ...values, [name]: value })}
          />
        </div>
        <section
          class="sheet-preview"
          aria-label="Preview"
          aria-live="polite"
          aria-busy={!current && !isSlow}
        >
          <h3>What it would do</h3>
          {refused && <p class="warning">{refused}</p>}
          {error && (
            <p class="failed">
              {error.field && !error.text.startsWith(error.field) ? `${error.field}: ` : ''}
              {error.text}
            </p>
          )}
          {isSlow && (
            <p>
              A model writes the summary, in the background. What it comes to cannot be shown
              before; what is appended meanwhile stays.
            </p>
          )}
          {current?.preview && <PreviewView id={id} preview={current.preview} />}
          {!error && !current && !isSlow && <p class="quiet">Trying it…</p>}
        </section>
      </div>
      <footer class="sheet-foot">
        <span class="quiet">on version {head.value}</span>
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button
          type="submit"
          class="strong"
          disabled={!(current?.preview || (isSlow && made.text !== null)) || isBusy}
        >
          Apply
        </button>
      </footer>
    </form>
  )
}

// What the form says would be sent; it expects the head.
function useMade(form: Form, values: Values): { text: string | null; error: Tried['error'] } {
  const version = head.value
  return useMemo(() => {
    try {
      return { text: body(form, values, version), error: null }
    } catch (error) {
      if (error instanceof FormError)
        return { text: null, error: { field: error.field, text: error.message } }
      throw error
    }
  }, [form, values, version])
}

function usePreview(id: string, text: string | null): Tried | null {
  const [tried, setTried] = useState<Tried | null>(null)
  useEffect(() => {
    if (text === null) return
    let isWanted = true
    const timer = setTimeout(
      () => {
        client.preview(id, text).then(
          preview => isWanted && setTried({ body: text, preview, error: null }),
          (error: unknown) =>
            isWanted && setTried({ body: text, preview: null, error: told(error) }),
        )
      },
      tried ? 250 : 0,
    )
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [id, text])
  return tried
}

function told(error: unknown): { field: string; text: string } {
  if (!(error instanceof ApiError))
    return { field: '', text: error instanceof Error ? error.message : String(error) }
  const least =
    error.body.minimum === undefined
      ? ''
      : ` The least that can be reached is ${error.body.minimum} tokens.`
  return { field: error.body.field ?? '', text: error.message + least }
}
