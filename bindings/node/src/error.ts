// Failures, with the codes of every other door.

import type { ErrorBody, ErrorCode as ProtocolCode } from './protocol.js'

export type ErrorCode = ProtocolCode | 'out_of_memory'

/** What the protocol says of an error, besides its code and its words. */
export type ErrorDetails = Omit<ErrorBody, 'code' | 'message'>

/** Every failure of this package. Whatever failed has changed nothing. */
export class UndertextError extends Error implements ErrorDetails {
  override readonly name: string = 'UndertextError'
  readonly code: ErrorCode
  declare readonly field?: string
  declare readonly path?: string
  declare readonly operationIndex?: number
  declare readonly byteOffset?: number
  declare readonly minimum?: number

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    for (const key of ['field', 'path', 'operationIndex', 'byteOffset', 'minimum'] as const) {
      if (details[key] !== undefined)
        Object.defineProperty(this, key, { value: details[key], enumerable: true })
    }
  }

  /** Of the error object of the protocol. */
  static of(error: { code: ErrorCode; message: string } & ErrorDetails): UndertextError {
    return new UndertextError(error.code, error.message, error, takeCause(error.message))
  }
}

// Errors of the caller's code, until the error of the call that failed for one of them takes it as its cause. Those of code
// that runs in the background are never taken, so there are only a few.
const thrownMax = 8
const thrown: Error[] = []

function takeCause(message: string): Error | undefined {
  const index = thrown.findLastIndex(
    error => error.message !== '' && message.includes(error.message),
  )
  return index < 0 ? undefined : thrown.splice(index, 1)[0]
}

function note(error: unknown): void {
  if (!(error instanceof Error)) return
  if (thrown.length === thrownMax) thrown.shift()
  thrown.push(error)
}

/** Runs code of the caller's. What it throws is the `cause` of the call that fails for it. */
export function noting<T>(run: () => T | Promise<T>): T | Promise<T> {
  try {
    const result = run()
    if (!(result instanceof Promise)) return result
    return result.catch((error: unknown) => {
      note(error)
      throw error
    })
  } catch (error) {
    note(error)
    throw error
  }
}

export function mustBeObject(value: unknown, field: string): void {
  if (typeof value !== 'object' || value === null)
    throw new UndertextError('invalid_argument', `${field} must be an object`, { field })
}

/** What the addon throws is an Error with the protocol's error object as its message. */
export function typed(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown instanceof UndertextError || !('code' in thrown))
    return thrown
  try {
    return UndertextError.of(JSON.parse(thrown.message) as { code: ErrorCode; message: string })
  } catch {
    return new UndertextError(thrown.code as ErrorCode, `${String(thrown.code)}`)
  }
}

/** Runs a call of the addon; its failures become UndertextErrors. */
export function guarded<T>(call: () => T): T {
  try {
    return call()
  } catch (thrown) {
    throw typed(thrown)
  }
}

/** The same of a promise of the addon. */
export async function later<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (thrown) {
    throw typed(thrown)
  }
}
