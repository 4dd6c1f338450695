// Conversations that follow agents: for adapters that stand between a framework's own list of
// messages and its model.
import type { Message } from '../types.js'
import { refresh, type AnyConversation } from './foreign.js'

/** A message of the view, and its place in the log. */
export interface Placed {
  message: Message
  ordinal: number
}

/**
 * What the model is to see of the list that an agent has now: the view, once the conversation
 * follows the list and has compressed itself.
 */
export async function seen(
  conversation: AnyConversation,
  messages: readonly Message[],
): Promise<Placed[]> {
  await conversation.reconcile({ messages })
  await conversation.waitForCompression()
  await refresh(conversation)
  const view = await conversation.find({})
  return view.messages.map((message, i) => ({ message, ordinal: view.ordinals[i]! }))
}
