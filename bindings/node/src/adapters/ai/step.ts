// What the model is sent in each step of generateText and streamText.
import type { ModelMessage } from 'ai'
import { encodeItems } from '../given.js'
import { seen } from '../followed.js'
import { isObject, type AnyConversation, type Item } from '../foreign.js'
import { modelKind } from './model.js'

// JSON has neither bytes nor URLs, and the SDK takes text for both.
function asText(value: unknown): unknown {
  if (value instanceof URL) return value.href
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString('base64')
  if (!(value instanceof Uint8Array)) return value
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
}

function withTexts(part: unknown): unknown {
  if (!isObject(part)) return part
  const { image, data } = part
  return {
    ...part,
    ...(image === undefined ? {} : { image: asText(image) }),
    ...(data === undefined ? {} : { data: asText(data) }),
  }
}

function storable(message: ModelMessage): unknown {
  return Array.isArray(message.content)
    ? { ...message, content: message.content.map(withTexts) }
    : message
}

/**
 * For `generateText({ prepareStep: prepareStep(conversation) })`: the model sees the view of a
 * conversation that follows the loop, with what a COMPRESS, an EXPAND or any
 * other edit left there. What the call returns has all messages.
 */
export function prepareStep(
  conversation: AnyConversation,
): (step: { messages: readonly ModelMessage[] }) => Promise<{ messages: ModelMessage[] }> {
  return async ({ messages }) => {
    const texts = encodeItems('messages', messages.map(storable))
    const given = texts.flatMap(text => modelKind.write(JSON.parse(text) as Item))
    const found = modelKind.read(await seen(conversation, given))
    return { messages: found.flatMap(({ items }) => items) as unknown as ModelMessage[] }
  }
}
