// A conversation as LangChain's chat message history.   npm: @langchain/core
import { BaseListChatMessageHistory } from '@langchain/core/chat_history'
import { load } from '@langchain/core/load'
import type { BaseMessage } from '@langchain/core/messages'
import type { Message } from '../types.js'
import { clearAll, refresh, unsupported, type AnyConversation } from './foreign.js'
import { discloseMessage, encloseMessage, isMessageJson } from './langchain-messages.js'

// LangChain reads 50 levels unless told; the engine keeps more.
const depthMax = 1000

/** By LangChain's own form; what that leaves out (a method, undefined) is left out. */
export function fromLangChain(message: BaseMessage): Message {
  const json: unknown = JSON.parse(JSON.stringify(message))
  if (!isMessageJson(json)) throw unsupported(`a message of the class ${message.constructor.name} could not be read again`)
  return encloseMessage(json)
}

/** The message that was given; a summary, or what came by another door, as LangChain would have said it. */
export async function toLangChain(message: Message): Promise<BaseMessage> {
  return load<BaseMessage>(JSON.stringify(discloseMessage(message)), { maxDepth: depthMax })
}

/**
 * A history that keeps everything: what was cleared or compressed is in earlier versions of the conversation. It owns nothing: whoever opened the conversation closes it.
 */
export class UndertextChatMessageHistory extends BaseListChatMessageHistory {
  override lc_namespace = ['undertext', 'langchain']

  constructor(readonly conversation: AnyConversation) {
    super()
  }

  override async getMessages(): Promise<BaseMessage[]> {
    await refresh(this.conversation)
    return Promise.all((await this.conversation.messages()).map(toLangChain))
  }

  override async addMessage(message: BaseMessage): Promise<void> {
    await this.addMessages([message])
  }

  /** All of them, or none. A RemoveMessage is refused: it is no message but a request, for whoever keeps a graph's state. */
  override async addMessages(messages: BaseMessage[]): Promise<void> {
    if (messages.length > 0) await this.conversation.append(messages.map(fromLangChain))
  }

  override async clear(): Promise<void> {
    await clearAll(this.conversation)
  }
}
