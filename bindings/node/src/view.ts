// The messages of one version, and all that can be asked of it.
import { guarded } from './error.js'
import type { NativeView, Text } from './native.js'
import { Queries } from './requests.js'
import type { Message } from './types.js'

/** It stays as it is, whatever is done to the conversation. Reading it waits for nobody. */
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

  get size(): number {
    return guarded(() => this.#native.size())
  }

  /** The message at `index`; `not_found` where there are not so many. */
  message(index: number): Message {
    return JSON.parse(guarded(() => this.#native.get(index))) as Message
  }

  override version(): number {
    return guarded(() => this.#native.version())
  }

  close(): void {
    this.#native.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}
