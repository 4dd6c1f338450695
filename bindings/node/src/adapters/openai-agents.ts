// A conversation as a session of the OpenAI Agents SDK.   npm: @openai/agents, or @openai/agents-core
import type { AgentInputItem, SessionHistoryMutation, SessionHistoryRewriteArgs, SessionHistoryRewriteAwareSession } from '@openai/agents-core'
import { encode } from '../encode.js'
import type { Message, Operation } from '../types.js'
import { applyAt, changes } from './changes.js'
import { clearAll, disclose, enclose, functionCall, isObject, plainText, refresh, type AnyConversation, type Face, type Item } from './foreign.js'
import { Turns } from './turns.js'

const kind = 'openai-agents'

function faceOfResult(item: Item): Face {
  const { output, callId, name } = item
  const isText = isObject(output) && typeof output['text'] === 'string' && output['text'] !== ''
  return { role: 'tool', home: isText ? ['output', 'text'] : ['output'], text: JSON.stringify(output), toolCallId: callId, name }
}

function faceOf(item: Item): Face {
  const { id, role, type } = item
  if (role === 'system' || role === 'user' || role === 'assistant') return { role, id, home: ['content'] }
  if (typeof type === 'string' && typeof item['callId'] === 'string') {
    if (/_(result|output)$/.test(type)) return { ...faceOfResult(item), id }
    if (type.endsWith('_call')) return { role: 'assistant', id, toolCalls: [functionCall(item['callId'], item['name'] ?? type, item['arguments'] ?? item['action'] ?? item['operation'])] }
  }
  if (type === 'reasoning' && Array.isArray(item['rawContent']) && item['rawContent'].length > 0) return { role: 'assistant', id, home: ['rawContent'] }
  // Hosted tools, and whatever comes next.
  return { role: 'assistant', id, home: [] }
}

/** An item inside a message of ours; it comes back byte for byte. */
export function fromAgentItem(item: AgentInputItem): Message {
  return enclose(kind, item as unknown as Item, faceOf(item as unknown as Item))
}

function plainItems(message: Message): Item[] {
  const content = plainText(message)
  const calls = ((message.toolCalls ?? message['tool_calls'] ?? []) as { id?: string; function?: { name?: string; arguments?: string } }[]).map((call) => ({
    type: 'function_call',
    callId: call.id ?? '',
    name: call.function?.name ?? '',
    arguments: call.function?.arguments ?? '{}',
    status: 'completed',
  }))
  switch (message.role) {
    case 'assistant':
      return [...(content === '' ? [] : [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: content }] }]), ...calls]
    case 'tool':
      return [{ type: 'function_call_result', callId: message.toolCallId ?? message['tool_call_id'] ?? '', name: message['name'] ?? '', status: 'completed', output: { type: 'text', text: content } }]
    default:
      return [{ type: 'message', role: message.role === 'user' ? 'user' : 'system', content }]
  }
}

/** The item that was given; a summary, or what came by another door, as items that say the same text. */
export function toAgentItems(message: Message): AgentInputItem[] {
  const item = disclose(kind, message)
  return (item === undefined ? plainItems(message) : [item]) as unknown as AgentInputItem[]
}

// The first call of that id is replaced, and any other is hidden.
function mutated(messages: Message[], { callId, replacement }: SessionHistoryMutation): Message[] {
  let isReplaced = false
  return messages.flatMap((message) => {
    const item = disclose(kind, message)
    if (item?.['type'] !== 'function_call' || item['callId'] !== callId) return [message]
    if (isReplaced) return []
    isReplaced = true
    return [fromAgentItem(replacement)]
  })
}

/** A session that keeps everything: what was popped or cleared is in earlier versions of the conversation. Whoever opened the conversation closes it. */
export class UndertextSession implements SessionHistoryRewriteAwareSession {
  readonly #sessionId: string
  readonly #turns = new Turns()

  /** `sessionId` where the conversation has no name. */
  constructor(
    readonly conversation: AnyConversation,
    sessionId?: string,
  ) {
    this.#sessionId = sessionId ?? ('id' in conversation && conversation.id !== '' ? conversation.id : crypto.randomUUID())
  }

  async getSessionId(): Promise<string> {
    return this.#sessionId
  }

  /** The last `limit` items, the oldest first. */
  async getItems(limit?: number): Promise<AgentInputItem[]> {
    if (limit !== undefined && limit <= 0) return []
    await refresh(this.conversation)
    const items = (await this.conversation.messages(limit === undefined ? undefined : { last: limit })).flatMap(toAgentItems)
    return limit === undefined ? items : items.slice(-limit)
  }

  async addItems(items: AgentInputItem[]): Promise<void> {
    if (items.length > 0) await this.conversation.append(items.map(fromAgentItem))
  }

  async popItem(): Promise<AgentInputItem | undefined> {
    return this.#turns.run(async () => {
      await refresh(this.conversation)
      const version = await this.conversation.version()
      const { messages, ordinals } = await this.conversation.find({ last: 1, atVersion: version })
      if (messages[0] === undefined) return undefined
      const items = toAgentItems(messages[0])
      const item = items.pop()
      const rest: Operation[] = items.length === 0 ? [] : [{ operation: 'APPEND', messages: items.map(fromAgentItem) }]
      await applyAt(this.conversation, version, [{ operation: 'DELETE', ordinals }, ...rest])
      return item
    })
  }

  /** What the runner asks for when an approval changed the arguments of a call. */
  async applyHistoryMutations({ mutations }: SessionHistoryRewriteArgs): Promise<void> {
    await this.#turns.run(async () => {
      await refresh(this.conversation)
      const version = await this.conversation.version()
      const before = await this.conversation.messages({ atVersion: version })
      const after = mutations.reduce(mutated, before)
      await applyAt(this.conversation, version, changes(before.map(encode), after.map(encode), (i) => after[i]!))
    })
  }

  async clearSession(): Promise<void> {
    await clearAll(this.conversation)
  }
}
