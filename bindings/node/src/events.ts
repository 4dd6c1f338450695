// Listeners of one conversation. Of the addon's side there is one, and only while anybody listens.
import { UndertextError } from './error.js'
import type { NativeHandle } from './native.js'
import { eventTypes } from './protocol.js'
import type { Event, EventType } from './types.js'

/** What it answers does not matter, but that a promise which is rejected is a warning of the process, as what is thrown is. */
export type Listener<E extends Event = Event> = (event: E) => unknown

/** Ends what it was given for. */
export type Off = () => void

// The change has been made; whoever made it must not fail for it, nor the process.
function warn(thrown: unknown): void {
  process.emitWarning(thrown instanceof Error ? thrown : String(thrown), 'UndertextListenerWarning')
}

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
    for (const listener of [...this.#listeners]) {
      try {
        // Each has an event of its own, to change as it likes.
        const answer = listener(JSON.parse(text) as Event)
        if (answer instanceof Promise) answer.catch(warn)
      } catch (thrown) {
        warn(thrown)
      }
    }
  }

  on<T extends EventType>(type: T | '*', listener: Listener<Extract<Event, { type: T }>>): Off {
    if (type !== '*' && !eventTypes.includes(type))
      throw new UndertextError('invalid_argument', `there is no event ${String(type)}`, {
        field: 'type',
      })
    if (typeof listener !== 'function')
      throw new UndertextError('invalid_argument', 'listener must be a function', {
        field: 'listener',
      })
    const added: Listener = event =>
      type === '*' || event.type === type
        ? listener(event as Extract<Event, { type: T }>)
        : undefined
    if (this.#listeners.size === 0) this.#handle.listen(this.#receive)
    this.#listeners.add(added)
    return () => {
      if (this.#listeners.delete(added) && this.#listeners.size === 0 && !this.#closed)
        this.#handle.listen(undefined)
    }
  }

  /** All events from now on, until the loop is left or the conversation closed. */
  events(): AsyncIterableIterator<Event> {
    const waiting: Event[] = []
    const wakes: (() => void)[] = []
    let done = false
    const end = (): void => {
      done = true
      off()
      this.#ends.delete(end)
      for (const wake of wakes.splice(0)) wake()
    }
    const off = this.on('*', event => {
      waiting.push(event)
      wakes.shift()?.()
    })
    this.#ends.add(end)
    return {
      async next() {
        while (waiting.length === 0 && !done)
          await new Promise<void>(resolve => wakes.push(resolve))
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
