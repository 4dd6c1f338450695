// Code that comes with a call of compress(). The engine knows only the code that a conversation was made with: functions that hand on to what a call brought.

import type { PlanFunction, Settings, SummariseFunction } from '../code.js'
import { UndertextError } from '../error.js'
import { ValidationError } from './errors.js'

export interface Code {
  plan?: PlanFunction
  summarise?: SummariseFunction
}

// No more calls than this are under way at a time, those of forks included.
const placesMax = 8
const names = [...Array(placesMax)].map((_, place) => `given ${place}`)

/** Of a conversation and its forks. */
export class GivenCode {
  readonly #codes: (Code | undefined)[] = names.map(() => undefined)

  /** `settings` with functions for the code of calls. */
  addedTo({ strategies, summarisers, ...settings }: Settings): Settings {
    for (const name of [...Object.keys(strategies ?? {}), ...Object.keys(summarisers ?? {})]) {
      if (names.includes(name))
        throw new ValidationError(`${name} is a name of this package's own; choose another`, 'name')
    }
    const added: Required<Pick<Settings, 'strategies' | 'summarisers'>> = {
      strategies: { ...strategies },
      summarisers: { ...summarisers },
    }
    for (const [place, name] of names.entries()) {
      added.strategies[name] = {
        slow: true,
        plan: (view, aim) => this.#codes[place]?.plan?.(view, aim),
      }
      added.summarisers[name] = (messages, aim) =>
        this.#codes[place]?.summarise?.(messages, aim) ?? ''
    }
    return { ...settings, ...added }
  }

  /** Runs `compress` with the name by which the engine knows `code` meanwhile. */
  async run<T>(code: Code, compress: (name: string) => Promise<T>): Promise<T> {
    const place = this.#codes.indexOf(undefined)
    if (place < 0)
      throw new UndertextError(
        'unavailable',
        `${placesMax} compressions with code of their own are under way already`,
      )
    this.#codes[place] = code
    try {
      return await compress(names[place]!)
    } finally {
      this.#codes[place] = undefined
    }
  }
}
