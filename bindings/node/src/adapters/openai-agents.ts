// A conversation as a session of the OpenAI Agents SDK.   npm: @openai/agents, or @openai/agents-core
import type {
  AgentInputItem,
  SessionHistoryMutation,
  SessionHistoryRewriteArgs,
  SessionHistoryRewriteAwareSession,
} from '@openai/agents-core'
import type { Message, Operation } from '../types.js'
import {
  beyond,
  clearAll,
  disclose,
  enclose,
  functionCall,
  isObject,
  isOf,
  ownParts,
  refresh,
  strangeParts,
  type AnyConversation,
  type Face,
  type Item,
  type PartKinds,
} from './foreign.js'
import { encodeItems, invalid } from './given.js'
import { said, toolNames, type Call, type Said, type ToolNames } from './said.js'
import { applyAt, hiding, saving, type Entry } from './saved_list.js'
import { Turns } from './turns.js'

const kind = 'openai-agents'
const roles: unknown[] = ['system', 'user', 'assistant'] satisfies Message['role'][]

const userParts: PartKinds = {
  input_text: ['text'],
  input_image: [],
  input_file: [],
  audio: ['audio'],
}
const answerParts: PartKinds = {
  output_text: ['text'],
  refusal: ['refusal'],
  audio: ['audio'],
  image: ['image'],
}
const thoughts: PartKinds = { reasoning_text: ['text'] }

// Instructions are a text.
const isOwnOf =
  (role: unknown) =>
  (part: Item): boolean =>
    isOf(role === 'assistant' ? answerParts : role === 'user' ? userParts : {}, part)
const isThought = (part: Item): boolean => isOf(thoughts, part)

// One that stands as a part of a message. Hosted tools, and whatever comes next, have names like these.
function isItem(part: Item): boolean {
  const type = String(part['type'])
  return (
    /_(call|result|output)$/.test(type) ||
    type === 'compaction' ||
    type === 'unknown' ||
    (type === 'reasoning' && Array.isArray(part['content']))
  )
}

// What the result of a function says stands as content, so does the picture of a computer; any other result stands there whole.
function homeOfResult({ type, output }: Item): Pick<Face, 'home' | 'isPart'> {
  if (isObject(output) && typeof output['text'] === 'string' && output['text'] !== '')
    return { home: ['output', 'text'] }
  if (isObject(output)) return { home: ['output'], isPart: true }
  return type === 'function_call_result' ? { home: ['output'] } : { home: [] }
}

function faceOf(item: Item): Face {
  const { id, role, type, callId, name } = item
  if (role === 'system' || role === 'user' || role === 'assistant')
    return { role, id, home: ['content'], strange: strangeParts(item['content'], isOwnOf(role)) }
  if (type === 'function_call' && typeof callId === 'string')
    return {
      role: 'assistant',
      id,
      toolCalls: [functionCall(callId, name ?? type, item['arguments'])],
    }
  const isAnswer = typeof type === 'string' && /_(result|output)$/.test(type)
  if (isAnswer)
    return {
      role: 'tool',
      id,
      name,
      toolCallId: callId,
      ...homeOfResult(item),
      text: JSON.stringify(item['output']),
    }
  // The engine knows the calls, results and thoughts of this SDK as parts.
  return { role: 'assistant', id, home: [], strange: strangeParts([item], isItem) }
}

// As items were shown before the engine knew them as parts. What was stored then is read as it was.
function earlierFaceOf(item: Item): Face {
  const { id, type, callId, name, output, rawContent } = item
  if (typeof type === 'string' && typeof callId === 'string') {
    const isText = typeof output === 'string' && type !== 'apply_patch_call_output'
    if (/_(result|output)$/.test(type))
      return {
        role: 'tool',
        id,
        name,
        toolCallId: callId,
        home: isText ? undefined : ['output'],
        text: JSON.stringify(output),
      }
    if (type.endsWith('_call'))
      return {
        role: 'assistant',
        id,
        toolCalls: [
          functionCall(
            callId,
            name ?? type,
            item['arguments'] ?? item['action'] ?? item['operation'],
          ),
        ],
      }
  }
  if (type === 'reasoning' && Array.isArray(rawContent))
    return {
      role: 'assistant',
      id,
      home: ['rawContent'],
      strange: strangeParts(rawContent, isThought),
    }
  return { role: 'assistant', id, home: [], strange: strangeParts([item], isItem) }
}

