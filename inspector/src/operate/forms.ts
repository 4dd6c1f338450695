// The operations as forms, made from the schema of the protocol, and what is sent for what was filled in.

import {
  operations,
  strategyNames,
  type OperationMember,
  type OperationName,
  type OperationShape,
} from '../api/types'

export type FieldKind =
  | 'indices'
  | 'number'
  | 'text'
  | 'long'
  | 'role'
  | 'choice'
  | 'check'
  | 'json'
  | 'batch'
  | 'summariser'

export interface Field {
  name: string
  label: string
  kind: FieldKind
  choices?: readonly { value: string; label: string }[]
  initial?: string
  optional?: boolean
  hint?: string
  when?: (values: Values) => boolean // asked for only then
}

export type Values = Record<string, string>

export interface Form {
  name: string
  title: string
  what: string
  fields: Field[]
  // The operation, without expectedVersion and description; values that are JSON text are Raw.
  make: (values: Values) => Record<string, unknown>
}

export class FormError extends Error {
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message)
  }
}

// JSON text that goes out as it was written.
export class Raw {
  constructor(readonly text: string) {}
}

export function write(value: unknown): string {
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`).join(',')}}`
  }
  return JSON.stringify(value)
}

export function number(values: Values, field: string): number {
  const text = (values[field] ?? '').trim()
  if (!/^\d+$/.test(text)) throw new FormError(field, 'a whole number, 0 or more')
  return Number(text)
}

function optionalNumber(values: Values, field: string): number | undefined {
  return (values[field] ?? '').trim() === '' ? undefined : number(values, field)
}

// "3, 5-8" is 3, 5, 6, 7, 8.
export function indices(values: Values, field = 'indices'): number[] {
  const found = new Set<number>()
  for (const piece of (values[field] ?? '').split(/[\s,;]+/).filter(Boolean)) {
    const range = /^(\d+)(?:[-–](\d+))?$/.exec(piece)
    const first = Number(range?.[1])
    const last = Number(range?.[2] ?? range?.[1])
    if (!range || last < first || last - first > 1_000_000)
      throw new FormError(field, `“${piece}” is no index and no range such as 5-8`)
    for (let i = first; i <= last; ++i) found.add(i)
  }
  if (!found.size) throw new FormError(field, 'name at least one message, such as 3, 5-8')
  return [...found]
}

function json(values: Values, field: string): Raw {
  const text = (values[field] ?? '').trim()
  try {
    JSON.parse(text)
  } catch (error) {
    throw new FormError(field, error instanceof Error ? error.message : 'is no JSON')
  }
  return new Raw(text)
}

function message(values: Values): unknown {
  return values.as === 'json'
    ? json(values, 'message')
    : { role: values.role || 'user', content: values.content ?? '' }
}

const asJson = (values: Values) => values.as === 'json'
const asText = (values: Values) => values.as !== 'json'
const messageFields: Field[] = [
  {
    name: 'as',
    label: 'Write it as',
    kind: 'choice',
    choices: [
      { value: 'text', label: 'Role and text' },
      { value: 'json', label: 'JSON' },
    ],
    initial: 'text',
  },
  { name: 'role', label: 'Role', kind: 'role', initial: 'user', when: asText },
  { name: 'content', label: 'Text', kind: 'long', when: asText },
  {
    name: 'message',
    label: 'Message',
    kind: 'json',
    initial: '{"role":"user","content":""}',
    when: asJson,
  },
]
const which: Field = {
  name: 'indices',
  label: 'Messages',
  kind: 'indices',
  hint: 'indices in the view, such as 3, 5-8',
}

// The strategies that a form is enough for; the others have steps, or do nothing.
const strategies = strategyNames
  .filter(name => !['default', 'none', 'pipeline', 'prefer_cache'].includes(name))
  .sort((a, b) => Number(b === 'smart_summary') - Number(a === 'smart_summary'))
const by =
  (...names: string[]) =>
  (values: Values) =>
    names.includes(values.way ?? '')

function compress(values: Values): Record<string, unknown> {
  const way = values.way ?? ''
  if (way === 'hand')
    return {
      indices: indices(values),
      summary: values.summary ? { role: 'user', content: values.summary } : undefined,
    }
  const strategy: Record<string, unknown> = { name: way }
  if (way === 'keep_recent' || way === 'keep_system_and_recent')
    strategy.n = optionalNumber(values, 'n')
  if (way === 'smart_summary' || way === 'clear_tool_results')
    strategy.keep = optionalNumber(values, 'keep')
  if (way === 'smart_summary') strategy.summariser = values.summariser || undefined
  return { strategy, targetTokens: optionalNumber(values, 'targetTokens') }
}

