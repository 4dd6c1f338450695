// LangChain's messages, as their own JSON form ({lc: 1, type: 'constructor', id, kwargs}), inside ours.
import type { Message, Role } from '../types.js'
import { disclose, enclose, functionCall, isObject, type Item } from './foreign.js'

const kind = 'langchain'

const roles: Record<string, Role> = {
  HumanMessage: 'user',
  AIMessage: 'assistant',
  SystemMessage: 'system',
  ToolMessage: 'tool',
  FunctionMessage: 'tool',
  ChatMessage: 'user',
}

export interface MessageJson {
  lc: 1
  type: 'constructor'
  id: string[]
  kwargs: Item
}

function className(json: MessageJson): string {
  return json.id[2]!.replace(/Chunk$/, '')
}

/** Whether it is a message that can be read again. Classes of one's own cannot, nor may data from a store name any other class. */
export function isMessageJson(json: unknown): json is MessageJson {
  if (!isObject(json) || json['lc'] !== 1 || json['type'] !== 'constructor' || !isObject(json['kwargs'])) return false
  const id = json['id']
  return Array.isArray(id) && id.length === 3 && id[0] === 'langchain_core' && id[1] === 'messages' && typeof id[2] === 'string' && Object.hasOwn(roles, id[2].replace(/Chunk$/, ''))
}

function roleOf(json: MessageJson): Role {
  const said = json.kwargs['role']
  if (className(json) === 'ChatMessage' && (said === 'system' || said === 'assistant')) return said
  return roles[className(json)]!
}

function callsOf(kwargs: Item): Item[] {
  const { content, tool_calls } = kwargs
  // Anthropic's parts hold the calls already.
  if (!Array.isArray(tool_calls) || (Array.isArray(content) && content.some((part) => isObject(part) && part['type'] === 'tool_use'))) return []
  return tool_calls.filter(isObject).map((call) => functionCall(call['id'], call['name'], call['args']))
}

export function encloseMessage(json: MessageJson): Message {
  const { id, name, tool_call_id } = json.kwargs
  return enclose(kind, json as unknown as Item, { role: roleOf(json), home: ['kwargs', 'content'], id, name, toolCalls: callsOf(json.kwargs), toolCallId: tool_call_id })
}

// LangChain keeps calls whose arguments are no JSON apart.
function plainCall(call: Item): Item {
  const named = isObject(call['function']) ? call['function'] : call
  const { name } = named
  const { id } = call
  const given = named['arguments'] ?? named['args'] ?? named['input']
  try {
    return { name, args: typeof given === 'string' ? JSON.parse(given) : given, id, type: 'tool_call' }
  } catch {
    return { name, args: given, id, error: 'the arguments are no JSON', type: 'invalid_tool_call' }
  }
}

/** Of a message that came by another door. */
export function plainJson(message: Message): MessageJson {
  const names: Record<string, string> = { user: 'HumanMessage', assistant: 'AIMessage', tool: 'ToolMessage' }
  const kwargs: Item = { content: message.content ?? '', id: message.id ?? undefined }
  if (message.role === 'assistant') {
    const calls = ((message.toolCalls ?? message['tool_calls'] ?? []) as Item[]).map(plainCall)
    kwargs['tool_calls'] = calls.filter(({ type }) => type === 'tool_call')
    kwargs['invalid_tool_calls'] = calls.filter(({ type }) => type !== 'tool_call')
  }
  if (message.role === 'tool') kwargs['tool_call_id'] = message.toolCallId ?? message['tool_call_id'] ?? ''
  return { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', names[message.role] ?? 'SystemMessage'], kwargs }
}

export function discloseMessage(message: Message): MessageJson {
  const json = disclose(kind, message)
  return isMessageJson(json) ? json : plainJson(message)
}