/** An item inside a message of ours; it comes back byte for byte. */
export function fromAgentItem(item: AgentInputItem): Message {
  return enclose(kind, item as unknown as Item, faceOf(item as unknown as Item))
}

function fromAgentItems(items: readonly AgentInputItem[]): Message[] {
  const given = encodeItems('items', items).map(text => JSON.parse(text) as Item)
  given.forEach(({ type, role }, i) => {
    if (role !== undefined && (type === undefined || type === 'message') && !roles.includes(role))
      throw invalid(`items[${i}].role`, 'must be system, user or assistant')
  })
  return given.map(item => fromAgentItem(item as unknown as AgentInputItem))
}

const disclosed = (message: Message): Item | undefined =>
  disclose(kind, message, faceOf, earlierFaceOf)

const plainCall = (call: Call): Item => ({
  type: 'function_call',
  callId: call.id,
  name: call.name,
  arguments: call.arguments,
  status: 'completed',
})

function plainMessage(role: Message['role'], text: string): Item {
  if (role === 'assistant')
    return { type: 'message', role, status: 'completed', content: [{ type: 'output_text', text }] }
  return { type: 'message', role: role === 'user' ? 'user' : 'system', content: text }
}

// Items that were merged, or pieces of one: what may stand in a message stands in one, everything else is an item. The engine makes a part `text` of a text that it joins to parts.
function ownItems(role: Message['role'], parts: Item[]): Item[] {
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  const isTold = (part: Item): boolean =>
    part['type'] === 'text' ||
    (role === 'assistant' ? isOf(answerParts, part) : !isItem(part) && !isThought(part))
  const content = parts
    .filter(isTold)
    .map(part => (part['type'] === 'text' ? { ...part, type } : part))
  const rawContent = parts.filter(isThought)
  const thought: Item[] =
    rawContent.length === 0 ? [] : [{ type: 'reasoning', content: [], rawContent }]
  const others = [...thought, ...parts.filter(part => !isTold(part) && !isThought(part))]
  const message =
    role === 'assistant'
      ? { type: 'message', role, status: 'completed', content }
      : { type: 'message', role, content }
  return content.length === 0 ? others : [...others, message]
}

function plainItems(message: Message, { text, calls, results }: Said, nameOf: ToolNames): Item[] {
  const isOwn = (part: Item): boolean =>
    isOwnOf(message.role)(part) || isThought(part) || isItem(part)
  const own =
    message.role === 'user' || message.role === 'assistant'
      ? ownParts(kind, message, isOwn)
      : undefined
  const told = own
    ? ownItems(message.role, own)
    : text === ''
      ? []
      : [plainMessage(message.role, text)]
  const toldIds = told.map(item => item['callId'])
  const answers = beyond(results, toldIds, ({ callId }) => callId).map(
    ({ callId, name, text: output }) => ({
      type: 'function_call_result',
      callId,
      name: name ?? nameOf(callId),
      status: 'completed',
      output: { type: 'text', text: output },
    }),
  )
  const items: Item[] = [
    ...answers,
    ...told,
    ...beyond(calls, toldIds, ({ id }) => id).map(plainCall),
  ]
  // A message that has neither is an item nevertheless, so that whoever pops it is told.
  return items.length === 0 ? [plainMessage(message.role, '')] : items
}

/** The items that were given; a summary, or what came by another API, as items that say the same text, calls and results. */
export function toAgentItems(
  messages: readonly Message[],
  nameOf: ToolNames = toolNames(messages),
): AgentInputItem[] {
  const items = messages.map(disclosed)
  // A call of another kind than a function's does not take text for an answer: then both are a function's.
  const plain = messages.map((message, i) => (items[i] === undefined ? said(message) : undefined))
  const answered = new Set<unknown>(
    plain.flatMap(each => each?.results.map(({ callId }) => callId) ?? []),
  )
  const isAnswered = ({ type, callId }: Item): boolean =>
    type !== 'function_call' && String(type).endsWith('_call') && answered.has(callId)
  const told = messages.flatMap<Item>(
    (message, i) => items[i] ?? plainItems(message, plain[i]!, nameOf),
  )
  return told.flatMap(item =>
    isAnswered(item) ? said(enclose(kind, item, faceOf(item))).calls.map(plainCall) : [item],
  ) as unknown as AgentInputItem[]
}

