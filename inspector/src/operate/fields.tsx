// The fields of a form.

import { roles } from '../api/types'
import { client, conversation, head } from '../state'
import { useFetched } from '../view/fetched'
import type { Field, Form, Values } from './forms'

interface Props {
  form: Form
  values: Values
  error: { field: string; text: string } | null
  onChange: (name: string, value: string) => void
}

export function Fields({ form, values, error, onChange }: Props) {
  const shown = form.fields.filter(field => !field.when || field.when(values))
  return (
    <>
      {shown.map((field, i) => (
        <FieldView
          key={field.name + field.label}
          field={field}
          isFirst={i === 0}
          value={values[field.name] ?? ''}
          isWrong={error?.field === field.name}
          onChange={value => onChange(field.name, value)}
        />
      ))}
      {form.name !== 'JSON' && (
        <FieldView
          field={{
            name: 'description',
            label: 'Why',
            kind: 'text',
            optional: true,
            hint: 'kept with the version',
          }}
          isFirst={shown.length === 0}
          value={values.description ?? ''}
          isWrong={false}
          onChange={value => onChange('description', value)}
        />
      )}
    </>
  )
}

interface FieldProps {
  field: Field
  value: string
  isFirst: boolean // which the keyboard is at when the form opens
  isWrong: boolean
  onChange: (value: string) => void
}

function FieldView({ field, onChange, ...rest }: FieldProps) {
  const hint = field.hint ?? (field.optional ? 'may be left empty' : '')
  return (
    <label class={field.kind === 'check' ? 'field check' : 'field'}>
      <span class="field-label">
        {field.label} {hint && <span class="quiet">{hint}</span>}
      </span>
      <Control field={field} onChange={onChange} {...rest} />
    </label>
  )
}

function Control({ field, value, isFirst, isWrong, onChange }: FieldProps) {
  const input = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value)
  switch (field.kind) {
    case 'long':
      return (
        <textarea
          autofocus={isFirst}
          rows={6}
          value={value}
          onInput={input}
          aria-invalid={isWrong}
          dir="auto"
        />
      )
    case 'json':
      return (
        <textarea
          autofocus={isFirst}
          class="mono"
          rows={12}
          value={value}
          onInput={input}
          aria-invalid={isWrong}
          spellcheck={false}
        />
      )
    case 'role':
      return (
        <Select
          value={value}
          choices={roles.map(role => ({ value: role, label: role }))}
          isFirst={isFirst}
          onChange={onChange}
        />
      )
    case 'choice':
      return (
        <Select value={value} choices={field.choices ?? []} isFirst={isFirst} onChange={onChange} />
      )
    case 'check':
      return (
        <input
          autofocus={isFirst}
          type="checkbox"
          checked={value === 'yes'}
          onChange={event => onChange(event.currentTarget.checked ? 'yes' : 'no')}
        />
      )
    case 'batch':
      return <BatchChoice value={value} isFirst={isFirst} onChange={onChange} />
    case 'summariser':
      return <Select value={value} choices={summarisers()} isFirst={isFirst} onChange={onChange} />
    case 'number':
      return (
        <input
          autofocus={isFirst}
          inputMode="numeric"
          value={value}
          onInput={input}
          aria-invalid={isWrong}
        />
      )
    case 'indices':
    case 'text':
      return (
        <input
          autofocus={isFirst}
          value={value}
          onInput={input}
          aria-invalid={isWrong}
          spellcheck={false}
        />
      )
  }
}

function Select({
  value,
  choices,
  isFirst,
  onChange,
}: {
  value: string
  choices: readonly { value: string; label: string }[]
  isFirst: boolean
  onChange: (value: string) => void
}) {
  return (
    <select
      autofocus={isFirst}
      value={value}
      onChange={event => onChange(event.currentTarget.value)}
    >
      {choices.map(choice => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </select>
  )
}

// Those that the operator has named in the conversation's settings.
function summarisers(): { value: string; label: string }[] {
  const named = conversation.value?.settings.summarisers
  const models = Array.isArray(named) ? named.filter(name => typeof name === 'string') : []
  return [
    { value: '', label: 'the digest, without a model' },
    ...models.map(name => ({ value: name, label: `${name}, a model` })),
  ]
}

function BatchChoice({
  value,
  isFirst,
  onChange,
}: {
  value: string
  isFirst: boolean
  onChange: (value: string) => void
}) {
  const id = conversation.value?.id ?? ''
  const { value: batches } = useFetched(() => client.batches(id), [id, head.value])
  const known = batches ?? []
  const chosen = value || (known.length ? String(Math.max(0, known.length - 2)) : '')
  if (chosen !== value) queueMicrotask(() => onChange(chosen))
  const choices = known.map(batch => ({
    value: String(batch.index),
    label: `${batch.index} · ${batch.openedBy ?? 'start'} · ${batch.messageCount} messages${batch.index === known.length - 1 ? ' (current)' : ''}`,
  }))
  return <Select value={chosen} choices={choices} isFirst={isFirst} onChange={onChange} />
}
