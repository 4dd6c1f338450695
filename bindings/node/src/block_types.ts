// What a message says, as types: the blocks of docs/operations.md.
import type { Json, Role } from './operation_types.js'

interface AnyBlock {
  /** The format's own word where it says more than `kind`, such as "refusal". */
  type?: string
}

export interface TextBlock extends AnyBlock {
  kind: 'text'
  text: string
}

/** A call of a tool by the model. */
export interface CallBlock extends AnyBlock {
  kind: 'call'
  callId?: string
  name?: string
  /** As given: mostly an object, or a string that holds one. `{}` where there are none. */
  arguments: Json
  /** The provider runs the tool itself. */
  byProvider?: true
}

/** The result of a call. */
export interface ResultBlock extends AnyBlock {
  kind: 'result'
  callId?: string
  name?: string
  isError?: true
  byProvider?: true
  blocks: Block[]
}

/** What the model thought; without `text` where only the provider can read it. */
export interface ReasoningBlock extends AnyBlock {
  kind: 'reasoning'
  text?: string
}

export interface MediaBlock extends AnyBlock {
  kind: 'media'
  media: 'image' | 'audio' | 'video' | 'file'
  source: 'base64' | 'url' | 'file_id' | 'text'
  /** The base64 text, the URL, the id or the text. */
  data: string
  mime?: string
  detail?: string
  filename?: string
}

/** Anything else, as given. */
export interface OpaqueBlock extends AnyBlock {
  kind: 'opaque'
  json: Json
}

export type Block = TextBlock | CallBlock | ResultBlock | ReasoningBlock | MediaBlock | OpaqueBlock

export interface MessageBlocks {
  ordinal: number
  role: Role
  blocks: Block[]
}
