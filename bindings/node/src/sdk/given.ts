// Code that comes with a call of compress(). The engine knows only the code that a conversation was made with: two functions that hand on to what the call brought.

import type { PlanFunction, Settings, SummariseFunction } from '../code.js'

/** The name of both in the settings. */
export const givenName = 'given'

export interface Code {
  plan?: PlanFunction
  summarise?: SummariseFunction
}

export class GivenCode {
  #code: Code = {}
  #last: Promise<void> | undefined

  /** `settings` with the two functions. */
  addedTo({ strategies, summarisers, ...settings }: Settings): Settings {
    return {
      ...settings,
      strategies: { ...strategies, [givenName]: { slow: true, plan: (view, aim) => this.#code.plan?.(view, aim) } },
      summarisers: { ...summarisers, [givenName]: (messages, aim) => this.#code.summarise?.(messages, aim) ?? '' },
    }
  }

  /** Runs `compress` with `code` behind the name. One at a time, in the order of the calls. */
  run<T>(code: Code, compress: () => Promise<T>): Promise<T> {
    const begin = (): Promise<T> => {
      this.#code = code
      return compress()
    }
    const running = this.#last === undefined ? begin() : this.#last.then(begin)
    const last: Promise<void> = running.then(
      () => this.#end(last),
      () => this.#end(last),
    )
    this.#last = last
    return running
  }

  #end(one: Promise<void>): void {
    if (this.#last !== one) return
    this.#last = undefined
    this.#code = {}
  }
}
