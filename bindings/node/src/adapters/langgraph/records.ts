// What a thread's conversation holds: a message for each checkpoint and for each call of putWrites, in the order in which they came. The log is never edited, so an
// ordinal names a record for good.
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint'
import type { Conversation } from '../../conversation.js'
import { UndertextError } from '../../error.js'
import type { Message } from '../../types.js'
import { isObject } from '../foreign.js'

/** What a serializer made: text where it calls it JSON, else bytes. */
export interface Typed {
  type: string
  text?: string
  base64?: string
}

/** The value of a channel: as it was serialized, or the messages of a version of the channel's conversation. */
export type Stored = Typed | { listVersion: number }

/** Lists instead of objects, since the names of channels are anybody's: __proto__ too. */
export interface CheckpointRecord {
  kind: 'checkpoint'
  thread: string
  namespace: string
  id: string
  parent?: string
  /** Without its values. */
  checkpoint: Typed
  metadata: Typed
  /** Stored here. */
  values: [channel: string, version: string | number, value: Stored][]
  /** Stored by an earlier record. */
  references: [channel: string, version: string | number, ordinal: number][]
}

export interface WritesRecord {
  kind: 'writes'
  namespace: string
  id: string
  task: string
  writes: [index: number, channel: string, value: Typed][]
}

export type ThreadRecord = CheckpointRecord | WritesRecord

export async function serialize(serde: SerializerProtocol, value: unknown): Promise<Typed> {
  const [type, bytes] = await serde.dumpsTyped(value)
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return type === 'json'
    ? { type, text: buffer.toString('utf8') }
    : { type, base64: buffer.toString('base64') }
}

export async function deserialize(serde: SerializerProtocol, typed: Typed): Promise<unknown> {
  return serde.loadsTyped(
    typed.type,
    typed.text ?? new Uint8Array(Buffer.from(typed.base64 ?? '', 'base64')),
  )
}

/** What the record says to whoever looks into the store stands as content, and can be searched for. */
export function toMessage(record: ThreadRecord): Message {
  const what =
    record.kind === 'checkpoint'
      ? `checkpoint ${record.id}`
      : `writes of ${record.task} for ${record.id}`
  return {
    role: 'system',
    content: record.namespace === '' ? what : `${what} in ${record.namespace}`,
    record,
  }
}

const isListOfLists = (value: unknown): boolean =>
  Array.isArray(value) && value.every(Array.isArray)

function isRecord(record: unknown): record is ThreadRecord {
  if (
    !isObject(record) ||
    typeof record['namespace'] !== 'string' ||
    typeof record['id'] !== 'string'
  )
    return false
  if (record['kind'] === 'writes')
    return typeof record['task'] === 'string' && isListOfLists(record['writes'])
  return (
    record['kind'] === 'checkpoint' &&
    typeof record['thread'] === 'string' &&
    isListOfLists(record['values']) &&
    isListOfLists(record['references'])
  )
}

// All of it is looked at before anything is done with the thread: whoever else put it there may still need it.
function toRecord(message: Message): ThreadRecord {
  const record = message['record']
  if (!isRecord(record))
    throw new UndertextError(
      'corrupt',
      "the conversation of a thread holds a message that is no record of this saver's",
    )
  return record
}

export async function readRecord(
  conversation: Conversation,
  ordinal: number,
): Promise<ThreadRecord> {
  const [message] = await conversation.messages({ all: true, start: ordinal, end: ordinal + 1 })
  if (message === undefined) throw new UndertextError('corrupt', `record ${ordinal} is missing`)
  return toRecord(message)
}

export async function readCheckpoint(
  conversation: Conversation,
  ordinal: number,
): Promise<CheckpointRecord> {
  const record = await readRecord(conversation, ordinal)
  if (record.kind !== 'checkpoint')
    throw new UndertextError('corrupt', `record ${ordinal} is no checkpoint`)
  return record
}

const keyOf = (...parts: (string | number)[]): string => JSON.stringify(parts)

/** Where a write stands: its record, and its place in it. */
export type WritePlace = [ordinal: number, position: number]

/** Where things stand in the log of a thread; made of the log alone, and read on from where it was left. */
export class Index {
  #seen = 0
  #reading: Promise<void> = Promise.resolve()
  readonly #checkpoints = new Map<string, { namespace: string; id: string; ordinal: number }>()
  readonly #values = new Map<string, number>()
  readonly #writes = new Map<string, Map<string, WritePlace>>()

  /** With all that anyone has committed. */
  async refresh(conversation: Conversation): Promise<void> {
    const before = this.#reading
    this.#reading = before.catch(() => undefined).then(() => this.#readOn(conversation))
    await this.#reading
  }

  async #readOn(conversation: Conversation): Promise<void> {
    await conversation.catchUp()
    const page = 256
    for (;;) {
      const messages = await conversation.messages({
        all: true,
        start: this.#seen,
        end: this.#seen + page,
      })
      for (const message of messages) this.#add(toRecord(message), this.#seen++)
      if (messages.length < page) return
    }
  }

  #add(record: ThreadRecord, ordinal: number): void {
    const key = keyOf(record.namespace, record.id)
    if (record.kind === 'checkpoint') {
      this.#checkpoints.set(key, { namespace: record.namespace, id: record.id, ordinal })
      for (const [channel, version] of record.values)
        this.#values.set(keyOf(record.namespace, channel, version), ordinal)
      return
    }
    const writes = this.#writes.get(key) ?? new Map<string, WritePlace>()
    this.#writes.set(key, writes)
    record.writes.forEach(([index], position) => {
      const write = keyOf(record.task, index)
      // A write is kept as it came first; errors, interrupts and their like, which have negative numbers, as they came last.
      if (index < 0 || !writes.has(write)) writes.set(write, [ordinal, position])
    })
  }

  checkpoint(namespace: string, id: string): number | undefined {
    return this.#checkpoints.get(keyOf(namespace, id))?.ordinal
  }

  checkpoints(): { namespace: string; id: string; ordinal: number }[] {
    return [...this.#checkpoints.values()]
  }

  latest(namespace: string): string | undefined {
    let found: string | undefined
    for (const { namespace: its, id } of this.#checkpoints.values())
      if (its === namespace && (found === undefined || id > found)) found = id
    return found
  }

  value(namespace: string, channel: string, version: string | number): number | undefined {
    return this.#values.get(keyOf(namespace, channel, version))
  }

  writes(namespace: string, id: string): WritePlace[] {
    return [...(this.#writes.get(keyOf(namespace, id))?.values() ?? [])]
  }
}
