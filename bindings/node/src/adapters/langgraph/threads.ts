// The threads of a store: their conversations, and where things stand in them.
import type { Conversation } from '../../conversation.js'
import { UndertextError } from '../../error.js'
import type { Store } from '../../store.js'
import { isNotFound, type Pool } from '../pool.js'
import { isThreadName, prefix, threadName, threadPrefix } from './names.js'
import { Index, readCheckpoint } from './records.js'

export interface Thread {
  /** Of its conversation. */
  name: string
  conversation: Conversation
  index: Index
}

const who = 'undertext/langgraph'

export class Threads {
  readonly #store: Store
  readonly #pool: Pool
  readonly #indexes = new Map<string, Index>()
  readonly #indexesMax = 256
  // The least generation that may not be purged; those below are, and stay so.
  readonly #generations = new Map<string, number>()

  constructor(store: Store, pool: Pool) {
    this.#store = store
    this.#pool = pool
  }

  #index(name: string): Index {
    const index = this.#indexes.get(name) ?? new Index()
    this.#indexes.delete(name)
    this.#indexes.set(name, index)
    if (this.#indexes.size > this.#indexesMax)
      this.#indexes.delete(this.#indexes.keys().next().value!)
    return index
  }

  // Redactions are removals too, each of an ordinal; a purge is of the whole.
  async #isPurged(name: string): Promise<boolean> {
    try {
      return (await this.#store.removals(name)).some(({ ordinal }) => ordinal === undefined)
    } catch (thrown) {
      if (!isNotFound(thrown)) throw thrown
      return false
    }
  }

  async #work<T>(
    name: string,
    conversation: Conversation,
    work: (thread: Thread) => Promise<T>,
  ): Promise<T> {
    const index = this.#index(name)
    await index.refresh(conversation)
    return work({ name, conversation, index })
  }

  /** Undefined where there is no such thread. */
  async useIfThere<T>(
    thread: string,
    work: (thread: Thread) => Promise<T>,
  ): Promise<T | undefined> {
    for (;;) {
      const generation = this.#generations.get(thread) ?? 0
      const name = threadName(thread, generation)
      // Kept apart from an answer that is undefined.
      const answer = await this.#pool.useIfThere(name, async conversation => ({
        is: await this.#work(name, conversation, work),
      }))
      if (answer !== undefined) return answer.is
      if (!(await this.#isPurged(name))) return undefined
      this.#leave(thread, generation)
    }
  }

  /** The thread is made where there is none. */
  async use<T>(thread: string, work: (thread: Thread) => Promise<T>): Promise<T> {
    for (;;) {
      const generation = this.#generations.get(thread) ?? 0
      const name = threadName(thread, generation)
      try {
        return await this.#pool.use(name, conversation => this.#work(name, conversation, work))
      } catch (thrown) {
        if (!isNotFound(thrown) || !(await this.#isPurged(name))) throw thrown
        this.#leave(thread, generation)
      }
    }
  }

  #leave(thread: string, generation: number): void {
    this.#indexes.delete(threadName(thread, generation))
    this.#generations.set(thread, Math.max(this.#generations.get(thread) ?? 0, generation + 1))
  }

  async #names(start: string): Promise<string[]> {
    const limit = 1000
    const names: string[] = []
    for (let after = start; ; ) {
      const page = await this.#store.list({ after, limit })
      for (const { conversation } of page)
        if (conversation.startsWith(start)) names.push(conversation)
      const last = page.at(-1)?.conversation
      if (last === undefined || page.length < limit || !last.startsWith(start)) return names
      after = last
    }
  }

  /** The ids of all threads; a record has them as they were given. */
  async all(): Promise<string[]> {
    const ids: string[] = []
    for (const name of (await this.#names(prefix)).filter(isThreadName)) {
      const id = await this.#pool.useIfThere(name, conversation =>
        this.#work(name, conversation, firstId),
      )
      if (id !== undefined) ids.push(id)
    }
    return ids
  }

  /**
   * All that is there of it, whether or not it can be read. Its lists go first: a thread that is half deleted can be deleted again. `unavailable`: others hold some of its bytes.
   */
  async delete(thread: string): Promise<void> {
    const names = await this.#names(threadPrefix(thread))
    const [lists, records] = [names.filter(name => !isThreadName(name)), names.filter(isThreadName)]
    // One that is gone is purged again, which overwrites whatever bytes were in use when any of them was.
    const all = names.length > 0 ? [...lists, ...records] : [threadName(thread, 0)]
    let busy: unknown
    for (const name of all) busy = (await this.#purge(name)) ?? busy
    if (busy !== undefined) throw busy
  }

  // Why bytes of it are still there, if they are: the conversation is gone, and so shall be the rest.
  async #purge(name: string): Promise<unknown> {
    await this.#pool.forget(name)
    try {
      await this.#store.purge(name, who, 'deleteThread')
    } catch (thrown) {
      // There never was one of that name.
      if (isNotFound(thrown)) return undefined
      if (!isUnavailable(thrown) || !(await this.#isPurged(name))) throw thrown
      return thrown
    }
  }
}

function isUnavailable(thrown: unknown): boolean {
  return thrown instanceof UndertextError && thrown.code === 'unavailable'
}

async function firstId({ conversation, index }: Thread): Promise<string | undefined> {
  const [first] = index.checkpoints()
  return first && (await readCheckpoint(conversation, first.ordinal)).thread
}
