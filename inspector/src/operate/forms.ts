// The operations that can be asked for by form, and what is sent for what was filled in.

export type FieldKind = 'indices' | 'number' | 'text' | 'long' | 'role' | 'choice' | 'check' | 'json' | 'batch' | 'summariser';

export interface Field {
  name: string;
  label: string;
  kind: FieldKind;
  choices?: readonly { value: string; label: string }[];
  initial?: string;
  optional?: boolean;
  hint?: string;
  when?: (values: Values) => boolean; // asked for only then
}

export type Values = Record<string, string>;

export interface Form {
  name: string;
  title: string;
  what: string;
  fields: Field[];
  // The operation, without expectedVersion and description; values that are JSON text are Raw.
  make: (values: Values) => Record<string, unknown>;
}

export class FormError extends Error {
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

// JSON text that goes out as it was written.
export class Raw {
  constructor(readonly text: string) {}
}

export function write(value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

export function number(values: Values, field: string): number {
  const text = (values[field] ?? '').trim();
  if (!/^\d+$/.test(text)) throw new FormError(field, 'a whole number, 0 or more');
  return Number(text);
}

function optionalNumber(values: Values, field: string): number | undefined {
  return (values[field] ?? '').trim() === '' ? undefined : number(values, field);
}

// "3, 5-8" is 3, 5, 6, 7, 8.
export function indices(values: Values, field = 'indices'): number[] {
  const found = new Set<number>();
  for (const piece of (values[field] ?? '').split(/[\s,;]+/).filter(Boolean)) {
    const range = /^(\d+)(?:[-–](\d+))?$/.exec(piece);
    const first = Number(range?.[1]);
    const last = Number(range?.[2] ?? range?.[1]);
    if (!range || last < first || last - first > 1_000_000) throw new FormError(field, `“${piece}” is no index and no range such as 5-8`);
    for (let i = first; i <= last; ++i) found.add(i);
  }
  if (!found.size) throw new FormError(field, 'name at least one message, such as 3, 5-8');
  return [...found];
}

function json(values: Values, field: string): Raw {
  const text = (values[field] ?? '').trim();
  try {
    JSON.parse(text);
  } catch (error) {
    throw new FormError(field, error instanceof Error ? error.message : 'is no JSON');
  }
  return new Raw(text);
}

function message(values: Values): unknown {
  return values.as === 'json' ? json(values, 'message') : { role: values.role || 'user', content: values.content ?? '' };
}

const asJson = (values: Values) => values.as === 'json';
const asText = (values: Values) => values.as !== 'json';
const messageFields: Field[] = [
  { name: 'as', label: 'Write it as', kind: 'choice', choices: [{ value: 'text', label: 'Role and text' }, { value: 'json', label: 'JSON' }], initial: 'text' },
  { name: 'role', label: 'Role', kind: 'role', initial: 'user', when: asText },
  { name: 'content', label: 'Text', kind: 'long', when: asText },
  { name: 'message', label: 'Message', kind: 'json', initial: '{"role":"user","content":""}', when: asJson },
];
const which: Field = { name: 'indices', label: 'Messages', kind: 'indices', hint: 'indices in the view, such as 3, 5-8' };

const strategies = ['smart_summary', 'keep_recent', 'keep_system_and_recent', 'sliding_window', 'clear_tool_results'] as const;
const by = (...names: string[]) => (values: Values) => names.includes(values.way ?? '');

function compress(values: Values): Record<string, unknown> {
  const way = values.way ?? '';
  if (way === 'hand') return { indices: indices(values), summary: values.summary ? { role: 'user', content: values.summary } : undefined };
  const strategy: Record<string, unknown> = { name: way };
  if (way === 'keep_recent' || way === 'keep_system_and_recent') strategy.n = optionalNumber(values, 'n');
  if (way === 'smart_summary' || way === 'clear_tool_results') strategy.keep = optionalNumber(values, 'keep');
  if (way === 'smart_summary') strategy.summariser = values.summariser || undefined;
  return { strategy, targetTokens: optionalNumber(values, 'targetTokens') };
}

export const forms: readonly Form[] = [
  { name: 'APPEND', title: 'Append', what: 'Adds a message to the end of the view.', fields: messageFields, make: (v) => ({ messages: [message(v)] }) },
  {
    name: 'INSERT', title: 'Insert', what: 'Puts a message before a place in the view.',
    fields: [{ name: 'position', label: 'Before index', kind: 'number' }, ...messageFields],
    make: (v) => ({ position: number(v, 'position'), messages: [message(v)] }),
  },
  {
    name: 'REPLACE', title: 'Edit', what: 'A new message takes the place; the old one stays in the log.',
    fields: [{ name: 'index', label: 'Index', kind: 'number' }, { name: 'message', label: 'Message', kind: 'json' }],
    make: (v) => ({ index: number(v, 'index'), message: json(v, 'message') }),
  },
  {
    name: 'DELETE', title: 'Delete', what: 'Hides messages. They stay in the log, and can be brought back.',
    fields: [
      which,
      { name: 'pairs', label: 'Tool pairs', kind: 'choice', initial: '', choices: [{ value: '', label: 'Exactly these' }, { value: 'shrink', label: 'Their partners too' }, { value: 'grow', label: 'Keep what has its partner' }] },
    ],
    make: (v) => ({ indices: indices(v), pairs: v.pairs || undefined }),
  },
  { name: 'MARK', title: 'Mark or pin', what: 'Labels messages. What is marked “pinned” stays through trimming and compression.', fields: [which, { name: 'mark', label: 'Mark', kind: 'text', initial: 'pinned' }], make: (v) => ({ indices: indices(v), mark: v.mark ?? '' }) },
  { name: 'UNMARK', title: 'Take a mark off', what: 'Takes a label off messages.', fields: [which, { name: 'mark', label: 'Mark', kind: 'text', initial: 'pinned' }], make: (v) => ({ indices: indices(v), mark: v.mark ?? '' }) },
  {
    name: 'COMPRESS', title: 'Compress', what: 'Hides what is old, with a summary in its place where there is one. Nothing is lost: it can be expanded again.',
    fields: [
      { name: 'way', label: 'Strategy', kind: 'choice', initial: 'smart_summary', choices: [...strategies.map((value) => ({ value, label: value })), { value: 'hand', label: 'by hand' }] },
      { name: 'n', label: 'Messages to keep', kind: 'number', initial: '10', when: by('keep_recent', 'keep_system_and_recent') },
      { name: 'summariser', label: 'Written by', kind: 'summariser', hint: '', when: by('smart_summary') },
      { name: 'keep', label: 'Messages to keep at the end', kind: 'number', optional: true, when: by('smart_summary') },
      { name: 'keep', label: 'Results to keep', kind: 'number', optional: true, hint: '3 unless told', when: by('clear_tool_results') },
      { name: 'targetTokens', label: 'Aim, in tokens', kind: 'number', optional: true, when: (v) => v.way !== 'hand' },
      { ...which, when: by('hand') },
      { name: 'summary', label: 'Summary', kind: 'long', optional: true, when: by('hand') },
    ],
    make: compress,
  },
  { name: 'EXPAND', title: 'Expand', what: 'The message goes, and those it stands for return to their places.', fields: [{ name: 'index', label: 'Index of the message', kind: 'number' }], make: (v) => ({ index: number(v, 'index') }) },
  { name: 'SHOW', title: 'Show again', what: 'Hidden messages return to their places, with what belongs to them.', fields: [{ name: 'ordinals', label: 'Messages', kind: 'indices', hint: 'ordinals, such as 3, 5-8' }], make: (v) => ({ ordinals: indices(v, 'ordinals') }) },
  { name: 'TRUNCATE', title: 'Truncate', what: 'Keeps the first or the last messages. Pins stay.', fields: [{ name: 'keepFirst', label: 'Keep first', kind: 'number', optional: true }, { name: 'keepLast', label: 'Keep last', kind: 'number', optional: true, initial: '20' }], make: (v) => ({ keepFirst: optionalNumber(v, 'keepFirst'), keepLast: optionalNumber(v, 'keepLast') }) },
  { name: 'CLEAR', title: 'Clear', what: 'Empties the view, but for system messages and pins.', fields: [{ name: 'keep', label: 'Keep system messages', kind: 'check', initial: 'yes' }], make: (v) => ({ keepSystemMessage: v.keep === 'yes' }) },
  { name: 'START_BATCH', title: 'Start a batch', what: 'A point to return to.', fields: [], make: () => ({}) },
  {
    name: 'END_BATCH', title: 'End a batch', what: 'Goes back to a batch, and takes along what the named roles said since.',
    fields: [{ name: 'batch', label: 'Batch', kind: 'batch' }, { name: 'carry', label: 'Take along', kind: 'choice', initial: 'assistant', choices: [{ value: 'assistant', label: 'what the assistant said' }, { value: '', label: 'nothing' }] }],
    make: (v) => ({ targetBatch: number(v, 'batch'), carry: v.carry ? [v.carry] : undefined }),
  },
  { name: 'ROLLBACK', title: 'Roll back', what: 'The view as it last was in that batch. What came later stays readable.', fields: [{ name: 'batch', label: 'Batch', kind: 'batch' }], make: (v) => ({ targetBatchIndex: number(v, 'batch') }) },
  { name: 'UNDO', title: 'Undo', what: 'The state before the last operation that is not undone yet.', fields: [], make: () => ({}) },
  { name: 'REDO', title: 'Redo', what: 'Takes the last undo back.', fields: [], make: () => ({}) },
  { name: 'RESTORE', title: 'Restore', what: 'That version’s state, as a new version.', fields: [{ name: 'version', label: 'Version', kind: 'number' }], make: (v) => ({ version: number(v, 'version') }) },
];

export const anyForm: Form = {
  name: 'JSON', title: 'Any operation', what: 'An operation or a list of them, as JSON.',
  fields: [{ name: 'operation', label: 'Operation', kind: 'json', initial: '{\n  "operation": "FILTER",\n  "roles": ["system", "user"]\n}' }],
  make: (v) => ({ operation: json(v, 'operation') }),
};

// Whether it waits for a model: nothing can be shown before, and it works in the background.
export function asksModel(form: Form, values: Values): boolean {
  return form.name === 'COMPRESS' && values.way === 'smart_summary' && Boolean(values.summariser);
}

export function formNamed(name: string): Form {
  return forms.find((form) => form.name === name) ?? anyForm;
}

export function initialValues(form: Form, given: Values = {}): Values {
  const values: Values = {};
  for (const field of form.fields) if (field.initial !== undefined && values[field.name] === undefined) values[field.name] = field.initial;
  return { ...values, ...given };
}

// What is sent. Throws FormError. A list or an operation as JSON carries its own expectedVersion, if any: `expectedVersion` is put in where it can be.
export function body(form: Form, values: Values, expectedVersion: number): string {
  if (form === anyForm) return withVersion((form.make(values).operation as Raw).text, expectedVersion);
  const description = values.description?.trim() || undefined;
  return write({ operation: form.name, ...form.make(values), expectedVersion, description });
}

function withVersion(text: string, expectedVersion: number): string {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value) || 'expectedVersion' in value) return text;
  const inner = text.trim().slice(1);
  return `{"expectedVersion":${expectedVersion}${inner.trim() === '}' ? '' : ','}${inner}`;
}
