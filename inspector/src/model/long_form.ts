import type { Json, JsonObject } from '../api/types'
import { isList, isObject } from './json_path'

// A text stands for a list of one text: a client that marks a text has to write it as a list, and as a text again later.
export function longForm(dialect: string, request: JsonObject): JsonObject {
  const { system, messages, input } = request
  if (dialect === 'openai_responses' && typeof input === 'string')
    return { ...request, input: [{ role: 'user', content: input }] }
  if (dialect !== 'anthropic') return request
  return {
    ...request,
    ...(system !== undefined && { system: asTexts(system) }),
    ...(isList(messages) && {
      messages: messages.map(item =>
        isObject(item) && 'content' in item
          ? { ...item, content: asTexts(item.content as Json) }
          : item,
      ),
    }),
  }
}

const asTexts = (value: Json): Json =>
  typeof value === 'string' ? [{ type: 'text', text: value }] : value
