// The messages of a page.
import type { Message } from '../../types.js'
import type { Placed } from '../followed.js'
import {
  beyond,
  disclose,
  enclose,
  isOf,
  ownParts,
  strangeParts,
  type Face,
  type Item,
  type PartKinds,
} from '../foreign.js'
import { inputOf, said, type Call, type Result } from '../said.js'
import type { Kind, Read } from './kind.js'

const kind = 'ai-ui'

const partKinds: PartKinds = {
  text: ['text'],
  reasoning: ['text'],
  file: ['mediaType', 'url'],
  'source-url': ['sourceId', 'url'],
  'source-document': ['sourceId', 'mediaType'],
  'step-start': [],
  'dynamic-tool': ['toolCallId', 'toolName', 'state'],
}

function isOwn(part: Item): boolean {
  const type = String(part['type'])
  return (
    isOf(partKinds, part) ||
    (type.startsWith('tool-') && part['toolCallId'] !== undefined && part['state'] !== undefined) ||
    (type.startsWith('data-') && part['data'] !== undefined)
  )
}

const faceOf = (item: Item): Face => ({
  role: item['role'] as Message['role'],
  id: item['id'],
  home: ['parts'],
  strange: strangeParts(item['parts'], isOwn),
})

// Its place in the log stands for an id: that is no other message's, and stays the same.
function plainItem({ message, ordinal }: Placed, parts: Item[]): Item {
  // A page has no messages of tools.
  const role =
    message.role === 'user' || message.role === 'assistant'
      ? message.role
      : message.role === 'tool'
        ? 'assistant'
        : 'system'
  return {
    id: message.id ?? `message-${ordinal}`,
    role,
    parts: parts.length === 0 ? [{ type: 'text', text: '' }] : parts,
  }
}

const textParts = (texts: string[]): Item[] =>
  texts.filter(text => text !== '').map(text => ({ type: 'text', text }))

interface Told {
  /** Of the framework's own, and texts. */
  parts: Item[]
  /** That no part tells; so are the results. */
  calls: Call[]
  results: Result[]
}

function toldBy(message: Message): Told {
  const { text, calls, results } = said(message)
  const own = ownParts(kind, message, isOwn)
  const ids = (own ?? []).map(part => part['toolCallId'])
  return {
    parts: own ?? textParts([text]),
    calls: beyond(calls, ids, ({ id }) => id),
    results: beyond(results, ids, ({ callId }) => callId),
  }
}

// In the order of the SDK's own schema, so that what was validated is still the same text.
function callPart(call: Call, result: Result | undefined): Item {
  const state =
    result === undefined ? 'input-available' : result.isError ? 'output-error' : 'output-available'
  const answer =
    result === undefined
      ? {}
      : result.isError
        ? { errorText: result.text }
        : { output: result.text }
  return {
    type: 'dynamic-tool',
    toolName: call.name,
    toolCallId: call.id,
    state,
    input: inputOf(call),
    ...answer,
  }
}

// On a page a result stands in the part of its call, so the messages that answer are read with the one that asks.
function readCalls(messages: readonly Placed[], start: number, { parts: told, calls }: Told): Read {
  const results = new Map<string, Result[]>()
  const isOpen = (callId: string): boolean =>
    calls.filter(({ id }) => id === callId).length > (results.get(callId)?.length ?? 0)
  const rest: Item[] = []
  let end = start + 1
  for (; end < messages.length; ++end) {
    const answer = said(messages[end]!.message)
    if (answer.results.length === 0 || !answer.results.every(({ callId }) => isOpen(callId))) break
    for (const result of answer.results)
      results.set(result.callId, [...(results.get(result.callId) ?? []), result])
    if (answer.text !== '') rest.push(plainItem(messages[end]!, textParts([answer.text])))
  }
  const parts = [...told, ...calls.map(call => callPart(call, results.get(call.id)?.shift()))]
  return {
    items: [plainItem(messages[start]!, parts), ...rest],
    ordinals: messages.slice(start, end).map(({ ordinal }) => ordinal),
  }
}

function readAt(messages: readonly Placed[], index: number): Read {
  const { message } = messages[index]!
  const item = disclose(kind, message, faceOf)
  if (item !== undefined) return { items: [item], ordinals: [messages[index]!.ordinal] }
  const told = toldBy(message)
  if (message.role === 'assistant' && told.calls.length > 0) return readCalls(messages, index, told)
  const parts = [...textParts(told.results.map(result => result.text)), ...told.parts]
  return { items: [plainItem(messages[index]!, parts)], ordinals: [messages[index]!.ordinal] }
}

export const uiKind: Kind = {
  roles: ['system', 'user', 'assistant'],
  write: item => [enclose(kind, item, faceOf(item))],
  read: messages => {
    const found: Read[] = []
    for (let index = 0; index < messages.length; index += found.at(-1)!.ordinals.length)
      found.push(readAt(messages, index))
    return found
  },
}