/** A message of the conversation, or a new one. */
interface Told {
  message: Message
  ordinal?: number
}

// The first call of that id is replaced, and any other is hidden.
function mutated(list: Told[], { callId, replacement }: SessionHistoryMutation): Told[] {
  let isReplaced = false
  return list.flatMap((told): Told[] => {
    const items = toAgentItems([told.message])
    if (!items.some(item => item.type === 'function_call' && item.callId === callId)) return [told]
    return items.flatMap(item => {
      if (item.type !== 'function_call' || item.callId !== callId)
        return [{ message: fromAgentItem(item) }]
      if (isReplaced) return []
      isReplaced = true
      return [{ message: fromAgentItem(replacement) }]
    })
  })
}

/** A session that keeps everything: what was popped or cleared is in earlier versions of the conversation. The caller closes the conversation. */
export class UndertextSession implements SessionHistoryRewriteAwareSession {
  readonly #sessionId: string
  readonly #turns = new Turns()

  /** `sessionId` where the conversation has no name. */
  constructor(
    readonly conversation: AnyConversation,
    sessionId?: string,
  ) {
    this.#sessionId =
      sessionId ??
      ('id' in conversation && conversation.id !== '' ? conversation.id : crypto.randomUUID())
  }

  /** The name of the conversation. */
  async getSessionId(): Promise<string> {
    return this.#sessionId
  }

  /** The last `limit` items, the oldest first. */
  async getItems(limit?: number): Promise<AgentInputItem[]> {
    if (limit !== undefined && limit <= 0) return []
    await refresh(this.conversation)
    if (limit === undefined) return toAgentItems(await this.conversation.messages())
    const version = await this.conversation.version()
    return (
      await this.#lastItems(
        await this.conversation.messages({ last: limit, atVersion: version }),
        version,
      )
    ).slice(-limit)
  }

  // A result of another door has the name of its call, which may stand before these.
  async #lastItems(messages: Message[], version: number): Promise<AgentInputItem[]> {
    const items = toAgentItems(messages)
    if (!items.some(item => item.type === 'function_call_result' && item.name === '')) return items
    return toAgentItems(
      messages,
      toolNames(await this.conversation.messages({ role: 'assistant', atVersion: version })),
    )
  }

  /** Appends items. */
  async addItems(items: AgentInputItem[]): Promise<void> {
    const messages = fromAgentItems(items)
    if (messages.length > 0) await this.conversation.append(messages)
  }

  /** Hides the last item, and returns it. */
  async popItem(): Promise<AgentInputItem | undefined> {
    return this.#turns.run(async () => {
      await refresh(this.conversation)
      const version = await this.conversation.version()
      const { messages, ordinals } = await this.conversation.find({ last: 1, atVersion: version })
      if (messages[0] === undefined) return undefined
      const items = await this.#lastItems(messages, version)
      const item = items.pop()
      const rest: Operation[] =
        items.length === 0 ? [] : [{ operation: 'APPEND', messages: items.map(fromAgentItem) }]
      await applyAt(this.conversation, version, [hiding({ ordinals }), ...rest])
      return item
    })
  }

  /** What the runner asks for when an approval changed the arguments of a call. */
  async applyHistoryMutations({ mutations }: SessionHistoryRewriteArgs): Promise<void> {
    await this.#turns.run(async () => {
      await refresh(this.conversation)
      const version = await this.conversation.version()
      const { messages, ordinals } = await this.conversation.find({ atVersion: version })
      const before = messages.map((message, i): Told => ({ message, ordinal: ordinals[i]! }))
      const after = mutations.reduce(mutated, before)
      await applyAt(this.conversation, version, [
        saving(
          after.map(
            ({ message, ordinal }): Entry => (ordinal === undefined ? message : { ordinal }),
          ),
        ),
      ])
    })
  }

  /** Hides all items; they stay in the log. */
  async clearSession(): Promise<void> {
    await clearAll(this.conversation)
  }
}
