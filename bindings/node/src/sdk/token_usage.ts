// What providers report of requests, kept by the engine beside what it counts itself, and stored with a stored conversation.

import type { InspectOptions } from 'node:util'
import { custom, shown } from '../inspect.js'
import type { Mode, Reply } from '../requests.js'
import type { Usage } from '../types.js'
import { type Engine, engineOf } from './engine.js'
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

export interface TokenUsageStatistics extends TokenUsageStats {
  requests: number
  averagePromptTokens: number
  averageCompletionTokens: number
  maxPromptTokens: number
  maxCompletionTokens: number
  byModel: Record<string, TokenUsageStats>
}

function statsOf({
  prompt,
  completion,
  total,
}: {
  prompt: number
  completion: number
  total: number
}): TokenUsageStats {
  return { promptTokens: prompt, completionTokens: completion, totalTokens: total }
}

/** One request is under way at a time: from the first `update` to `finish`. */
export class TokenUsageTracker<M extends Mode = 'now'> {
  readonly #engine: Engine<M>

  /** @internal `ConversationManager.getTokenUsageTracker()` gives one. */
  constructor(engine: Engine<M>) {
    this.#engine = engineOf(engine, 'TokenUsageTracker', 'getTokenUsageTracker')
  }

  /** What console.log() shows. */
  [custom](_depth: number, options: InspectOptions): string {
    return shown('TokenUsageTracker', () => ({ conversation: this.#engine.conversation }), options)
  }

  /** What is known of the request under way; takes the place of what was reported of it before. */
  update(usage: LLMUsage): Reply<M, void> {
    const given: unknown = typeof usage === 'object' && usage !== null ? { ...usage } : usage
    return this.#engine.inOrder(() => {
      if (typeof given !== 'object' || given === null)
        throw new ValidationError('must be an object', 'usage')
      const { promptTokens, completionTokens, totalTokens, model } = given as LLMUsage
      const { open, totals } = this.#engine.usage()
      const requestId = open.at(-1)?.requestId ?? `request-${totals.requests + 1}`
      return this.#engine.reportUsage({
        requestId,
        prompt: promptTokens,
        completion: completionTokens,
        total: totalTokens,
        model,
        final: false,
      })
    })
  }

  /** The request under way is over. Nothing to do where there is none. */
  finish(): Reply<M, void> {
    return this.#engine.inOrder(() => {
      const current = this.#engine.usage().open.at(-1)
      return current === undefined
        ? this.#engine.nothing()
        : this.#engine.reportUsage({ ...current, final: true })
    })
  }

  /** Forgets all that was reported. */
  reset(): Reply<M, void> {
    return this.#engine.inOrder(() => this.#engine.setUsage({}))
  }

  /** All that was reported becomes what `getState()` gave, of this conversation or another. */
  restore(state: Usage): Reply<M, void> {
    return this.#engine.chain(this.#engine.given(state), copy =>
      this.#engine.inOrder(() => this.#engine.setUsage(copy)),
    )
  }

  /** All that was reported, as plain JSON. */
  getState(): Reply<M, Usage> {
    return this.#read(usage => usage)
  }

  /** Of all requests, that under way included; null: there was none. */
  getTotals(): Reply<M, TokenUsageStats | null> {
    return this.#read(({ totals }) => (totals.requests === 0 ? null : statsOf(totals)))
  }

  /** Of the same requests. */
  getStatistics(): Reply<M, TokenUsageStatistics> {
    return this.#read(({ totals, statistics, models }) => ({
      requests: totals.requests,
      ...statsOf(totals),
      averagePromptTokens: statistics.promptMean,
      averageCompletionTokens: statistics.completionMean,
      maxPromptTokens: statistics.promptMax,
      maxCompletionTokens: statistics.completionMax,
      byModel: Object.fromEntries(models.map(each => [each.model, statsOf(each.totals)])),
    }))
  }

  /** null: none is under way. */
  getCurrentRequest(): Reply<M, TokenUsageStats | null> {
    return this.#read(({ open }) => {
      const current = open.at(-1)
      return current === undefined ? null : statsOf(current)
    })
  }

  /** Of the requests that are over, the oldest first: the last 100. */
  getHistory(): Reply<M, TokenUsageStats[]> {
    return this.#read(({ recent }) => recent.map(statsOf))
  }

  #read<T>(read: (usage: Usage) => T): Reply<M, T> {
    return this.#engine.inOrder(() => this.#engine.reply(read(this.#engine.usage())))
  }
}
