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
  isOpen: boolean
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

  /** Of its owner. */
  get store(): Store {
    return this.#store
  }

  /** `work` with a conversation that stays open until it is done; it is made where there is none. */
  use<T>(id: string, work: (conversation: Conversation) => Promise<T>): Promise<T> {
    return this.#run(id, 'if_missing', work)
  }

  /** The same for work that reads and then changes what it expects to be unchanged: see Turns. */
  change<T>(id: string, work: (conversation: Conversation) => Promise<T>): Promise<T> {
    return this.#run(id, 'if_missing', (conversation, { turns }) =>
      turns.run(() => work(conversation)),
    )
  }

  /** Undefined where there is none. Anything else that the work does not find, such as a pruned version, is an error. */
  async useIfThere<T>(
    id: string,
    work: (conversation: Conversation) => Promise<T>,
  ): Promise<T | undefined> {
    let isOpen = false
    try {
      return await this.#run(id, 'never', conversation => {
        isOpen = true
        return work(conversation)
      })
    } catch (thrown) {
      if (!isNotFound(thrown) || (isOpen && (await this.#isThere(id)))) throw thrown
      return undefined
    }
  }

  // One that was open may have been purged meanwhile, so it is opened again.
  async #isThere(id: string): Promise<boolean> {
    return (await this.useIfThere(id, async () => true)) ?? false
  }

  async #run<T>(
    id: string,
    make: Entry['make'],
    work: (conversation: Conversation, entry: Entry) => Promise<T>,
  ): Promise<T> {
    const entry = this.#entries.get(id) ?? {
      make,
      conversation: this.#store.open(id, undefined, { make }),
      turns: new Turns(),
      users: 0,
      isOpen: false,
    }
    this.#entries.delete(id)
    this.#entries.set(id, entry)
    ++entry.users
    try {
      return await work(await this.#opened(id, entry), entry)
    } catch (thrown) {
      // It may have been purged by somebody else.
      if (isNotFound(thrown)) this.#drop(id, entry)
      // Whoever asked first wanted none to be made.
      if (isNotFound(thrown) && make === 'if_missing' && entry.make === 'never' && !entry.isOpen)
        return await this.#run(id, make, work)
      throw thrown
    } finally {
      --entry.users
      await this.#closeIdle(entry, id)
    }
  }

  // What could not be opened now may be opened next time.
  async #opened(id: string, entry: Entry): Promise<Conversation> {
    try {
      const conversation = await entry.conversation
      entry.isOpen = true
      return conversation
    } catch (thrown) {
      this.#drop(id, entry)
      throw thrown
    }
  }

  #drop(id: string, entry: Entry): void {
    if (this.#entries.get(id) === entry) this.#entries.delete(id)
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
