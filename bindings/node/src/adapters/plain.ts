// What a message says that came by another door, or is no longer of one item: its text, the calls of tools in it and the results of calls, by whichever spelling.
import type { Message } from '../types.js'
import { beyond, isObject, partsOf, type Item } from './foreign.js'

export interface Call {
  id: string
  name: string
  /** As text: JSON mostly. */
  arguments: string
}

export interface Result {
  callId: string
  name?: string
  content: unknown
  text: string
  isError: boolean
}

export interface Said {
  /** Without that of results. */
  text: string
  calls: Call[]
  results: Result[]
}

function textOfPart(part: Item): unknown {
  return part['type'] === 'tool_result' ? textOf(part['content']) : part['text']
}

/** As the engine has it: the text parts and the text of tool results, joined by a newline. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const texts = content.map((part) => (isObject(part) ? textOfPart(part) : undefined))
  return texts.filter((each) => typeof each === 'string').join('\n')
}

function string(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

// Some providers write an empty text where there are none.
function argumentsOf(given: unknown): string {
  if (typeof given !== 'string') return JSON.stringify(given)
  return given.trim() === '' ? '{}' : given
}

function callOf(call: Item): Call {
  const named = isObject(call['function']) ? call['function'] : call
  const given = named['arguments'] ?? named['args'] ?? named['input'] ?? {}
  return { id: string(call['id']) ?? '', name: string(named['name']) ?? '', arguments: argumentsOf(given) }
}

/** The arguments as a value; what is no JSON stays text. */
export function inputOf(call: Call): unknown {
  try {
    return JSON.parse(call.arguments) as unknown
  } catch {
    return call.arguments
  }
}

/** Each call once, also where a part and a tool call are the same. Calls that share an id are several nevertheless. */
export function callsOf(message: Message): Call[] {
  const listed: unknown = message.toolCalls ?? message['tool_calls']
  const used = partsOf(message.content).filter((part) => part['type'] === 'tool_use')
  const calls = (Array.isArray(listed) ? listed.filter(isObject) : []).map(callOf)
  const told = used.map(callOf)
  return [...told, ...beyond(calls, told.map(({ id }) => id).filter((id) => id !== ''), ({ id }) => id)]
}

function resultsOf(message: Message): Result[] {
  const answered = string(message.toolCallId ?? message['tool_call_id'])
  const parts = partsOf(message.content).filter((part) => part['type'] === 'tool_result')
  if (parts.length === 0 && message.role === 'tool') {
    return [{ callId: answered ?? '', name: string(message['name']), content: message.content, text: textOf(message.content), isError: false }]
  }
  return parts.map(({ tool_use_id, name, content, is_error }) => ({
    callId: string(tool_use_id) ?? answered ?? '',
    name: string(name),
    content,
    text: textOf(content),
    isError: is_error === true,
  }))
}

export function said(message: Message): Said {
  const results = resultsOf(message)
  const content = results.length === 0 ? message.content : message.role === 'tool' ? '' : partsOf(message.content).filter((part) => part['type'] !== 'tool_result')
  return { text: textOf(content), calls: callsOf(message), results }
}

/** The name of the tool that was called: results do not always tell it. */
export type ToolNames = (callId: string) => string

/** The messages are looked through when the first name is asked for. */
export function toolNames(messages: readonly Message[]): ToolNames {
  let names: Map<string, string> | undefined
  return (callId) => {
    names ??= new Map(messages.flatMap((message) => callsOf(message).map(({ id, name }) => [id, name] as const)))
    return names.get(callId) ?? ''
  }
}
