// Listeners of one conversation. Of the addon's side there is one, and only while anybody listens.
import type { NativeHandle } from './native.js'
import type { Event, EventType } from './types.js'

export type Listener<E extends Event = Event> = (event: E) => void

/** Ends what it was given for. */
export type Off = () => void

export class Listeners {
  readonly #handle: NativeHandle
  readonly #listeners = new Set<Listener>()
  readonly #ends = new Set<() => void>()
  #closed = false

  constructor(handle: NativeHandle) {
    this.#handle = handle
  }

  // The addon holds it weakly; this object holds it, and the conversation this object.
  readonly #receive = (text: string): void => {
    const event = JSON.parse(text) as Event
    for (const listener of [...this.#listeners]) {
      try {
        listener(event)
      } catch (thrown) {
        // The change has been made; whoever made it must not fail for it, nor the process.
        process.emitWarning(thrown instanceof Error ? thrown : String(thrown), 'UndertextListenerWarning')
      }
    }
  }

  on<T extends EventType>(type: T | '*', listener: Listener<Extract<Event, { type: T }>>): Off {
    const added: Listener = (event) => {
      if (type === '*' || event.type === type) listener(event as Extract<Event, { type: T }>)
    }
    if (this.#listeners.size === 0) this.#handle.listen(this.#receive)
    this.#listeners.add(added)
    return () => {
      if (this.#listeners.delete(added) && this.#listeners.size === 0 && !this.#closed) this.#handle.listen(undefined)
    }
  }

  /** All events from now on, until the loop is left or the conversation closed. */
  events(): AsyncIterableIterator<Event> {
    const waiting: Event[] = []
    let wake: (() => void) | undefined
    let done = false
    const end = (): void => {
      done = true
      off()
      this.#ends.delete(end)
      wake?.()
    }
    const off = this.on('*', (event) => {
      waiting.push(event)
      wake?.()
    })
    this.#ends.add(end)
    return {
      async next() {
        while (waiting.length === 0 && !done) await new Promise<void>((resolve) => (wake = resolve))
        const value = waiting.shift()
        return value === undefined ? { value, done: true } : { value, done: false }
      },
      async return() {
        end()
        waiting.length = 0
        return { value: undefined, done: true }
      },
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }

  close(): void {
    this.#closed = true
    for (const end of [...this.#ends]) end()
    this.#listeners.clear()
  }
}
