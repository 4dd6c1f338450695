import { ConversationManager } from 'undertext/sdk'
import type { ConversationManagerOptions, LLMMessage, LLMMessageRole } from 'undertext/sdk'

const roles: Record<string, LLMMessageRole> = { s: 'system', u: 'user', a: 'assistant', t: 'tool' }

/** `u:Hello` is a message of the user. */
export function messageOf(short: string): LLMMessage {
  const role = roles[short.slice(0, 1)]
  if (role === undefined) throw new Error(`no role: ${short}`)
  return { role, content: short.slice(2) }
}

export function conversationWith(
  options: ConversationManagerOptions,
  ...shorts: string[]
): ConversationManager {
  return new ConversationManager({ ...options, initialMessages: shorts.map(messageOf) })
}

export function conversationOf(...shorts: string[]): ConversationManager {
  return conversationWith({}, ...shorts)
}

export function contents(messages: LLMMessage[]): unknown[] {
  return messages.map(message => message.content)
}

/** Everything that can be seen of a conversation. */
export function all(manager: ConversationManager): unknown {
  return {
    messages: manager.getMessages(),
    log: manager.getAllMessages(),
    markMap: manager.getMarkMap(),
    stats: manager.getStats(),
    version: manager.createSnapshot().version,
    pinned: manager.getMarkedMessagesByRole('user', 'pinned'),
    usage: manager.getTokenUsage(),
  }
}

/** A generator of numbers below 1; the same for the same seed (mulberry32). */
export function chance(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
