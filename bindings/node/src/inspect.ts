// What console.log() and the REPL show of the objects of this package.
import { inspect, type InspectOptions } from 'node:util'

/** The name of the method by which Node asks. */
export const custom: typeof inspect.custom = inspect.custom

/** `Conversation { id: 'support-17', version: 7, … }`; what cannot be read, as of one that is closed, is not there. */
export function shown(name: string, read: () => object, options: InspectOptions): string {
  try {
    return `${name} ${inspect(read(), options)}`
  } catch {
    return `${name} { closed: true }`
  }
}
