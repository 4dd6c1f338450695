// LangChain's messages, as their own JSON form ({lc: 1, type: 'constructor', id, kwargs}), inside ours.
import type { Block, Message, Role } from '../types.js'
import {
  beyond,
  disclose,
  enclose,
  functionCall,
  isObject,
  nameOfPart,
  partsOf,
  type Face,
  type Item,
} from './foreign.js'
import { inputOf, isCall, isResult, said, saidByPart, type Call, type Result } from './said.js'

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
  if (
    !isObject(json) ||
    json['lc'] !== 1 ||
    json['type'] !== 'constructor' ||
    !isObject(json['kwargs'])
  )
    return false
  const id = json['id']
  return (
    Array.isArray(id) &&
    id.length === 3 &&
    id[0] === 'langchain_core' &&
    id[1] === 'messages' &&
    typeof id[2] === 'string' &&
    Object.hasOwn(roles, id[2].replace(/Chunk$/, ''))
  )
}

function roleOf(json: MessageJson): Role {
  const said = json.kwargs['role']
  if (className(json) === 'ChatMessage' && (said === 'system' || said === 'assistant')) return said
  return roles[className(json)]!
}

const idOf = ({ id }: Item): unknown => id

// Anthropic's parts hold the calls already.
function shownCalls({ content, tool_calls }: Item): Item[] {
  const used = partsOf(content).filter(({ type }) => type === 'tool_use')
  return beyond(partsOf(tool_calls), used.map(idOf), idOf).map(call =>
    functionCall(call['id'], call['name'], call['args']),
  )
}

// Results are messages of their own, and a call that is a part is one of tool_calls too.
function strangeParts({ content, tool_calls, invalid_tool_calls }: Item): string[] {
  const parts = partsOf(content)
  const calls = [...partsOf(tool_calls), ...partsOf(invalid_tool_calls)].map(idOf)
  const unlisted = beyond(
    parts.filter(({ type }) => type === 'tool_use'),
    calls,
    idOf,
  )
  return [...unlisted, ...parts.filter(({ type }) => type === 'tool_result')].map(nameOfPart)
}

function faceOf(json: MessageJson): Face {
  const { id, name, tool_call_id } = json.kwargs
  return {
    role: roleOf(json),
    home: ['kwargs', 'content'],
    id,
    name,
    toolCalls: shownCalls(json.kwargs),
    toolCallId: tool_call_id,
    strange: strangeParts(json.kwargs),
  }
}

export function encloseMessage(json: MessageJson): Message {
  return enclose(kind, json as unknown as Item, faceOf(json))
}

function jsonOf(name: string, kwargs: Item): MessageJson {
  return { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', name], kwargs }
}

// LangChain keeps calls whose arguments are no JSON apart.
function plainCall(call: Call): Item {
  const { id, name } = call
  const args = inputOf(call)
  if (isObject(args)) return { name, args, id, type: 'tool_call' }
  return {
    name,
    args: call.arguments,
    id,
    error: 'the arguments are no JSON object',
    type: 'invalid_tool_call',
  }
}

function plainPart(block: Block): Item[] {
  if (block.kind === 'text') return [{ type: 'text', text: block.text }]
  if (block.kind === 'opaque') return isObject(block.json) ? [block.json] : []
  if (block.kind !== 'media' || block.media !== 'image' || block.source === 'file_id') return []
  const url =
    block.source === 'base64'
      ? `data:${block.mime ?? 'image/png'};base64,${block.data}`
      : block.data
  return [{ type: 'image_url', image_url: { url, detail: block.detail } }]
}

// Of a message of a tool, its parts as they are.
function plainResult({ callId, name, blocks, text, isError }: Result, given: Message): MessageJson {
  const isOwn =
    given.role === 'tool' &&
    Array.isArray(given.content) &&
    !partsOf(given.content).map(saidByPart).some(isResult)
  const content = isOwn
    ? given.content
    : blocks.length > 1 || blocks[0]?.kind === 'media'
      ? blocks.flatMap(plainPart)
      : text
  return jsonOf('ToolMessage', {
    content,
    tool_call_id: callId,
    name,
    status: isError ? 'error' : undefined,
  })
}

// Calls that stand among texts are told by tool_calls alone, as every provider takes them. Among other parts (thoughts, say) they keep their place, since providers read it there.
function plainContent(message: Message, text: string): unknown {
  if (!Array.isArray(message.content)) return message.content ?? ''
  const others = partsOf(message.content).filter(part => !isResult(saidByPart(part)))
  if (others.length === 0) return ''
  const blocks = others.map(saidByPart)
  return blocks.some(isCall) && blocks.every(block => isCall(block) || block.kind === 'text')
    ? text
    : others
}

/** Of a message that came by another API; results in a message of the user are messages of their own, before what else it says. */
export function plainJson(message: Message): MessageJson[] {
  const names: Record<string, string> = { user: 'HumanMessage', assistant: 'AIMessage' }
  const { text, calls, results } = said(message)
  const content = plainContent(message, text)
  const answers = results.map(result => plainResult(result, message))
  if (message.role === 'tool' || (answers.length > 0 && content === '' && calls.length === 0)) {
    if (answers.length === 1) answers[0]!.kwargs['id'] = message.id
    return answers
  }
  const kwargs: Item = {
    content,
    id: message.id,
    name: typeof message['name'] === 'string' ? message['name'] : undefined,
  }
  if (message.role === 'assistant') {
    const made = calls.map(plainCall)
    kwargs['tool_calls'] = made.filter(({ type }) => type === 'tool_call')
    kwargs['invalid_tool_calls'] = made.filter(({ type }) => type !== 'tool_call')
  }
  return [...answers, jsonOf(names[message.role] ?? 'SystemMessage', kwargs)]
}

export function discloseMessage(message: Message): MessageJson[] {
  const json = disclose(kind, message, item => (isMessageJson(item) ? faceOf(item) : undefined))
  return json === undefined ? plainJson(message) : [json as unknown as MessageJson]
}
