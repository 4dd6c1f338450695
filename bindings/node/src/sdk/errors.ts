import { UndertextError, type ErrorDetails } from '../error.js'

/** The documents' name for `invalid_argument`: the call must be fixed; `field` says where. Every other failure is an UndertextError with its `code`. */
export class ValidationError extends UndertextError {
  override readonly name = 'ValidationError'

  constructor(message: string, field?: string, details: ErrorDetails = {}, cause?: unknown) {
    super('invalid_argument', message, { ...details, ...(field !== undefined && { field }) }, cause)
  }
}

/** What the engine refused, by the documents' name. */
export function asDocumented(thrown: unknown): unknown {
  if (
    !(thrown instanceof UndertextError) ||
    thrown instanceof ValidationError ||
    thrown.code !== 'invalid_argument'
  )
    return thrown
  return new ValidationError(thrown.message, thrown.field, thrown, thrown.cause)
}
