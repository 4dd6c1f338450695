// Those who wait for what a conversation does in the background.
import { guarded, later } from './error.js'
import type { NativeHandle } from './native.js'

export class Waits {
  readonly #handle: NativeHandle
  #count = 0

  constructor(handle: NativeHandle) {
    this.#handle = handle
  }

  async wait(): Promise<void> {
    ++this.#count
    try {
      await later(() => this.#handle.waitForCompression())
    } finally {
      --this.#count
    }
  }

  /** Before it is closed: whoever waits keeps it open, and what runs in the background need not end by itself. */
  end(): void {
    if (this.#count > 0) guarded(() => this.#handle.cancelCompression())
  }
}
