// A store as LangGraph's checkpointer.   npm: @langchain/langgraph-checkpoint (comes with @langchain/langgraph)
import type { RunnableConfig } from '@langchain/core/runnables'
import {
  BaseCheckpointSaver,
  copyCheckpoint,
  getCheckpointId,
  maxChannelVersion,
  TASKS,
  WRITES_IDX_MAP,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  type PendingWrite,
  type SerializerProtocol,
} from '@langchain/langgraph-checkpoint'
import { isDeepStrictEqual, type InspectOptions } from 'node:util'
import type { Conversation } from '../conversation.js'
import { UndertextError } from '../error.js'
import { custom, shown } from '../inspect.js'
import type { Store } from '../store.js'
import { Lists } from './langgraph/lists.js'
import { channelName } from './langgraph/names.js'
import {
  deserialize,
  readCheckpoint,
  readRecord,
  serialize,
  toMessage,
  type CheckpointRecord,
  type Index,
} from './langgraph/records.js'
import { Threads, type Thread } from './langgraph/threads.js'
import { Pool } from './pool.js'

function required(config: RunnableConfig, field: 'thread_id' | 'checkpoint_id'): string {
  const value: unknown = config.configurable?.[field]
  if (typeof value !== 'string' || value === '')
    throw new UndertextError(
      'invalid_argument',
      `configurable.${field} must be a text that is not empty`,
      { field },
    )
  return value
}

function namespaceOf(config: RunnableConfig): string {
  const value: unknown = config.configurable?.['checkpoint_ns'] ?? ''
  if (typeof value !== 'string')
    throw new UndertextError('invalid_argument', 'configurable.checkpoint_ns must be a text', {
      field: 'checkpoint_ns',
    })
  return value
}

function configOf(thread_id: string, checkpoint_ns: string, checkpoint_id: string): RunnableConfig {
  return { configurable: { thread_id, checkpoint_ns, checkpoint_id } }
}

// Whoever writes to the same checkpoint twice writes the same again; special writes have numbers of their own.
function writeIndex(channel: string, position: number): number {
  return Object.hasOwn(WRITES_IDX_MAP, channel) ? WRITES_IDX_MAP[channel]! : position
}

/**
 * Checkpoints in a store of Undertext. Of a thread there is a conversation with a record for each checkpoint and each putWrites, and one for each channel whose value is a list of
 * messages: a checkpoint names a version of it, and versions share their messages. Every other value is stored when its version is new, and named by the checkpoints after.
 *
 * Several processes may use one store. What the store refuses fails with an UndertextError, what the serializer refuses with its error; no checkpoint is then half there, since its
 * record comes last.
 */
export class UndertextSaver extends BaseCheckpointSaver {
  readonly #pool: Pool
  readonly #threads: Threads
  readonly #lists: Lists

  constructor(store: Store, serde?: SerializerProtocol) {
    super(serde)
    this.#pool = new Pool(store)
    this.#threads = new Threads(store, this.#pool)
    this.#lists = new Lists(this.#pool)
  }

