// How processes and threads end: by themselves, cleanly, with whatever is open.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { open } from 'undertext'
import { temporaryStore } from './temporary.js'

const program = fileURLToPath(new URL('program.js', import.meta.url))
async function run(what: string, url = 'memory:'): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, what, url], {
    timeout: 60_000,
  })
  assert.equal(stderr, '')
  return stdout.trim()
}

test('a process with listeners ends by itself', async () => {
  await run('listens')
})

test('a process does what was asked for before it ends', async t => {
  const url = temporaryStore(t)
  await run('leaves work behind', url)
  await using conversation = await open(url)
  assert.equal((await conversation.stats()).totalMessages, 20)
})

test('a process may exit while work is under way', async t => {
  await run('exits at once', temporaryStore(t))
  await run('waits for code that never answers')
})

test('every worker has the package to itself, and one store serves them all', async t => {
  assert.equal(await run('has workers', temporaryStore(t)), '44')
})

test('a worker may be ended at any time', async t => {
  await run('ends workers', temporaryStore(t))
})
