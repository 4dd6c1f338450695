// Messages that need not be in a conversation, requests and answers of providers, and tokens. (`render`, `validate` and `cost` are queries of a conversation.)
import type { InspectOptions } from 'node:util'
import { encode } from './encode.js'
import { guarded } from './error.js'
import { custom, shown } from './inspect.js'
import { native, type NativeStream } from './native.js'
import type {
  Block,
  Dialect,
  Imported,
  Message,
  MessageLike,
  Model,
  Streamed,
  Target,
  ToolNames,
  ToolsCount,
  Validated,
} from './types.js'

function textOf(json: string | object): string {
  return typeof json === 'string' ? json : encode(json)
}

/** What a message says, whichever format it is written in, block by block: of a message given as text or as a value. The query `blocks` has the same of a conversation's messages. */
export function readBlocks(message: string | Message | MessageLike): Block[] {
  const text = textOf(message)
  return JSON.parse(guarded(() => native.readBlocks(text))) as Block[]
}

/** How an answer was asked for: by the dialect alone, or with the names of tools that were sent. */
function askedBy(dialect: Dialect, toolNames?: ToolNames): string {
  return toolNames === undefined ? dialect : encode({ dialect, toolNames })
}

/** The messages of a provider's request or response, given as text or as a value; and its other fields. Calls get the caller's names of `toolNames` again. */
export function importMessages(
  dialect: Dialect,
  json: string | object,
  toolNames?: ToolNames,
): Imported {
  const [how, text] = [askedBy(dialect, toolNames), textOf(json)]
  return JSON.parse(guarded(() => native.importMessages(how, text))) as Imported
}

/** Whether a provider would take a request as it stands. */
export function validateRequest(target: Target, json: string | object): Validated {
  const [how, text] = [encode(target), textOf(json)]
  return JSON.parse(guarded(() => native.validateRequest(how, text))) as Validated
}

/** By any name that a conversation's tokenizer may have. */
export function countTokens(text: string, tokenizer = 'estimate'): number {
  return guarded(() => native.countTokens(tokenizer, text))
}

/** What is known of a model by its name, in any spelling. */
export function findModel(name: string): Model {
  return JSON.parse(guarded(() => native.findModel(name))) as Model
}

/** Lays rows over the table of models, for the whole process: the JSON of docs/models.md, as text or as a value. */
export function addModels(models: string | object): void {
  const text = textOf(models)
  guarded(() => native.addModels(text))
}

/** What the `tools` of a request cost, in the form of any provider. By a model's name, or any that a conversation's tokenizer may have. */
export function countTools(tools: string | readonly object[], model = 'estimate'): ToolsCount {
  const text = textOf(tools)
  return JSON.parse(guarded(() => native.countTools(model, text))) as ToolsCount
}

/** Puts the events of a streamed answer together. */
export class StreamAssembler {
  readonly #native: NativeStream
  readonly #dialect: Dialect

  constructor(dialect: Dialect, toolNames?: ToolNames) {
    const how = askedBy(dialect, toolNames)
    this.#native = guarded(() => native.stream(how))
    this.#dialect = dialect
  }

  /** The data of one event, as text or as a value. */
  feed(data: string | object): void {
    const text = textOf(data)
    guarded(() => this.#native.feed(text))
  }

  /** What is there so far. */
  result(): Streamed {
    return JSON.parse(guarded(() => this.#native.result())) as Streamed
  }

  /** What console.log() shows. */
  [custom](_depth: number, options: InspectOptions): string {
    return shown(
      'StreamAssembler',
      () => ({ dialect: this.#dialect, complete: this.result().complete }),
      options,
    )
  }
}

/** Of the engine, such as "0.1.0". */
export function libraryVersion(): string {
  return native.version()
}