  /** What console.log() shows. */
  [custom](_depth: number, options: InspectOptions): string {
    return shown(this.constructor.name, () => ({ store: this.#pool.store }), options)
  }

  /** Numbers that two branches of a thread never share, so that a channel and a version are one value. */
  override getNextVersion(current: number | undefined): number {
    return Math.floor(current ?? 0) + 1 + Math.random()
  }

  /** The checkpoint that a configuration names, or the latest of its thread. */
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.['thread_id'] === undefined) return undefined
    const namespace = namespaceOf(config)
    return this.#threads.useIfThere(required(config, 'thread_id'), async thread => {
      const id = getCheckpointId(config) || thread.index.latest(namespace)
      const ordinal = id === undefined ? undefined : thread.index.checkpoint(namespace, id)
      return ordinal === undefined
        ? undefined
        : this.#tuple(thread, await readCheckpoint(thread.conversation, ordinal))
    })
  }

  async #tuple(thread: Thread, record: CheckpointRecord): Promise<CheckpointTuple> {
    const { conversation, index } = thread
    const checkpoint = (await deserialize(this.serde, record.checkpoint)) as Checkpoint
    checkpoint.channel_values = await this.#values(thread, record)
    if (checkpoint.v < 4 && record.parent !== undefined)
      await this.#addPendingSends(checkpoint, thread, record)
    const tuple: CheckpointTuple = {
      config: configOf(record.thread, record.namespace, record.id),
      checkpoint,
      metadata: (await deserialize(this.serde, record.metadata)) as CheckpointMetadata,
      pendingWrites: await this.#writes(conversation, index, record.namespace, record.id),
    }
    if (record.parent !== undefined)
      tuple.parentConfig = configOf(record.thread, record.namespace, record.parent)
    return tuple
  }

  async #values(thread: Thread, record: CheckpointRecord): Promise<Record<string, unknown>> {
    const load = async (channel: string, from: CheckpointRecord): Promise<[string, unknown]> => {
      const [, , stored] = from.values.find(([its]) => its === channel)!
      return [
        channel,
        await this.#lists.load(
          this.serde,
          channelName(thread.name, record.namespace, channel),
          stored,
        ),
      ]
    }
    const own = record.values.map(([channel]) => load(channel, record))
    const others = record.references.map(async ([channel, , ordinal]) =>
      load(channel, await readCheckpoint(thread.conversation, ordinal)),
    )
    return Object.fromEntries(await Promise.all([...own, ...others]))
  }

  async #writes(
    conversation: Conversation,
    index: Index,
    namespace: string,
    id: string,
  ): Promise<CheckpointPendingWrite[]> {
    return Promise.all(
      index
        .writes(namespace, id)
        .map(async ([ordinal, position]): Promise<CheckpointPendingWrite> => {
          const record = await readRecord(conversation, ordinal)
          if (record.kind !== 'writes')
            throw new UndertextError('corrupt', `record ${ordinal} holds no writes`)
          const [, channel, value] = record.writes[position]!
          return [record.task, channel, await deserialize(this.serde, value)]
        }),
    )
  }

  // Checkpoints before version 4 of the format have what was sent to tasks among the writes of their parent.
  async #addPendingSends(
    checkpoint: Checkpoint,
    { conversation, index }: Thread,
    record: CheckpointRecord,
  ): Promise<void> {
    const writes = await this.#writes(conversation, index, record.namespace, record.parent!)
    const versions = Object.values(checkpoint.channel_versions)
    checkpoint.channel_values[TASKS] = writes
      .filter(([, channel]) => channel === TASKS)
      .map(([, , value]) => value)
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined)
  }

  /** The checkpoints of a thread, the latest first. */
  override async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { before, filter } = options
    let left = options.limit ?? Infinity
    const { thread_id, checkpoint_ns, checkpoint_id } = config.configurable ?? {}
    const beforeId: unknown = before?.configurable?.['checkpoint_id']
    const found: { thread: string; namespace: string; id: string }[] = []
    for (const thread of thread_id === undefined
      ? await this.#threads.all()
      : [required(config, 'thread_id')]) {
      const its = await this.#threads.useIfThere(thread, async ({ index }) => index.checkpoints())
      for (const entry of its ?? []) found.push({ ...entry, thread })
    }
    for (const { thread, namespace, id } of found.sort((a, b) =>
      a.id < b.id ? 1 : a.id > b.id ? -1 : 0,
    )) {
      if (left <= 0) return
      if (
        (checkpoint_ns !== undefined && namespace !== checkpoint_ns) ||
        (checkpoint_id && id !== checkpoint_id)
      )
        continue
      if (typeof beforeId === 'string' && id >= beforeId) continue
      const tuple = await this.#matching(configOf(thread, namespace, id), filter)
      if (tuple === undefined) continue
      --left
      yield tuple
    }
  }

  async #matching(
    config: RunnableConfig,
    filter: Record<string, unknown> = {},
  ): Promise<CheckpointTuple | undefined> {
    const wanted = Object.entries(filter).filter(([, value]) => value !== undefined)
    return this.#threads.useIfThere(required(config, 'thread_id'), async thread => {
      const ordinal = thread.index.checkpoint(
        namespaceOf(config),
        required(config, 'checkpoint_id'),
      )
      // Deleted meanwhile.
      if (ordinal === undefined) return undefined
      const record = await readCheckpoint(thread.conversation, ordinal)
      const metadata = (await deserialize(this.serde, record.metadata)) as Record<string, unknown>
      return wanted.every(([key, value]) => isDeepStrictEqual(metadata[key], value))
        ? this.#tuple(thread, record)
        : undefined
    })
  }

  /** Stores a checkpoint. */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const thread = required(config, 'thread_id')
    const namespace = namespaceOf(config)
    const parent: string | undefined = getCheckpointId(config) || undefined
    const copy = copyCheckpoint(checkpoint)
    const fresh = Object.entries(newVersions).filter(([channel]) =>
      Object.hasOwn(copy.channel_values, channel),
    )
    // All of it is read now: what the caller changes afterwards changes nothing here.
    const [typedCheckpoint, typedMetadata, ...typed] = await Promise.all(
      [
        { ...copy, channel_values: {} },
        metadata,
        ...fresh.map(([channel]) => copy.channel_values[channel]),
      ].map(value => serialize(this.serde, value)),
    )
    await this.#threads.use(thread, async ({ name, conversation, index }) => {
      const parentOrdinal = parent === undefined ? undefined : index.checkpoint(namespace, parent)
      const above =
        parentOrdinal === undefined
          ? undefined
          : { ordinal: parentOrdinal, record: await readCheckpoint(conversation, parentOrdinal) }
      const record: CheckpointRecord = {
        kind: 'checkpoint',
        thread,
        namespace,
        id: copy.id,
        parent,
        checkpoint: typedCheckpoint!,
        metadata: typedMetadata!,
        values: [],
        references: references(copy, newVersions, index, namespace, above),
      }
      for (const [i, [channel, version]] of fresh.entries()) {
        const base = await listVersionOf(conversation, channel, above)
        record.values.push([
          channel,
          version,
          await this.#lists.store(
            channelName(name, namespace, channel),
            copy.channel_values[channel],
            typed[i]!,
            base,
          ),
        ])
      }
      await conversation.append(toMessage(record))
    })
    return configOf(thread, namespace, copy.id)
  }

  /** Stores what a task of a checkpoint has written. */
  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
  ): Promise<void> {
    const thread = required(config, 'thread_id')
    const id = required(config, 'checkpoint_id')
    if (writes.length === 0) return
    const typed = await Promise.all(writes.map(([, value]) => serialize(this.serde, value)))
    const record = toMessage({
      kind: 'writes',
      namespace: namespaceOf(config),
      id,
      task: taskId,
      writes: writes.map(([channel], position) => [
        writeIndex(channel, position),
        channel,
        typed[position]!,
      ]),
    })
    await this.#threads.use(thread, async ({ conversation }) => {
      await conversation.append(record)
    })
  }

  /** For good: the conversations of the thread are purged. */
  override async deleteThread(threadId: string): Promise<void> {
    await this.#threads.delete(required({ configurable: { thread_id: threadId } }, 'thread_id'))
  }

  /** Closes the conversations that are open; the store is its owner's. */
  async close(): Promise<void> {
    await this.#pool.close()
  }
}

