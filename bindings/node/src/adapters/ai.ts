// Conversations as the message store of the Vercel AI SDK.   npm: ai
import type { ModelMessage, UIMessage } from 'ai'
import type { InspectOptions } from 'node:util'
import type { Conversation } from '../conversation.js'
import { encode } from '../encode.js'
import { mustBeObject } from '../error.js'
import { custom, shown } from '../inspect.js'
import type { Store } from '../store.js'
import type { Message } from '../types.js'
import type { Kind, Read } from './ai/kind.js'
import { modelKind } from './ai/model.js'
import { uiKind } from './ai/ui.js'
import type { Item } from './foreign.js'
import { encodeItems, invalid } from './given.js'
import { Pool } from './pool.js'
import { readingOf, SavedLists, type Reading } from './saved_list.js'

export { prepareStep } from './ai/step.js'

class MessageStore<T> {
  readonly #kind: Kind
  readonly #pool: Pool
  readonly #lists = new SavedLists()

  constructor(kind: Kind, store: Store) {
    this.#kind = kind
    this.#pool = new Pool(store)
  }

  /** What console.log() shows. */
  [custom](_depth: number, options: InspectOptions): string {
    return shown(this.constructor.name, () => ({ store: this.#pool.store }), options)
  }

  async #read(conversation: Conversation): Promise<{ found: Read[]; version: number }> {
    await conversation.catchUp()
    const version = await conversation.version()
    const { messages, ordinals } = await conversation.find({ atVersion: version })
    return {
      found: this.#kind.read(messages.map((message, i) => ({ message, ordinal: ordinals[i]! }))),
      version,
    }
  }

  /** The messages of a chat; none where there is no such chat. */
  async load(id: string): Promise<T[]> {
    return (await this.loadVersion(id)).messages
  }

  /** The same with the version they are of, for `expectedVersion`. */
  async loadVersion(id: string): Promise<{ messages: T[]; version: number }> {
    const read = await this.#pool.useIfThere(id, conversation => this.#read(conversation))
    return {
      messages: (read?.found ?? []).flatMap(({ items }) => items) as T[],
      version: read?.version ?? 0,
    }
  }

  /**
   * Makes these the messages of a chat, in one step: RECONCILE stores what is new and hides what is not there any more; earlier states stay in the conversation's history.
   * A summary that was made meanwhile stays for a list that still has the messages it stands for.
   * Where two save at once the later one is what is seen, unless `expectedVersion` (of loadVersion or of an earlier save) refuses it with `conflict`.
   */
  async save(
    id: string,
    messages: readonly T[],
    options: { expectedVersion?: number } = {},
  ): Promise<{ version: number }> {
    mustBeObject(options, 'options')
    const { expectedVersion } = options
    // Read now: what the caller changes afterwards changes nothing here.
    const after = this.#encode(messages)
    const made = (i: number): Message[] => this.#kind.write(JSON.parse(after[i]!) as Item)
    const work = async (conversation: Conversation): Promise<{ version: number }> => {
      const reading = await this.#reading(conversation)
      return {
        version: (
          await this.#lists.save(
            conversation,
            expectedVersion ?? reading.version,
            [],
            reading,
            after,
            made,
          )
        ).head,
      }
    }
    return expectedVersion === undefined ? this.#pool.change(id, work) : this.#pool.use(id, work)
  }

  async #reading(conversation: Conversation): Promise<Reading> {
    await conversation.catchUp()
    const last = this.#lists.last(conversation, await conversation.version())
    if (last !== undefined) return last
    const { found, version } = await this.#read(conversation)
    return readingOf(
      version,
      found.map(({ items, ordinals }) => ({ texts: items.map(item => encode(item)), ordinals })),
    )
  }

  #encode(messages: readonly T[]): string[] {
    const texts = encodeItems('messages', messages)
    messages.forEach((message, i) => {
      if (!this.#kind.roles.includes((message as Item)['role'] as string))
        throw invalid(`messages[${i}].role`, `must be one of ${this.#kind.roles.join(', ')}`)
    })
    return texts
  }

  /** Closes the conversations that are open; the store is its owner's. */
  async close(): Promise<void> {
    await this.#pool.close()
  }
}

/** The messages of a page: useChat, validateUIMessages, toUIMessageStream. */
export class UIMessageStore<T extends UIMessage = UIMessage> extends MessageStore<T> {
  constructor(store: Store) {
    super(uiKind, store)
  }
}

/** The messages of a model: generateText, streamText. */
export class ModelMessageStore extends MessageStore<ModelMessage> {
  constructor(store: Store) {
    super(modelKind, store)
  }
}