const compressFields: Field[] = [
  {
    name: 'way',
    label: 'Strategy',
    kind: 'choice',
    initial: 'smart_summary',
    choices: [
      ...strategies.map(value => ({ value, label: value })),
      { value: 'hand', label: 'by hand' },
    ],
  },
  {
    name: 'n',
    label: 'Messages to keep',
    kind: 'number',
    initial: '10',
    when: by('keep_recent', 'keep_system_and_recent'),
  },
  {
    name: 'summariser',
    label: 'Written by',
    kind: 'summariser',
    hint: '',
    when: by('smart_summary'),
  },
  {
    name: 'keep',
    label: 'Messages to keep at the end',
    kind: 'number',
    optional: true,
    when: by('smart_summary'),
  },
  {
    name: 'keep',
    label: 'Results to keep',
    kind: 'number',
    optional: true,
    hint: 'default: 3',
    when: by('clear_tool_results'),
  },
  {
    name: 'targetTokens',
    label: 'Aim, in tokens',
    kind: 'number',
    optional: true,
    when: v => v.way !== 'hand',
  },
  { ...which, when: by('hand') },
  { name: 'summary', label: 'Summary', kind: 'long', optional: true, when: by('hand') },
]

// What a form says beyond the schema.
const titles: Partial<Record<OperationName, string>> = {
  REPLACE: 'Edit',
  MARK: 'Mark or pin',
  UNMARK: 'Take a mark off',
  SHOW: 'Show again',
  START_BATCH: 'Start a batch',
  END_BATCH: 'End a batch',
  ROLLBACK: 'Roll back',
  IMPORT_MARK_MAP: 'Import a mark map',
}
const known: Record<string, Partial<Field>> = {
  position: { label: 'Before index' },
  'EXPAND.index': { label: 'Index of the message' },
  'DELETE.pairs': {
    label: 'Tool pairs',
    choices: [
      { value: '', label: 'Exactly these' },
      { value: 'shrink', label: 'Their partners too' },
      { value: 'grow', label: 'Keep what has its partner' },
    ],
  },
  mark: { initial: 'pinned' },
  ordinals: { label: 'Messages', hint: 'ordinals, such as 3, 5-8' },
  keepLast: { initial: '20' },
  keepSystemMessage: { label: 'Keep system messages', initial: 'yes' },
  targetBatch: { label: 'Batch', kind: 'batch' },
  targetBatchIndex: { label: 'Batch', kind: 'batch' },
  carry: {
    label: 'Take along',
    kind: 'choice',
    initial: 'assistant',
    choices: [
      { value: 'assistant', label: 'what the assistant said' },
      { value: '', label: 'nothing' },
    ],
  },
  'TRUNCATE.range': { hint: 'such as {"start":2,"end":8}', optional: true },
  replaceText: { initial: '{"find":"","with":""}' },
  truncateText: { initial: '{"maxChars":500}' },
  setMetadata: { initial: '{}' },
  markMap: {
    initial:
      '{"originalIndices":[],"typeIndices":{},"batchBoundaries":[0],"boundaryToBatch":[0],"currentBatch":0}',
  },
}

// "keepFirst" as Keep first.
const spaced = (name: string) =>
  name.charAt(0).toUpperCase() +
  name.slice(1).replace(/[A-Z]/g, letter => ' ' + letter.toLowerCase())

function kindOf({ type, words }: OperationMember): FieldKind {
  if (type === 'Role') return 'choice'
  if (words) return type.endsWith('[]') ? 'text' : 'choice'
  switch (type) {
    case 'integer':
      return 'number'
    case 'integer[]':
      return 'indices'
    case 'boolean':
      return 'check'
    case 'string':
      return 'text'
    case 'string[]':
      return 'long'
    default:
      return 'json'
  }
}

function fieldOf(shape: OperationShape, member: OperationMember): Field {
  const kind = kindOf(member)
  const isList = member.type === 'string[]' || (member.words && member.type.endsWith('[]'))
  const field: Field = {
    name: member.name,
    label: spaced(member.name),
    kind,
    hint: isList ? (member.words ? member.words.join(', ') : 'one on each line') : member.text,
  }
  if (member.name === 'indices') Object.assign(field, which)
  if (!member.required) field.optional = true
  if (kind === 'choice')
    field.choices = [
      ...(member.required ? [] : [{ value: '', label: '–' }]),
      ...(member.words ?? []).map(word => ({ value: word, label: word })),
    ]
  return { ...field, ...known[member.name], ...known[`${shape.name}.${member.name}`] }
}

