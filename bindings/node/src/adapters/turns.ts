// Changes that first read: one after the other in this process, and again where another one was quicker.
import { setTimeout as wait } from 'node:timers/promises'
import { UndertextError } from '../error.js'

const attemptsMax = 50
const waitMaxMs = 50

async function whileOthersWrite<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; ++attempt) {
    try {
      return await work()
    } catch (thrown) {
      if (
        !(thrown instanceof UndertextError) ||
        thrown.code !== 'conflict' ||
        attempt === attemptsMax
      )
        throw thrown
    }
    // At random, so that those who met do not meet again.
    await wait(Math.random() * Math.min(2 ** attempt, waitMaxMs))
  }
}

/** Carries out work in the order in which it was asked for. Work that fails with `conflict` is done again, until it has failed for the fiftieth time. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(() => whileOthersWrite(work))
    this.#last = mine.catch(() => undefined)
    return mine
  }
}
