// What console.log() and the REPL show of the objects of this package.
import { inspect, type InspectOptions } from 'node:util'

/** The name of the method by which Node asks. */
export const custom: typeof inspect.custom = inspect.custom

/** `Conversation { id: 'support-17', version: 7, … }`; of one that is closed, what is known without reading. */
export function shown(
  name: string,
  read: () => object,
  options: InspectOptions,
  known: object = {},
): string {
  try {
    return `${name} ${inspect({ ...known, ...read() }, options)}`
  } catch {
    return `${name} ${inspect({ ...known, closed: true }, options)}`
  }
}
