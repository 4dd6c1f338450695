// Conversations as the message store of the Vercel AI SDK.   npm: ai
import type { ModelMessage, UIMessage } from 'ai'
import type { Conversation } from '../conversation.js'
import { encode } from '../encode.js'
import type { Store } from '../store.js'
import type { Message } from '../types.js'
import { applyAt, changes } from './changes.js'
import { disclose, enclose, functionCall, isObject, plainText, type Face, type Item } from './foreign.js'
import { Pool } from './pool.js'

interface Kind {
  name: string
  face(item: Item): Face
  /** Of a message that came by another door. */
  plain(message: Message, index: number): Item
}

const uiKind: Kind = {
  name: 'ai-ui',
  face: (item) => ({ role: item['role'] as Message['role'], id: item['id'], home: ['parts'] }),
  plain: (message, index) => ({
    id: message.id ?? `message-${index}`,
    // A page has no messages of tools.
    role: message.role === 'user' || message.role === 'assistant' ? message.role : message.role === 'tool' ? 'assistant' : 'system',
    parts: [{ type: 'text', text: plainText(message) }],
  }),
}

function callsOf(content: unknown): Item[] {
  const parts = Array.isArray(content) ? content.filter(isObject) : []
  return parts.filter((part) => part['type'] === 'tool-call' && part['providerExecuted'] !== true).map((part) => functionCall(part['toolCallId'], part['toolName'], part['input']))
}

function faceOfResults(item: Item): Face {
  const results = (Array.isArray(item['content']) ? item['content'] : []).filter((part) => isObject(part) && part['type'] === 'tool-result') as Item[]
  const values = results.map((part) => (isObject(part['output']) ? part['output']['value'] : undefined))
  const text = values.map((value) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))).join('\n')
  if (results.length !== 1) return { role: 'tool', text }
  const index = (item['content'] as unknown[]).indexOf(results[0])
  const home = typeof values[0] === 'string' ? ['content', index, 'output', 'value'] : undefined
  return { role: 'tool', toolCallId: results[0]!['toolCallId'], home, text }
}

const modelKind: Kind = {
  name: 'ai-model',
  face: (item) => (item['role'] === 'tool' ? faceOfResults(item) : { role: item['role'] as Message['role'], home: ['content'], toolCalls: callsOf(item['content']) }),
  plain: (message) => {
    if (message.role !== 'tool') return { role: message.role === 'developer' ? 'system' : message.role, content: plainText(message) }
    const toolCallId = message.toolCallId ?? message['tool_call_id'] ?? ''
    return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName: message['name'] ?? '', output: { type: 'text', value: plainText(message) } }] }
  },
}

class MessageStore<T> {
  readonly #kind: Kind
  readonly #pool: Pool

  constructor(kind: Kind, store: Store) {
    this.#kind = kind
    this.#pool = new Pool(store)
  }

  async #read(conversation: Conversation): Promise<{ messages: T[]; version: number }> {
    await conversation.catchUp()
    const version = await conversation.version()
    const messages = await conversation.messages({ atVersion: version })
    return { messages: messages.map((message, i) => disclose(this.#kind.name, message) ?? this.#kind.plain(message, i)) as T[], version }
  }

  /** The messages of a chat; none where there is no such chat. */
  async load(id: string): Promise<T[]> {
    return (await this.loadVersion(id)).messages
  }

  /** The same with the version they are of, for `expectedVersion`. */
  async loadVersion(id: string): Promise<{ messages: T[]; version: number }> {
    return (await this.#pool.useIfThere(id, (conversation) => this.#read(conversation))) ?? { messages: [], version: 0 }
  }

  /**
   * Makes these the messages of a chat: what is new is appended, what is another now is replaced or deleted, in one step; earlier states stay in the conversation's history.
   * Where two save at once the later one is what is seen, unless `expectedVersion` (of loadVersion or of an earlier save) refuses it with `conflict`.
   */
  async save(id: string, messages: readonly T[], options: { expectedVersion?: number } = {}): Promise<{ version: number }> {
    // Read now: what the caller changes afterwards changes nothing here.
    const after = messages.map(encode)
    const made = (i: number): Message => {
      const item = JSON.parse(after[i]!) as Item
      return enclose(this.#kind.name, item, this.#kind.face(item))
    }
    const work = async (conversation: Conversation): Promise<{ version: number }> => {
      const now = await this.#read(conversation)
      const operations = changes(now.messages.map(encode), after, made)
      return { version: operations.length === 0 ? now.version : await applyAt(conversation, options.expectedVersion ?? now.version, operations) }
    }
    return options.expectedVersion === undefined ? this.#pool.change(id, work) : this.#pool.use(id, work)
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
