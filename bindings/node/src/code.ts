// Strategies and summarisers in JavaScript, as the addon calls them.
import { encode } from './encode.js'
import { mustBeObject, noting, UndertextError } from './error.js'
import type { NativeCancel, NativeCode, NativeSummary } from './native.js'
import type { DataSettings, EndpointSettings, Message } from './types.js'
import { View } from './view.js'

/** What a strategy proposes: messages to hide, each lot with a message to put in its place, or none. With one, the messages of the lot stand together. */
export interface Plan {
  replacements: { hide: number[]; summary?: Message }[]
  reason?: string
}

export interface Aim {
  /** How many tokens may be left; undefined where there is no such aim. */
  tokensMax: number | undefined
  /** Aborted when the call is cancelled. For slow callbacks only. */
  signal: AbortSignal
}

/**
 * Proposes what to hide in `view`, which can be read until the answer is there; nothing or undefined: nothing to do. A plan that hides a system or pinned message, or
 * breaks a tool pair, is refused as a whole.
 */
export type PlanFunction = (view: View, aim: Aim) => Plan | undefined | Promise<Plan | undefined>

export interface Summary {
  text: string
  model?: string
  promptTokens?: number
  completionTokens?: number
}

/** Writes a text of at most `tokensMax` tokens that can stand for `messages`. */
export type SummariseFunction = (
  messages: Message[],
  aim: Aim & { tokensMax: number },
) => string | Summary | Promise<string | Summary>

/**
 * Quick code answers at once, while the change that set it off waits for it. Slow code may answer with a promise; the conversation goes on meanwhile. It cannot be part of a
 * list of operations, nor of `fit`. By default a strategy is quick and a summariser slow.
 */
export type Strategy = PlanFunction | { plan: PlanFunction; slow?: boolean }
export type Summariser = SummariseFunction | { summarise: SummariseFunction; slow?: boolean }

/** Settings of a conversation. In a store what is data is kept; code must be given again whenever it is opened. */
export interface Settings extends DataSettings {
  summarisers?: Record<string, Summariser | EndpointSettings>
  strategies?: Record<string, Strategy>
}

/** Makes of a message the one that takes its place, at once. Numbers are those of JSON.parse. */
export type Change = (message: Message) => Message

function mustBeFunction(value: unknown, field: string): void {
  if (typeof value !== 'function')
    throw new UndertextError('invalid_argument', `${field} must be a function`, { field })
}

/** As the addon calls it. */
export function changeCall(change: Change): (message: string) => string {
  mustBeFunction(change, 'change')
  return message => encode(noting(() => change(JSON.parse(message) as Message)))
}

export interface ReadSettings {
  config: string | undefined
  code: NativeCode[] | undefined
}

// How often slow code is told that it need not go on.
const pollMs = 50

/** Runs code with a signal that is aborted once the engine says so. */
function withSignal<T>(
  cancel: NativeCancel,
  slow: boolean,
  run: (signal: AbortSignal) => T | Promise<T>,
): T | Promise<T> {
  const controller = new AbortController()
  const result = noting(() => run(controller.signal))
  if (!slow || !(result instanceof Promise)) return result
  const timer = setInterval(() => {
    if (cancel.isCancelled())
      controller.abort(new UndertextError('unavailable', 'the caller cancelled it'))
  }, pollMs)
  timer.unref()
  return result.finally(() => clearInterval(timer))
}

function then<T, U>(value: T | Promise<T>, next: (value: T) => U): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

function planText(plan: Plan | undefined): string | undefined {
  return plan === undefined ? undefined : encode(plan)
}

function summaryParts(summary: string | Summary): NativeSummary {
  if (typeof summary === 'string') return [summary, '', 0, 0]
  if (typeof summary?.text !== 'string')
    throw new UndertextError(
      'invalid_argument',
      'a summariser answers with a text, or an object that has one',
      { field: 'text' },
    )
  return [
    summary.text,
    summary.model ?? '',
    summary.promptTokens ?? 0,
    summary.completionTokens ?? 0,
  ]
}

function strategyCode(name: string, strategy: Strategy): NativeCode {
  const { plan, slow = false } =
    typeof strategy === 'function' ? { plan: strategy } : (strategy ?? {})
  mustBeFunction(plan, name)
  return {
    kind: 'strategy',
    name,
    slow,
    call: (view, tokensMax, cancel) =>
      then(
        withSignal(cancel, slow, signal => plan(new View(view), { tokensMax, signal })),
        planText,
      ),
  }
}

function summariserCode(name: string, summariser: Summariser): NativeCode {
  const { summarise, slow = true } =
    typeof summariser === 'function' ? { summarise: summariser } : summariser
  mustBeFunction(summarise, name)
  return {
    kind: 'summariser',
    name,
    slow,
    call: (messages, tokensMax, cancel) =>
      then(
        withSignal(cancel, slow, signal =>
          summarise(JSON.parse(messages) as Message[], { tokensMax, signal }),
        ),
        summaryParts,
      ),
  }
}

function isCode(summariser: Summariser | EndpointSettings): summariser is Summariser {
  return (
    typeof summariser === 'function' ||
    (typeof summariser === 'object' && summariser !== null && 'summarise' in summariser)
  )
}

/** Settings as the addon takes them: what is data, and what is code. */
export function readSettings(settings: Settings | undefined): ReadSettings {
  if (settings === undefined) return { config: undefined, code: undefined }
  mustBeObject(settings, 'settings')
  const { strategies = {}, summarisers = {}, ...data } = settings
  mustBeObject(strategies, 'strategies')
  mustBeObject(summarisers, 'summarisers')
  const code: NativeCode[] = []
  const endpoints: Record<string, EndpointSettings> = {}
  for (const [name, strategy] of Object.entries(strategies)) code.push(strategyCode(name, strategy))
  for (const [name, summariser] of Object.entries(summarisers)) {
    if (isCode(summariser)) code.push(summariserCode(name, summariser))
    else endpoints[name] = summariser
  }
  const config: Record<string, unknown> = { ...data }
  if (Object.keys(endpoints).length > 0) config['summarisers'] = endpoints
  const bare = Object.keys(config).every(key => config[key] === undefined)
  return { config: bare ? undefined : encode(config), code: code.length > 0 ? code : undefined }
}
