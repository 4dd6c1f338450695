// What a message says that is not an item of a framework (any more), as adapters need it: texts, calls and results of the engine's blocks.
import { readBlocks } from '../providers.js'
import type {
  Block,
  CallBlock,
  Message,
  OpaqueBlock,
  Part,
  ResultBlock,
  TextBlock,
} from '../types.js'
import type { Item } from './foreign.js'

export interface Call {
  id: string
  name: string
  /** As text: JSON mostly. */
  arguments: string
}

export interface Result {
  callId: string
  name?: string
  blocks: Block[]
  text: string
  isError: boolean
}

/** Without the calls of tools that a provider runs itself, and their results: what it sent is for the provider alone. */
export interface Said {
  /** Without that of results. */
  text: string
  calls: Call[]
  results: Result[]
}

export function isCall(block: Block): block is CallBlock {
  return block.kind === 'call' && block.byProvider !== true
}

export function isResult(block: Block): block is ResultBlock {
  return block.kind === 'result' && block.byProvider !== true
}

function textsOf(blocks: Block[]): string[] {
  return blocks.filter((block): block is TextBlock => block.kind === 'text').map(({ text }) => text)
}

// A result may be a value.
function textOfResult(blocks: Block[]): string {
  const texts = textsOf(blocks)
  const values =
    texts.length > 0 ? [] : blocks.filter((block): block is OpaqueBlock => block.kind === 'opaque')
  return [...texts, ...values.map(({ json }) => JSON.stringify(json))].join('\n')
}

function callOf({ callId, name, arguments: given }: CallBlock): Call {
  return {
    id: callId ?? '',
    name: name ?? '',
    arguments: typeof given === 'string' ? given : JSON.stringify(given),
  }
}

function resultOf({ callId, name, blocks, isError }: ResultBlock): Result {
  return {
    callId: callId ?? '',
    name,
    blocks,
    text: textOfResult(blocks),
    isError: isError === true,
  }
}

// What was stored may hold half a character, which only JSON.stringify writes.
const read = (message: Message): Block[] => readBlocks(JSON.stringify(message))

export function said(message: Message): Said {
  const blocks = read(message)
  return {
    text: textsOf(blocks).join('\n'),
    calls: blocks.filter(isCall).map(callOf),
    results: blocks.filter(isResult).map(resultOf),
  }
}

/** What one part of a content says. */
export function saidByPart(part: Item): Block {
  return read({ role: 'assistant', content: [part as Part] })[0]!
}

/** The arguments as a value; what is no JSON stays text. */
export function inputOf(call: Call): unknown {
  try {
    return JSON.parse(call.arguments) as unknown
  } catch {
    return call.arguments
  }
}

/** The name of the tool that was called: results do not always tell it. */
export type ToolNames = (callId: string) => string

/** The messages are looked through when the first name is asked for. */
export function toolNames(messages: readonly Message[]): ToolNames {
  let names: Map<string, string> | undefined
  return callId => {
    names ??= new Map(
      messages.flatMap(message => said(message).calls.map(({ id, name }) => [id, name] as const)),
    )
    return names.get(callId) ?? ''
  }
}
