// Lists of messages as versions of a conversation: a message that is in a thousand checkpoints is stored once.
import { isBaseMessage } from '@langchain/core/messages'
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint'
import type { Conversation } from '../../conversation.js'
import { UndertextError } from '../../error.js'
import type { Operation } from '../../types.js'
import { discloseMessage, encloseMessage, isMessageJson } from '../langchain-messages.js'
import { isNotFound, type Pool } from '../pool.js'
import { readingOf, SavedLists, type Reading, type Unit } from '../saved_list.js'
import { deserialize, type Stored, type Typed } from './records.js'

// JSON.stringify writes an escape only for half a surrogate pair, which is no character and no text of a message; it is kept as the serializer wrote it.
const halfCharacter = /\\ud[89a-f]/

type MessageJson = Parameters<typeof encloseMessage>[0]

function readMessages(value: unknown, typed: Typed): MessageJson[] | undefined {
  if (
    !Array.isArray(value) ||
    value.length === 0 ||
    !value.every(isBaseMessage) ||
    typed.text === undefined ||
    halfCharacter.test(typed.text)
  )
    return undefined
  const items: unknown = JSON.parse(typed.text)
  return Array.isArray(items) && items.every(isMessageJson) ? items : undefined
}

export class Lists {
  readonly #pool: Pool
  readonly #lists = new SavedLists()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /**
   * The value of a channel, stored as messages if it is a list of these and the serializer makes JSON of it (one that encrypts does not), else as it was serialized. `base` is
   * the version that the parent checkpoint has.
   */
  async store(
    name: string,
    value: unknown,
    typed: Typed,
    base: number | undefined,
  ): Promise<Stored> {
    const items = readMessages(value, typed)
    if (items === undefined) return typed
    return {
      listVersion: await this.#pool.change(name, conversation =>
        this.#write(conversation, items, base),
      ),
    }
  }

  async load(serde: SerializerProtocol, name: string, stored: Stored): Promise<unknown> {
    if (!('listVersion' in stored)) return deserialize(serde, stored)
    const found = await this.#pool.useIfThere(name, async conversation => {
      await conversation.catchUp()
      return unitsAt(conversation, stored.listVersion).catch((thrown: unknown) => {
        throw isNotFound(thrown)
          ? new UndertextError(
              'not_found',
              `the messages of the checkpoint are gone: of ${name}, ${(thrown as Error).message}`,
              {},
              thrown,
            )
          : thrown
      })
    })
    if (found === undefined)
      throw new UndertextError(
        'not_found',
        `the messages of ${name} are gone: its thread is being deleted`,
      )
    return serde.loadsTyped('json', `[${found.flatMap(({ texts }) => texts).join(',')}]`)
  }

  async #write(
    conversation: Conversation,
    items: MessageJson[],
    base: number | undefined,
  ): Promise<number> {
    await conversation.catchUp()
    const head = await conversation.version()
    const from = await this.#from(conversation, base ?? head, head)
    const texts = items.map(item => JSON.stringify(item))
    // A list without a parent has nothing to do with what others may have made of the head.
    const clear: Operation[] =
      base === undefined && from.units.length > 0
        ? [{ operation: 'CLEAR', keepSystemMessage: false }]
        : []
    const first: Operation[] =
      from.version === head ? clear : [{ operation: 'RESTORE', version: from.version }]
    return (
      await this.#lists.save(conversation, head, first, from, texts, i => [
        encloseMessage(items[i]!),
      ])
    ).version
  }

  async #from(conversation: Conversation, version: number, head: number): Promise<Reading> {
    const last = this.#lists.last(conversation, version)
    if (last !== undefined) return last
    try {
      return readingOf(version, await unitsAt(conversation, version))
    } catch (thrown) {
      // The parent's version may have been pruned while its graph went on: then the head will do.
      if (!isNotFound(thrown) || version === head) throw thrown
      return this.#from(conversation, head, head)
    }
  }
}

async function unitsAt(conversation: Conversation, version: number): Promise<Unit[]> {
  const { messages, ordinals } = await conversation.find({ atVersion: version })
  return messages.map((message, i) => ({
    texts: discloseMessage(message).map(json => JSON.stringify(json)),
    ordinals: [ordinals[i]!],
  }))
}
