// The messages of a model.
import type { Message } from '../../types.js'
import {
  asOne,
  beyond,
  disclose,
  enclose,
  functionCall,
  isContinued,
  isObject,
  isOf,
  ownParts,
  partsOf,
  strangeParts,
  type Face,
  type Item,
  type PartKinds,
} from '../foreign.js'
import { inputOf, said, toolNames, type Call, type ToolNames } from '../said.js'
import type { Kind, Read } from './kind.js'

const kind = 'ai-model'

const isOwnCall = (part: Item): boolean =>
  part['type'] === 'tool-call' && part['providerExecuted'] !== true
const isResult = (part: Item): boolean => part['type'] === 'tool-result'

const userParts: PartKinds = { text: ['text'], image: ['image'], file: ['data', 'mediaType'] }
const answerParts: PartKinds = {
  text: ['text'],
  file: ['data', 'mediaType'],
  reasoning: ['text'],
  'tool-call': ['toolCallId', 'toolName'],
  'tool-result': ['toolCallId', 'toolName', 'output'],
  'tool-approval-request': ['approvalId', 'toolCallId'],
}

// Instructions are a text.
const isOwnOf =
  (role: unknown) =>
  (part: Item): boolean =>
    isOf(role === 'assistant' ? answerParts : role === 'user' ? userParts : {}, part)

function faceOfResult(item: Item): Face {
  const results = partsOf(item['content']).filter(isResult)
  const values = results.map(part =>
    isObject(part['output']) ? part['output']['value'] : undefined,
  )
  const text = values
    .map(value => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')))
    .join('\n')
  if (results.length !== 1) return { role: 'tool', text }
  const index = (item['content'] as unknown[]).indexOf(results[0])
  const home = typeof values[0] === 'string' ? ['content', index, 'output', 'value'] : undefined
  return {
    role: 'tool',
    toolCallId: results[0]!['toolCallId'],
    name: results[0]!['toolName'],
    home,
    text,
  }
}

function faceOf(item: Item): Face {
  if (item['role'] === 'tool') return faceOfResult(item)
  const calls = partsOf(item['content']).filter(isOwnCall)
  const strange = strangeParts(item['content'], isOwnOf(item['role']))
  return {
    role: item['role'] as Message['role'],
    home: ['content'],
    strange,
    toolCalls: calls.map(part => functionCall(part['toolCallId'], part['toolName'], part['input'])),
  }
}

// A result each, since a message of ours answers one call; whatever else stands there goes with the result before it.
function pieces(item: Item): Item[] {
  const content = item['content']
  if (item['role'] !== 'tool' || !Array.isArray(content) || !content.every(isObject)) return [item]
  const starts = content.flatMap((part, i) => (isResult(part) ? [i] : [])).slice(1)
  const cuts = [0, ...starts, content.length]
  return cuts
    .slice(1)
    .map((end, i) =>
      i === 0
        ? { ...item, content: content.slice(0, end) }
        : { role: 'tool', content: content.slice(cuts[i], end) },
    )
}

const idsIn = (parts: Item[] | undefined, type: string): unknown[] =>
  (parts ?? []).filter(part => part['type'] === type).map(part => part['toolCallId'])

const callPart = (call: Call): Item => ({
  type: 'tool-call',
  toolCallId: call.id,
  toolName: call.name,
  input: inputOf(call),
})

function plainContent(text: string, calls: Call[], own: Item[] | undefined): unknown {
  if (own === undefined && calls.length === 0) return text
  const told = own ?? (text === '' ? [] : [{ type: 'text', text }])
  return [...told, ...calls.map(callPart)]
}

function plainItems(message: Message, nameOf: ToolNames): Item[] {
  const own =
    message.role === 'user' || message.role === 'assistant'
      ? ownParts(kind, message, isOwnOf(message.role))
      : undefined
  const { text, ...all } = said(message)
  const calls = beyond(all.calls, idsIn(own, 'tool-call'), ({ id }) => id)
  const results = beyond(all.results, idsIn(own, 'tool-result'), ({ callId }) => callId)
  const content = results.map(({ callId, name, text: value, isError }) => ({
    type: 'tool-result',
    toolCallId: callId,
    toolName: name ?? nameOf(callId),
    output: { type: isError ? 'error-text' : 'text', value },
  }))
  const answers = content.length === 0 ? [] : [{ role: 'tool', content }]
  const saysMore = text !== '' || calls.length > 0 || (own ?? []).length > 0
  if (message.role === 'tool' || (answers.length > 0 && !saysMore)) return answers
  return [
    ...answers,
    {
      role: message.role === 'developer' ? 'system' : message.role,
      content: plainContent(text, calls, own),
    },
  ]
}

function join(found: Read[], [item]: Item[], ordinal: number): boolean {
  const before = found.at(-1)
  const last = before?.items.at(-1)
  if (
    last?.['role'] !== 'tool' ||
    !Array.isArray(last['content']) ||
    !Array.isArray(item?.['content'])
  )
    return false
  before!.items[before!.items.length - 1] = {
    ...last,
    content: [...last['content'], ...item['content']],
  }
  before!.ordinals.push(ordinal)
  return true
}

export const modelKind: Kind = {
  roles: ['system', 'user', 'assistant', 'tool'],
  write: item => asOne(pieces(item).map(piece => enclose(kind, piece, faceOf(piece)))),
  read: messages => {
    const nameOf = toolNames(messages.map(({ message }) => message))
    const found: Read[] = []
    for (const { message, ordinal } of messages) {
      const item = disclose(kind, message, faceOf)
      const items = item === undefined ? plainItems(message, nameOf) : [item]
      if (!isContinued(kind, message) || !join(found, items, ordinal))
        found.push({ items, ordinals: [ordinal] })
    }
    return found
  },
}
