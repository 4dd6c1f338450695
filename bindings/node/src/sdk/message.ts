// Messages as the documents give them: `Message` of document 000, `LLMMessage` of 004. Both are the engine's message; any further field
// is kept and comes back as it was given.

export type MessageRole = 'system' | 'user' | 'assistant' | 'tool'
export type LLMMessageRole = MessageRole

export type MessageContent =
  | string
  | Array<{
      type: 'text' | 'image' | 'tool_use' | 'tool_result'
      text?: string
      image_url?: { url: string }
      tool_use?: { id: string; name: string; input: Record<string, unknown> }
      tool_result?: { tool_use_id: string; content: string | Array<{ type: string; text: string }> }
    }>

export interface Message {
  role: MessageRole
  content: MessageContent
  id?: string
  /** Milliseconds since 1970. */
  timestamp?: number
  metadata?: Record<string, any>
}

export interface LLMToolCall {
  /** What the `toolCallId` of its result repeats. */
  id: string
  type?: string
  function?: { name: string; arguments: string }
}

export interface LLMMessage {
  role: LLMMessageRole
  content: string | any[]
  /** Of an assistant. */
  toolCalls?: LLMToolCall[]
  /** Of a tool: the call that it answers. */
  toolCallId?: string
  id?: string
  /** Milliseconds since 1970. */
  timestamp?: number
  metadata?: Record<string, any>
}
