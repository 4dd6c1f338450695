// Lists of messages as versions of a conversation: a message that is in a thousand checkpoints is stored once.
import { isBaseMessage } from '@langchain/core/messages'
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint'
import type { Conversation } from '../../conversation.js'
import { UndertextError } from '../../error.js'
import { applyAt, changes, units, type Unit } from '../changes.js'
import { discloseMessage, encloseMessage, isMessageJson } from '../langchain-messages.js'
import { isNotFound, type Pool } from '../pool.js'
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
  units: Unit[]
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
    const found = await this.#pool.useIfThere(name, async (conversation) => {
      await conversation.catchUp()
      return unitsAt(conversation, stored.listVersion).catch((thrown: unknown) => {
        throw isNotFound(thrown) ? new UndertextError('not_found', `the messages of the checkpoint are gone: of ${name}, ${(thrown as Error).message}`, {}, thrown) : thrown
      })
    })
    if (found === undefined) throw new UndertextError('not_found', `the messages of ${name} are gone: its thread is being deleted`)
    return serde.loadsTyped('json', `[${found.flatMap(({ texts }) => texts).join(',')}]`)
  }

  async #write(conversation: Conversation, items: MessageJson[], base: number | undefined): Promise<number> {
    await conversation.catchUp()
    const head = await conversation.version()
    const from = await this.#from(conversation, base ?? head, head)
    const texts = items.map((item) => JSON.stringify(item))
    const operations = changes(from.units, texts, (i) => [encloseMessage(items[i]!)])
    if (operations.length === 0) return from.version
    if (from.version !== head) operations.unshift({ operation: 'RESTORE', version: from.version })
    const { version } = await applyAt(conversation, head, operations)
    this.#remember(conversation.id, { version, units: units(texts) })
    return version
  }

  async #from(conversation: Conversation, version: number, head: number): Promise<List> {
    const last = this.#last.get(conversation.id)
    if (version === head && last?.version === head) return last
    try {
      return { version, units: await unitsAt(conversation, version) }
    } catch (thrown) {
      // The parent's version may have been given up while its graph went on: then the head will do.
      if (!isNotFound(thrown) || version === head) throw thrown
      return this.#from(conversation, head, head)
    }
  }

  #remember(name: string, list: List): void {
    this.#last.delete(name)
    this.#last.set(name, list)
    if (this.#last.size > this.#lastMax) this.#last.delete(this.#last.keys().next().value!)
  }
}

async function unitsAt(conversation: Conversation, version: number): Promise<Unit[]> {
  const messages = await conversation.messages({ atVersion: version })
  return messages.map((message) => ({ texts: discloseMessage(message).map((json) => JSON.stringify(json)), messageCount: 1 }))
}