// What was filled in for a member, as its type has it; undefined: nothing was.
function filledIn(field: Field, member: OperationMember, values: Values): unknown {
  const text = (values[member.name] ?? '').trim()
  if (field.kind === 'check') return text === 'yes'
  if (text === '' && field.optional) return undefined
  if (member.type === 'Role[]' || member.type === 'string[]') {
    const listed = text
      .split(member.words ? /[\s,;]+/ : /\n/)
      .map(piece => piece.trim())
      .filter(Boolean)
    const strange = listed.find(piece => member.words && !member.words.includes(piece))
    if (strange !== undefined)
      throw new FormError(member.name, `“${strange}” is none of ${member.words?.join(', ')}`)
    return listed.length || !field.optional ? listed : undefined
  }
  switch (field.kind) {
    case 'number':
    case 'batch':
      return number(values, member.name)
    case 'indices':
      return indices(values, member.name)
    case 'json':
      return json(values, member.name)
    default:
      return values[member.name] ?? ''
  }
}

// Of members of which one is given, the form asks which, unless one is enough: indices do without ordinals.
function choiceOf(
  shape: OperationShape,
  index: number,
): { options: string[]; field: Field | null } {
  const options = (shape.choices[index] ?? []).filter(
    (name, _, all) => name !== 'ordinals' || !all.includes('indices'),
  )
  if (options.length < 2) return { options, field: null }
  const label = index === 0 ? 'Which' : 'What'
  return {
    options,
    field: {
      name: `choice${index}`,
      label,
      kind: 'choice',
      initial: options[0] ?? '',
      choices: options.map(value => ({ value, label: spaced(value) })),
    },
  }
}

function formOf(shape: OperationShape): Form {
  const title = titles[shape.name] ?? spaced(shape.name.toLowerCase())
  if (shape.name === 'COMPRESS')
    return { name: shape.name, title, what: shape.text, fields: compressFields, make: compress }
  const fields: Field[] = []
  const readers: ((values: Values) => [string, unknown])[] = []
  const choices = shape.choices.map((_, index) => choiceOf(shape, index))
  for (const choice of choices) if (choice.field) fields.push(choice.field)
  for (const member of shape.members) {
    if (member.type === 'Message[]') {
      fields.push(...messageFields)
      readers.push(values => [member.name, [message(values)]])
      continue
    }
    const index = shape.choices.findIndex(names => names.includes(member.name))
    const choice = choices[index]
    if (choice && !choice.options.includes(member.name)) continue
    const isChosen = (values: Values) =>
      !choice?.field || (values[choice.field.name] ?? choice.field.initial) === member.name
    const field = fieldOf(shape, choice ? { ...member, required: true } : member)
    fields.push(choice?.field ? { ...field, when: isChosen } : field)
    readers.push(values => [
      member.name,
      isChosen(values) ? filledIn(field, member, values) : undefined,
    ])
  }
  return {
    name: shape.name,
    title,
    what: shape.text,
    fields,
    make: values => Object.fromEntries(readers.map(read => read(values))),
  }
}

export const forms: readonly Form[] = operations.map(formOf)

export const anyForm: Form = {
  name: 'JSON',
  title: 'Any operation',
  what: 'An operation or a list of them, as JSON.',
  fields: [
    {
      name: 'operation',
      label: 'Operation',
      kind: 'json',
      initial: '{\n  "operation": "FILTER",\n  "roles": ["system", "user"]\n}',
    },
  ],
  make: v => ({ operation: json(v, 'operation') }),
}

// Whether it waits for a model: nothing can be shown before, and it works in the background.
export function asksModel(form: Form, values: Values): boolean {
  return form.name === 'COMPRESS' && values.way === 'smart_summary' && Boolean(values.summariser)
}

export function formNamed(name: string): Form {
  return forms.find(form => form.name === name) ?? anyForm
}

export function initialValues(form: Form, given: Values = {}): Values {
  const values: Values = {}
  for (const field of form.fields)
    if (field.initial !== undefined && values[field.name] === undefined)
      values[field.name] = field.initial
  return { ...values, ...given }
}

// What is sent. Throws FormError. A list or an operation as JSON carries its own expectedVersion, if any: `expectedVersion` is put in where it can be.
export function body(form: Form, values: Values, expectedVersion: number): string {
  if (form === anyForm)
    return withVersion((form.make(values).operation as Raw).text, expectedVersion)
  const description = values.description?.trim() || undefined
  return write({ operation: form.name, ...form.make(values), expectedVersion, description })
}

function withVersion(text: string, expectedVersion: number): string {
  const value: unknown = JSON.parse(text)
  if (
    typeof value !== 'object' ||
    value === null ||
    Array.isArray(value) ||
    'expectedVersion' in value
  )
    return text
  const inner = text.trim().slice(1)
  return `{"expectedVersion":${expectedVersion}${inner.trim() === '}' ? '' : ','}${inner}`
}
