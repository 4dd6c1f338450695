// What providers report of requests, kept by the engine beside what it counts itself. In memory only.

import type { Mode, Reply } from '../requests.js'
import type { Engine } from './engine.js'
import { ValidationError } from './errors.js'

export interface LLMUsage {
  /** Of the whole input. */
  promptTokens: number
  completionTokens: number
  /** Default: both together. */
  totalTokens?: number
  model?: string
}

export interface TokenUsageStats {
  promptTokens: number
  completionTokens: number
  totalTokens: number
}

function statsOf({ prompt, completion, total }: { prompt: number; completion: number; total: number }): TokenUsageStats {
  return { promptTokens: prompt, completionTokens: completion, totalTokens: total }
}

/** One request is under way at a time: from the first `update` to `finish`. */
export class TokenUsageTracker<M extends Mode = 'now'> {
  readonly #engine: Engine<M>

  /** @internal `ConversationManager.getTokenUsageTracker()` gives one. */
  constructor(engine: Engine<M>) {
    this.#engine = engine
  }

  /** What is known of the request under way; takes the place of what was reported of it before. */
  update(usage: LLMUsage): Reply<M, void> {
    return this.#engine.done(() => {
      if (typeof usage !== 'object' || usage === null) throw new ValidationError('must be an object', 'usage')
      const { promptTokens, completionTokens, totalTokens, model } = usage
      const { open, totals } = this.#engine.usage()
      const requestId = open.at(-1)?.requestId ?? `request-${totals.requests + 1}`
      this.#engine.reportUsage({ requestId, prompt: promptTokens, completion: completionTokens, total: totalTokens, model, final: false })
    })
  }

  /** The request under way is over. Nothing to do where there is none. */
  finish(): Reply<M, void> {
    return this.#engine.done(() => {
      const current = this.#engine.usage().open.at(-1)
      if (current !== undefined) this.#engine.reportUsage({ ...current, final: true })
    })
  }

  /** Of all requests, that under way included; null: there was none. */
  getTotals(): Reply<M, TokenUsageStats | null> {
    return this.#engine.done(() => {
      const { totals } = this.#engine.usage()
      return totals.requests === 0 ? null : statsOf(totals)
    })
  }

  /** null: none is under way. */
  getCurrentRequest(): Reply<M, TokenUsageStats | null> {
    return this.#engine.done(() => {
      const current = this.#engine.usage().open.at(-1)
      return current === undefined ? null : statsOf(current)
    })
  }

  /** Of the requests that are over, the oldest first; the engine keeps the last 1000. */
  getHistory(): Reply<M, TokenUsageStats[]> {
    return this.#engine.done(() => this.#engine.usage().recent.map(statsOf))
  }
}
