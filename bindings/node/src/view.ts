// The messages of one version, and all that can be asked of it.
import type { InspectOptions } from 'node:util'
import { guarded } from './error.js'
import { custom, shown } from './inspect.js'
import type { NativeView, Text } from './native.js'
import { Queries } from './requests.js'
import type { Message } from './types.js'

/** Later changes of the conversation do not affect it. Reading it does not block. */
export class View extends Queries<'now'> {
  readonly #native: NativeView

  /** Views come from conversations, and from the engine where it asks a strategy. */
  constructor(native: NativeView) {
    super()
    this.#native = native
  }

  protected override send<T>(encode: () => Text, read: (answer: string) => T): T {
    const line = encode()
    return read(guarded(() => this.#native.answer(line)))
  }

  /** How many messages it has. */
  get size(): number {
    return guarded(() => this.#native.size())
  }

  /** The message at `index`; `not_found` where there are not so many. */
  message(index: number): Message {
    return JSON.parse(guarded(() => this.#native.get(index))) as Message
  }

  /** The message at `index`, from the end where that is negative; undefined where there is none, as of an array. */
  at(index: number): Message | undefined {
    const place = index < 0 ? this.size + index : index
    return place >= 0 && place < this.size ? this.message(place) : undefined
  }

  /** The messages, one after another. */
  *[Symbol.iterator](): IterableIterator<Message> {
    for (let index = 0; index < this.size; ++index) yield this.message(index)
  }

  /** Which version it shows. */
  override version(): number {
    return guarded(() => this.#native.version())
  }

  /** Frees it. Garbage collection frees it too. */
  close(): void {
    this.#native.close()
  }

  /** `using` closes it. */
  [Symbol.dispose](): void {
    this.close()
  }

  /** What console.log() shows. */
  [custom](_depth: number, options: InspectOptions): string {
    return shown(
      'View',
      () => ({
        version: this.version(),
        messages: this.size,
        tokens: guarded(() => this.#native.tokens()),
      }),
      options,
    )
  }
}
