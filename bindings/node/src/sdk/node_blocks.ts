// A node's configuration may have several blocks: each is an operation, and all of them are one step.

const blockOrder = ['clear', 'filter', 'truncate', 'replace', 'insert'] as const

/**
 * The operations of a configuration, in the order in which they are applied: what hides comes first, what adds last, so that places mean what is left. Anything else
 * is one operation.
 */
export function nodeOperations<T extends object>(operation: T): object[] {
  const { operation: named, ...rest } = operation as { operation?: unknown } & Record<
    string,
    unknown
  >
  if (!blockOrder.some(block => block === named)) return [operation]
  const present = blockOrder.filter(block => block === named || rest[block] !== undefined)
  if (present.length === 1) return [operation]
  const besides = Object.entries(rest).filter(([name]) => !blockOrder.some(block => block === name))
  return present.map((block, place) => ({
    operation: block,
    ...(rest[block] !== undefined && { [block]: rest[block] }),
    ...(place === 0 && Object.fromEntries(besides)),
  }))
}
