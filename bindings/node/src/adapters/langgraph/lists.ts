// Lists of messages as versions of a conversation: a message that is in a thousand checkpoints is stored once.
import { isBaseMessage } from '@langchain/core/messages'
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint'
import type { Conversation } from '../../conversation.js'
import { UndertextError } from '../../error.js'
import { applyAt, changes } from '../changes.js'
import { discloseMessage, encloseMessage, isMessageJson } from '../langchain-messages.js'
import type { Pool } from '../pool.js'
import { deserialize, type Stored, type Typed } from './records.js'

// JSON.stringify writes an escape only for half a surrogate pair, which is no character and no text of a message; it is kept as the serializer wrote it.
const halfCharacter = /\\ud[89a-f]/

type MessageJson = Parameters<typeof encloseMessage>[0]

function readMessages(value: unknown, typed: Typed): MessageJson[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isBaseMessage) || typed.text === undefined || halfCharacter.test(typed.text)) return undefined
  const items: unknown = JSON.parse(typed.text)
  return Array.isArray(items) && items.every(isMessageJson) ? items : undefined
}

interface List {
  version: number
  texts: string[]
}

export class Lists {
  readonly #pool: Pool
  // What was last written to a conversation, so that it need not be read again for the next checkpoint.
  readonly #last = new Map<string, List>()
  readonly #lastMax = 32

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /**
   * The value of a channel, stored as messages if it is a list of these and the serializer makes JSON of it (one that encrypts does not), else as it was serialized. `base` is
   * the version that the parent checkpoint has.
   */
  async store(name: string, value: unknown, typed: Typed, base: number | undefined): Promise<Stored> {
    const items = readMessages(value, typed)
    if (items === undefined) return typed
    return { listVersion: await this.#pool.change(name, (conversation) => this.#write(conversation, items, base)) }
  }

  async load(serde: SerializerProtocol, name: string, stored: Stored): Promise<unknown> {
    if (!('listVersion' in stored)) return deserialize(serde, stored)
    const texts = await this.#pool.useIfThere(name, async (conversation) => {
      await conversation.catchUp()
      return textsAt(conversation, stored.listVersion)
    })
    if (texts === undefined) throw new UndertextError('not_found', `the messages of ${name} are gone: its thread is being deleted`)
    return serde.loadsTyped('json', `[${texts.join(',')}]`)
  }

  async #write(conversation: Conversation, items: MessageJson[], base: number | undefined): Promise<number> {
    await conversation.catchUp()
    const head = await conversation.version()
    const from = base ?? head
    const texts = items.map((item) => JSON.stringify(item))
    const operations = changes(await this.#texts(conversation, from), texts, (i) => encloseMessage(items[i]!))
    if (operations.length === 0) return from
    if (from !== head) operations.unshift({ operation: 'RESTORE', version: from })
    const version = await applyAt(conversation, head, operations)
    this.#remember(conversation.id, { version, texts })
    return version
  }

  async #texts(conversation: Conversation, version: number): Promise<string[]> {
    const last = this.#last.get(conversation.id)
    return last?.version === version ? last.texts : textsAt(conversation, version)
  }

  #remember(name: string, list: List): void {
    this.#last.delete(name)
    this.#last.set(name, list)
    if (this.#last.size > this.#lastMax) this.#last.delete(this.#last.keys().next().value!)
  }
}

async function textsAt(conversation: Conversation, version: number): Promise<string[]> {
  return (await conversation.messages({ atVersion: version })).map((message) => JSON.stringify(discloseMessage(message)))
}
