// The names of a thread's conversations in a store:   langgraph-js.THREAD.GENERATION            its checkpoints and writes
//                                                    langgraph-js.THREAD.GENERATION.CHANNEL    the messages of a channel
// Python's saver has a prefix of its own: the two have records of different kinds, and may share a store.
// The name of a conversation that was purged is not used again, so a thread that was deleted goes on with the next generation.
import { createHash } from 'node:crypto'

const plainMax = 40

// Text that may be part of a name as it is, or its hash: that is longer than any plain one, so the two never meet.
export function part(text: string): string {
  return text.length <= plainMax && /^[A-Za-z0-9_-]+$/.test(text)
    ? text
    : createHash('sha256').update(text).digest('base64url')
}

export const prefix = 'langgraph-js.'

/** Of the names of all its conversations. */
export function threadPrefix(thread: string): string {
  return `${prefix}${part(thread)}.`
}

export function threadName(thread: string, generation: number): string {
  return `${threadPrefix(thread)}${generation}`
}

export function isThreadName(name: string): boolean {
  return name.startsWith(prefix) && name.split('.').length === 3
}

export function channelName(threadName: string, namespace: string, channel: string): string {
  return `${threadName}.${namespace === '' ? part(channel) : part(JSON.stringify([namespace, channel]))}`
}
