// The conversations of a store that are in use, and some that were lately: opening one costs about as much as an append.
import type { Conversation } from '../conversation.js'
import { UndertextError } from '../error.js'
import type { Store } from '../store.js'
import { Turns } from './turns.js'

interface Entry {
  make: 'if_missing' | 'never'
  conversation: Promise<Conversation>
  turns: Turns
  users: number
}

export function isNotFound(thrown: unknown): boolean {
  return thrown instanceof UndertextError && thrown.code === 'not_found'
}

export class Pool {
  readonly #store: Store
  readonly #idleMax: number
  // The one that was used last is last.
  readonly #entries = new Map<string, Entry>()

  constructor(store: Store, idleMax = 32) {
    this.#store = store
    this.#idleMax = idleMax
  }

  /** `work` with a conversation that stays open until it is done; it is made where there is none. */
  use<T>(id: string, work: (conversation: Conversation) => Promise<T>): Promise<T> {
    return this.#run(id, 'if_missing', work)
  }

  /** The same for work that reads and then changes what it expects to be unchanged: see Turns. */
  change<T>(id: string, work: (conversation: Conversation) => Promise<T>): Promise<T> {
    return this.#run(id, 'if_missing', (conversation, { turns }) => turns.run(() => work(conversation)))
  }

  /** Undefined where there is none. */
  async useIfThere<T>(id: string, work: (conversation: Conversation) => Promise<T>): Promise<T | undefined> {
    try {
      return await this.#run(id, 'never', work)
    } catch (thrown) {
      if (!isNotFound(thrown)) throw thrown
      return undefined
    }
  }

  async #run<T>(id: string, make: Entry['make'], work: (conversation: Conversation, entry: Entry) => Promise<T>): Promise<T> {
    const entry = this.#entries.get(id) ?? { make, conversation: this.#store.open(id, undefined, { make }), turns: new Turns(), users: 0 }
    this.#entries.delete(id)
    this.#entries.set(id, entry)
    ++entry.users
    try {
      return await work(await entry.conversation, entry)
    } catch (thrown) {
      // It may have been purged by somebody else.
      if (isNotFound(thrown) && this.#entries.get(id) === entry) this.#entries.delete(id)
      // Whoever asked first wanted none to be made.
      if (isNotFound(thrown) && make === 'if_missing' && entry.make === 'never') return await this.#run(id, make, work)
      throw thrown
    } finally {
      --entry.users
      await this.#closeIdle(entry, id)
    }
  }

  async #closeIdle(left: Entry, id: string): Promise<void> {
    const closing: Entry[] = left.users === 0 && this.#entries.get(id) !== left ? [left] : []
    for (const [name, entry] of this.#entries) {
      if (this.#entries.size <= this.#idleMax) break
      if (entry.users > 0) continue
      this.#entries.delete(name)
      closing.push(entry)
    }
    await Promise.all(closing.map(closeEntry))
  }

  /** Closes a conversation as soon as nobody uses it. */
  async forget(id: string): Promise<void> {
    const entry = this.#entries.get(id)
    this.#entries.delete(id)
    if (entry?.users === 0) await closeEntry(entry)
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    await Promise.all(entries.map(closeEntry))
  }
}

// One that could not be opened has told so already.
async function closeEntry(entry: Entry): Promise<void> {
  const conversation = await entry.conversation.catch(() => undefined)
  await conversation?.close()
}
