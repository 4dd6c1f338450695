// Random values of JSON, with the keys and texts that tend to break things.
import fc from 'fast-check'

export type Item = Record<string, unknown>

export const text = fc.oneof(
  fc.string({ unit: 'binary' }).map(made => made.toWellFormed()),
  fc.constantFrom('', ' ', '\u0000', '😀', '{"lc":1}', '\\ud83d'),
)

const key = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom('__proto__', 'constructor', 'foreign', 'content', 'lc', '0', ''),
)

const numbers = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(made => (Object.is(made, -0) ? 0 : made)),
  fc.constant(9007199254740991),
)

export const json = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    text,
    numbers,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(key, tie('value')), { maxLength: 4 })
    .map(entries => Object.fromEntries(entries)),
}))

export const anyObject = json.object as fc.Arbitrary<Item>
export const anyValue = json.value

/** Members of which each may be missing. */
export function some(members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Item> {
  return fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<Item>
}

// The seed of a run that failed is printed by fast-check; SEED plays it again.
export const runs = {
  numRuns: Number(process.env['RUNS'] ?? 200),
  ...(process.env['SEED'] ? { seed: Number(process.env['SEED']) } : {}),
}
