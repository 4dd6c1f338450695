import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'

// Messages have the shapes of the documents, whose parts and metadata are.
test('no type of the package is `any`, but in messages', () => {
  const folder = new URL('./', import.meta.resolve('undertext/sdk'))
  const files = readdirSync(folder).filter(
    name => name.endsWith('.d.ts') && name !== 'message.d.ts',
  )
  assert.ok(files.length > 10)
  for (const file of files) {
    const code = readFileSync(new URL(file, folder), 'utf8').replace(/\/\*[^]*?\*\/|\/\/.*/g, '')
    assert.doesNotMatch(code, /\bany\b/, file)
  }
})
