// Compression as document 004 has it: a strategy takes messages and their mark map, and answers with fewer. What it answers is only a proposal: the engine
// refuses one that hides a system or pinned message or breaks a tool pair, and applies any other as one COMPRESS that can be undone.

import type { InspectOptions } from 'node:util'
import type { PlanFunction, Settings, SummariseFunction } from '../code.js'
import { custom, shown } from '../inspect.js'
import type { StrategyChoice } from '../types.js'
import { markMapOf, messagesOf, newEngine } from './engine.js'
import { ValidationError } from './errors.js'
import type { Code } from './given.js'
import type { MessageMarkMap } from './mark_map.js'
import type { LLMMessage } from './message.js'
import { planOf } from './plan.js'

/** The name by which the settings know a strategy or summariser of the user's. */
const ownName = 'own'

type SettingsSummariser = NonNullable<Settings['summarisers']>[string]

export interface ContextCompressionConfig {
  enabled: boolean
  /** In tokens: above it the strategy runs. */
  threshold: number
  /** In tokens. */
  targetTokens: number
}

export interface Compressed {
  messages: LLMMessage[]
  markMap: MessageMarkMap
}

export interface CompressionStrategy {
  /**
   * `messages[i]` is the message with the ordinal `markMap.originalIndices[i]`, and so in the answer: what is missing there is hidden. A message of its own, such as a
   * summary, stands where something is hidden, with any index that is not in the given map. An answer whose two lists differ in length is read by its messages: those that
   * are the very objects it was given stay.
   */
  compress(
    messages: LLMMessage[],
    markMap: MessageMarkMap,
    config: ContextCompressionConfig,
  ): Promise<Compressed>
}

/** The configuration of a conversation. */
export interface ConversationCompressionConfig
  extends Omit<ContextCompressionConfig, 'targetTokens'> {
  /** In tokens. Default: the engine's, three quarters of `threshold`. */
  targetTokens?: number
  /** One of this package's, a custom one, or one of the engine's by its name or with its arguments. Default: the engine's, `default`. */
  strategy?: CompressionStrategy | StrategyChoice
}

/** Writes a text of at most `tokensMax` tokens that can stand for the messages. */
export type Summariser = (messages: LLMMessage[], tokensMax: number) => string | Promise<string>

/** A strategy as the settings of the engine have it, and the functions that it names there. */
export interface EngineChoice extends Pick<Settings, 'strategies' | 'summarisers'> {
  strategy: StrategyChoice
}

/** A strategy of the engine: docs/compression.md says what each keeps. */
export abstract class EngineStrategy implements CompressionStrategy {
  /** @internal */
  readonly choice: EngineChoice

  protected constructor(choice: EngineChoice) {
    this.choice = choice
  }

  /** What console.log() shows. */
  [custom](_depth: number, options: InspectOptions): string {
    return shown(this.constructor.name, () => ({ strategy: this.choice.strategy }), options)
  }

  /** On a separate conversation. `cannot_fit`: `targetTokens` cannot be reached. */
  async compress(
    messages: LLMMessage[],
    markMap: MessageMarkMap,
    config: ContextCompressionConfig,
  ): Promise<Compressed> {
    if (messages.length !== markMap.originalIndices.length)
      throw new ValidationError('messages and originalIndices must be equally many', 'markMap')
    if (!config.enabled || messages.length === 0) return { messages, markMap }
    const { strategy, ...code } = this.choice
    const engine = newEngine(code)
    try {
      engine.apply({ operation: 'APPEND', messages }, () => undefined)
      await engine.compress({ strategy, targetTokens: config.targetTokens }, true)
      return {
        messages: engine.ask({ query: 'messages' }, messagesOf),
        markMap: markMapOf(engine, own => inOrdinalsOf(markMap, own)),
      }
    } finally {
      await engine.close()
    }
  }
}

/** `own`, of a conversation made of the view of `given` alone, in the ordinals of `given`. What is new comes after all that `given` knows. */
function inOrdinalsOf(given: MessageMarkMap, own: Required<MessageMarkMap>): MessageMarkMap {
  if (own.currentBatch === 0) return given
  const known = given.originalIndices.length
  const next = [...given.originalIndices.map(index => index + 1), ...given.batchBoundaries].reduce(
    (most, one) => Math.max(most, one),
    0,
  )
  const translated = (indices: number[]) =>
    indices.map(index => given.originalIndices[index] ?? next + index - known)
  const { system, user, assistant, tool } = own.typeIndices
  return {
    originalIndices: translated(own.originalIndices),
    typeIndices: {
      system: translated(system),
      user: translated(user),
      assistant: translated(assistant),
      tool: translated(tool),
    },
    batchBoundaries: [...given.batchBoundaries, next],
    boundaryToBatch: [...given.boundaryToBatch, given.currentBatch + 1],
    currentBatch: given.currentBatch + 1,
  }
}

/** Proposes nothing. */
export class NoOpCompressionStrategy extends EngineStrategy {
  constructor() {
    super({ strategy: { name: 'none' } })
  }
}

/** Hides all but the last `n`; more stay where `n` would split what belongs together. */
export class KeepRecentStrategy extends EngineStrategy {
  constructor(n: number = 10) {
    super({ strategy: { name: 'keep_recent', n } })
  }
}

/** The same, not counting system messages. */
export class KeepSystemAndRecentStrategy extends EngineStrategy {
  constructor(n: number = 10) {
    super({ strategy: { name: 'keep_system_and_recent', n } })
  }
}

