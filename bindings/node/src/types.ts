// The protocol as types: protocol.ts is generated from its schema. Here is what methods take and return that is no line by itself.
import type { Message } from './message_types.js'
import type * as protocol from './protocol.js'

export type * from './message_types.js'
export type * from './protocol.js'
export type * from './store_types.js'

/** What every operation may carry. */
export type OperationOptions = Pick<
  protocol.UndoOperation,
  'expectedVersion' | 'description' | 'operationId'
>

/** Messages by their places in the view, or in the log. */
export type Names =
  | { indices: readonly number[]; ordinals?: undefined }
  | { ordinals: readonly number[]; indices?: undefined }

/** A provider's format and rules; a profile is a name, or an object as docs/dialects.md has it. */
export type Target = Pick<protocol.RenderQuery, 'dialect' | 'profile'>

/** By a strategy; `targetTokens` or `budget` say how much room there is. */
export type CompressByStrategy = Pick<
  protocol.CompressByStrategy,
  'strategy' | 'targetTokens' | 'budget' | 'progress' | 'survival'
>

/** What a client that keeps its own list sent: a whole request, or its list. */
export type ClientRequest = Pick<protocol.ReconcileOperation, 'client' | 'dialect'> &
  ({ request: object; messages?: undefined } | { messages: readonly object[]; request?: undefined })

/** What MERGE_FORK takes from a fork: a summary of it, its own messages, or those with these ordinals of its log. */
export type MergeForkOptions = Pick<protocol.MergeForkOperation, 'mode' | 'ordinals' | 'summary'>

export type TextChange =
  | { replaceText: protocol.ReplaceText }
  | { truncateText: protocol.TruncateText }
  | { setMetadata: Record<string, unknown> }

/** Which messages; the filters compose in the order in which they stand here. */
export type MessageQuery = Omit<protocol.MessagesQuery, 'query'>
export type RenderQuery = Omit<protocol.RenderQuery, 'query'>
/** `request` goes to the SDK of a provider as it is, whose types say more of it. */
export type Rendered = Omit<protocol.Rendered, 'request'> & { request: any }
export type CostQuery = Omit<protocol.CostQuery, 'query'>
export type Found = Omit<protocol.MessagesAnswer, 'ok'>
export type Count = Omit<protocol.CountAnswer, 'ok'>

/** Settings of a conversation that are data; Settings adds callbacks. */
export type DataSettings = Omit<protocol.Settings, 'summarisers'>

/** What an append came to. */
export type Appended = Pick<protocol.Outcome, 'version' | 'stats'>

/** What a streamed answer has come to. */
export interface Streamed {
  complete: boolean
  message?: Message
  finishReason?: string
  usage?: Record<string, unknown>
  error?: unknown
}
