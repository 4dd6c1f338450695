// Middleware that keeps an agent of LangChain within its window.   npm: langchain, @langchain/core
import {
  isAIMessage,
  isToolMessage,
  SystemMessage,
  type BaseMessage,
} from '@langchain/core/messages'
import { tool, type StructuredTool } from '@langchain/core/tools'
import { createMiddleware, type AgentMiddleware } from 'langchain'
import { UndertextError } from '../error.js'
import { MemoryConversation } from '../memory.js'
import { Store } from '../store.js'
import type { Message, Settings } from '../types.js'
import { seen } from './followed.js'
import type { AnyConversation } from './foreign.js'
import { invalid } from './given.js'
import { fromLangChain, toLangChain } from './langchain.js'
import { part } from './langgraph/names.js'

export interface MiddlewareOptions {
  /** Of the conversations of a store. */
  settings?: Settings
  /**
   * Of this agent, in the names of its conversations. Agents that share a store and threads need
   * names of their own. Default: "langchain-js".
   */
  name?: string
  /** Whether the agent has tools that read what was hidden. Default: that of `settings`. */
  contextTools?: boolean
}

type Work<T> = (conversation: AnyConversation) => Promise<T>

/** The conversation of a thread, open while `work` is done. */
class Followed {
  readonly #where: AnyConversation | Store
  readonly #options: MiddlewareOptions

  constructor(where: AnyConversation | Store, options: MiddlewareOptions) {
    this.#where = where
    this.#options = options
  }

  async use<T>(thread: unknown, work: Work<T>): Promise<T> {
    if (!(this.#where instanceof Store)) return work(this.#where)
    if (typeof thread !== 'string' || thread === '')
      throw invalid('thread_id', 'is missing: a store has a conversation for each thread')
    const { name = 'langchain-js', settings } = this.#options
    await using conversation = await this.#where.open(`${name}.${part(thread)}`, settings)
    return await work(conversation)
  }
}

// An artifact that is no JSON is for the program, and no model reads it: the agent's state has it.
function stored(message: BaseMessage): Message {
  try {
    return fromLangChain(message)
  } catch (thrown) {
    if (!(thrown instanceof UndertextError) || !isToolMessage(message)) throw thrown
    if (message.artifact === undefined) throw thrown
    const { artifact: _, ...rest } = message.lc_kwargs
    const Class = message.constructor as new (fields: object) => BaseMessage
    return fromLangChain(new Class(rest))
  }
}

async function view(
  conversation: AnyConversation,
  given: readonly BaseMessage[],
): Promise<BaseMessage[]> {
  const placed = await seen(conversation, given.map(stored))
  return (await Promise.all(placed.map(({ message }) => toLangChain(message)))).flat()
}

interface Declared {
  name: string
  description: string
  input_schema: object
}

function toolOf(followed: Followed, { name, description, input_schema }: Declared): StructuredTool {
  return tool(
    async (input: object, config) => {
      const thread: unknown = config.configurable?.['thread_id']
      return followed.use(thread, async at => (await at.callTool(name, input)).text)
    },
    { name, description, schema: input_schema as { type: 'object' } },
  ) as unknown as StructuredTool
}

/**
 * For `createAgent({ model, tools, middleware: [undertextMiddleware(conversation)] })`: the model
 * sees the view of a conversation that follows the agent, with what a COMPRESS,
 * an EXPAND or any other edit left there. The agent's state keeps all messages. Of a store, each
 * thread has a conversation: `NAME.THREAD`.
 */
export function undertextMiddleware(
  where: AnyConversation | Store,
  options: MiddlewareOptions = {},
): AgentMiddleware {
  const followed = new Followed(where, options)
  const hasTools = options.contextTools ?? options.settings?.contextTools ?? false
  const declared = hasTools
    ? (new MemoryConversation().tools('anthropic') as unknown as Declared[])
    : []
  return createMiddleware({
    name: 'undertext',
    tools: declared.map(each => toolOf(followed, each)),
    wrapModelCall: async (request, handler) => {
      const thread = request.runtime.configurable?.thread_id
      const { systemMessage } = request
      const system = systemMessage.content.length === 0 ? [] : [systemMessage]
      const given = [...system, ...request.messages]
      const messages = await followed.use(thread, at => view(at, given))
      const first = messages[0]
      const isLed = first !== undefined && first.getType() === 'system'
      return handler({
        ...request,
        systemMessage: isLed ? new SystemMessage(first) : new SystemMessage(''),
        messages: isLed ? messages.slice(1) : messages,
      })
    },
    // Only now has the answer the name and the id that the state has. Those before it came with the
    // next call.
    afterAgent: async ({ messages }, { configurable }) => {
      const answer = messages.at(-1)
      if (answer !== undefined && isAIMessage(answer))
        await followed.use(configurable?.thread_id, async at => at.append(stored(answer)))
    },
  }) as unknown as AgentMiddleware
}