interface Above {
  ordinal: number
  record: CheckpointRecord
}

// Where a record, or one before it, has the value of a channel.
function placeIn(
  { ordinal, record }: Above,
  channel: string,
): { version: string | number; ordinal: number } | undefined {
  const own = record.values.find(([its]) => its === channel)
  if (own !== undefined) return { version: own[1], ordinal }
  const reference = record.references.find(([its]) => its === channel)
  return reference && { version: reference[1], ordinal: reference[2] }
}

// The values that are not new: the parent's, or (a fork is a copy of another checkpoint) whichever has that version.
function references(
  checkpoint: Checkpoint,
  newVersions: ChannelVersions,
  index: Index,
  namespace: string,
  above: Above | undefined,
): CheckpointRecord['references'] {
  return Object.entries(checkpoint.channel_versions).flatMap(
    ([channel, version]): CheckpointRecord['references'] => {
      if (Object.hasOwn(newVersions, channel)) return []
      const inherited = above && placeIn(above, channel)
      const ordinal =
        inherited?.version === version
          ? inherited.ordinal
          : index.value(namespace, channel, version)
      return ordinal === undefined ? [] : [[channel, version, ordinal]]
    },
  )
}

async function listVersionOf(
  conversation: Conversation,
  channel: string,
  above: Above | undefined,
): Promise<number | undefined> {
  const place = above && placeIn(above, channel)
  if (place === undefined) return undefined
  const record =
    place.ordinal === above!.ordinal
      ? above!.record
      : await readCheckpoint(conversation, place.ordinal)
  const stored = record.values.find(([its]) => its === channel)?.[2]
  return stored !== undefined && 'listVersion' in stored ? stored.listVersion : undefined
}
