// A conversation as LangChain's chat message history.   npm: @langchain/core
import { BaseListChatMessageHistory } from '@langchain/core/chat_history'
import { load } from '@langchain/core/load'
import type { BaseMessage } from '@langchain/core/messages'
import { encode } from '../encode.js'
import { mustBeObject, UndertextError } from '../error.js'
import type { Message } from '../types.js'
import { clearAll, isObject, refresh, unsupported, type AnyConversation } from './foreign.js'
import { mustBeItems } from './given.js'
import {
  discloseMessage,
  encloseMessage,
  isMessageJson,
  plainJson,
  type MessageJson,
} from './langchain-messages.js'

// In LangChain's form, what is inside is data and names no class.
const escaped = '__lc_escaped__'

// LangChain writes without a word what it will not read again: NaN, a Map, what contains itself. So what it is about to write is looked at first.
function mustComeBack(message: BaseMessage): void {
  mustBeObject(message, 'message')
  mustBeObject(message.lc_kwargs, 'message')
  const own = message as unknown as Record<string, unknown>
  const text = encode(
    Object.fromEntries(
      Object.entries(message.lc_kwargs).map(([key, value]) => [key, key in own ? own[key] : value]),
    ),
  )
  if (!text.includes('__proto__')) return
  JSON.parse(text, (key, value: unknown) => {
    if (key === '__proto__')
      throw new UndertextError(
        'invalid_argument',
        'LangChain cannot read a member of this name again',
        { field: key },
      )
    return value
  })
}

/** By LangChain's own form. Members that are undefined are left out; what would not come back is refused. */
export function fromLangChain(message: BaseMessage): Message {
  mustComeBack(message)
  const json: unknown = JSON.parse(JSON.stringify(message))
  if (!isMessageJson(json))
    throw unsupported(`a message of the class ${message.constructor.name} could not be read again`)
  return encloseMessage(json)
}

// What was meant, where LangChain's form has it escaped.
function unescaped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unescaped)
  if (!isObject(value)) return value
  const keys = Object.keys(value)
  return keys.length === 1 && keys[0] === escaped ? value[escaped] : unescapedMembers(value)
}

function unescapedMembers(value: object): object {
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unescaped(member)]))
}

/** An instance of the message's class, and of no other: whatever is stored inside it is data. */
function instance({ kwargs, ...json }: MessageJson): Promise<BaseMessage> {
  return load<BaseMessage>(
    JSON.stringify({ ...json, kwargs: { [escaped]: unescapedMembers(kwargs) } }),
  )
}

/** The message that was given; a summary, what came by another API, or what its class does not take, as LangChain would have said it, in one message or several. */
export async function toLangChain(message: Message): Promise<BaseMessage[]> {
  try {
    return await Promise.all(discloseMessage(message).map(instance))
  } catch {
    return Promise.all(plainJson(message).map(instance))
  }
}

/**
 * A history that keeps everything: what was cleared or compressed is in earlier versions of the conversation. It owns nothing: the caller closes the conversation.
 */
export class UndertextChatMessageHistory extends BaseListChatMessageHistory {
  override lc_namespace = ['undertext', 'langchain']

  constructor(readonly conversation: AnyConversation) {
    super()
  }

  /** The messages of the view, as LangChain has them. */
  override async getMessages(): Promise<BaseMessage[]> {
    await refresh(this.conversation)
    return (await Promise.all((await this.conversation.messages()).map(toLangChain))).flat()
  }

  /** Appends a message. */
  override async addMessage(message: BaseMessage): Promise<void> {
    await this.addMessages([message])
  }

  /** All of them, or none. A RemoveMessage is refused: it is no message but a request to the keeper of a graph's state. */
  override async addMessages(messages: BaseMessage[]): Promise<void> {
    mustBeItems('messages', messages)
    if (messages.length > 0) await this.conversation.append(messages.map(fromLangChain))
  }

  /** Hides all messages; they stay in the log. */
  override async clear(): Promise<void> {
    await clearAll(this.conversation)
  }
}