/** Hides all but the largest tail that fits. */
export class SlidingWindowStrategy extends EngineStrategy {
  constructor() {
    super({ strategy: { name: 'sliding_window' } })
  }
}

export interface ClearToolResultsOptions {
  /** The newest that stay as they are; default: 3. */
  keep?: number
  /** Names of tools whose results stay. */
  exclude?: string[]
  /** In tokens: less is not worth it. */
  minGain?: number
}

/** A stub in place of every older result of a tool. */
export class ClearToolResultsStrategy extends EngineStrategy {
  constructor(options: ClearToolResultsOptions = {}) {
    super({ strategy: { name: 'clear_tool_results', ...options } })
  }
}

export interface SmartSummaryOptions {
  /** Messages at the end that stay; default: as many as fit. */
  keep?: number
  /** The most a summary may have; default: 1024. */
  summaryTokens?: number
  /** Default: the digest, which needs no model. */
  summariser?: Summariser
  /** By which the settings know the summariser; two of one pipeline have two names. Default: `own`. */
  summariserName?: string
}

/** Hides all but a tail, and puts a summary in its place. */
export class SmartSummaryStrategy extends EngineStrategy {
  constructor({ summariser, summariserName = ownName, ...options }: SmartSummaryOptions = {}) {
    super({
      strategy: {
        name: 'smart_summary',
        ...options,
        ...(summariser && { summariser: summariserName }),
      },
      summarisers: summariser && {
        [summariserName]: (messages, { tokensMax }) =>
          summariser(messages as LLMMessage[], tokensMax),
      },
    })
  }
}

/** One after another until the aim is reached. */
export class PipelineStrategy extends EngineStrategy {
  constructor(steps: readonly EngineStrategy[]) {
    if (!Array.isArray(steps) || !steps.every(step => step instanceof EngineStrategy))
      throw new ValidationError('steps are strategies of this package', 'steps')
    const summarisers = new Map<string, SettingsSummariser>()
    for (const [name, summariser] of steps.flatMap(step =>
      Object.entries(step.choice.summarisers ?? {}),
    )) {
      if (summarisers.has(name) && summarisers.get(name) !== summariser)
        throw new ValidationError(`two summarisers are called ${name}`, 'summariserName')
      summarisers.set(name, summariser)
    }
    super({
      strategy: {
        name: 'pipeline',
        steps: steps.map(({ choice: { strategy } }) =>
          typeof strategy === 'string' ? { name: strategy } : strategy,
        ),
      },
      ...(summarisers.size > 0 && { summarisers: Object.fromEntries(summarisers) }),
    })
  }
}

function isOwn(
  strategy: CompressionStrategy | Exclude<StrategyChoice, string>,
): strategy is CompressionStrategy {
  if (typeof (strategy as Partial<CompressionStrategy> | null)?.compress === 'function') return true
  if (typeof (strategy as { name?: unknown } | null)?.name === 'string') return false
  throw new ValidationError(
    'a strategy has a method compress, or the name of one of the engine’s',
    'strategy',
  )
}

/** Code of the user's is told the target that the engine has; infinity: there is none. */
function planning(
  strategy: CompressionStrategy,
  config: Omit<ContextCompressionConfig, 'targetTokens'>,
): PlanFunction {
  return (view, { tokensMax = Infinity }) =>
    planOf(strategy, { ...config, targetTokens: tokensMax }, view)
}

/** What the engine is told of the strategy of a configuration. */
export function engineChoice({
  strategy = 'default',
  ...config
}: ConversationCompressionConfig): EngineChoice {
  if (typeof strategy === 'string') return { strategy }
  if (strategy instanceof EngineStrategy) return strategy.choice
  if (!isOwn(strategy)) return { strategy }
  return {
    strategy: ownName,
    strategies: { [ownName]: { slow: true, plan: planning(strategy, config) } },
  }
}

/** A strategy that comes with a call: what the engine is told of it, given the name by which the engine knows its code. No `code`: it needs none. */
export interface GivenChoice {
  strategy: (name: string) => StrategyChoice
  code?: Code
}

export function givenChoice(
  strategy: CompressionStrategy | StrategyChoice,
  config: Omit<ContextCompressionConfig, 'targetTokens'>,
): GivenChoice {
  const choice = engineChoice({ ...config, strategy })
  if (choice.strategies !== undefined)
    return {
      strategy: name => name,
      code: { plan: planning(strategy as CompressionStrategy, config) },
    }
  const [summariser, another] = Object.entries(choice.summarisers ?? {})
  if (summariser === undefined) return { strategy: () => choice.strategy }
  if (another !== undefined)
    throw new ValidationError(
      'a strategy with two summarisers of yours must be that of the compressionConfig',
      'strategy',
    )
  return {
    strategy: name => renamed(choice.strategy, summariser[0], name),
    code: { summarise: summariser[1] as SummariseFunction },
  }
}

function renamed(strategy: StrategyChoice, from: string, to: string): StrategyChoice {
  if (typeof strategy === 'string') return strategy
  const { steps, summariser, fallbacks, ...rest } = strategy as {
    name: string
    steps?: readonly StrategyChoice[]
    summariser?: string
    fallbacks?: readonly string[]
  }
  const other = (name: string) => (name === from ? to : name)
  return {
    ...rest,
    ...(summariser !== undefined && { summariser: other(summariser) }),
    ...(fallbacks && { fallbacks: fallbacks.map(other) }),
    ...(steps && { steps: steps.map(step => renamed(step, from, to)) }),
  }
}
