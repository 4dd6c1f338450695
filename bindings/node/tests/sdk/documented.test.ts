import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as sdk from 'undertext/sdk'

const page = readFileSync(new URL('../../../../../docs/sdk.md', import.meta.url), 'utf8')
const documented = new Set(page.match(/[A-Za-z]+/g))

function methodsOf(made: { prototype?: object }): string[] {
  return made.prototype === undefined
    ? []
    : Object.getOwnPropertyNames(made.prototype).filter(name => name !== 'constructor')
}

test('docs/sdk.md names every class and function of the package, and every method', () => {
  const names = Object.entries(sdk as unknown as Record<string, { prototype?: object }>).flatMap(
    ([name, made]) => [name, ...methodsOf(made)],
  )
  // What the rest is written in terms of.
  const inner = new Set(['AnyConversationManager', 'EngineStrategy', 'TokenUsageTracker'])
  const inTheTracker = new Set(methodsOf(sdk.TokenUsageTracker))
  assert.ok(names.length > 60)
  assert.deepEqual(
    names.filter(name => !documented.has(name) && !inner.has(name) && !inTheTracker.has(name)),
    [],
  )
})
