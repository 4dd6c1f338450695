// Memory that does not grow: leaks.js APPENDS OPENS. Prints the resident size on the way, and fails when it has grown beyond what is noise.
//   node --expose-gc dist/tests/leaks.js 1000000 10000
import { setImmediate as turn } from 'node:timers/promises'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inMemory, MemoryConversation, openStore } from 'undertext'

const [appends = 20_000, opens = 1_000] = process.argv.slice(2).map(Number)
const growthMax = 24 << 20
const message = {
  role: 'user',
  content: 'A message of ordinary length, as they are sent a thousand times a day.',
} as const

async function settle(): Promise<number> {
  for (let i = 0; i < 5; ++i) {
    globalThis.gc?.()
    await turn()
  }
  return process.memoryUsage().rss
}

// `round` is done ten times; after the first, nothing may grow.
async function isFlat(what: string, round: () => Promise<void>): Promise<void> {
  const sizes: number[] = []
  for (let i = 0; i < 10; ++i) {
    await round()
    sizes.push(await settle())
  }
  console.log(`${what}: ${sizes.map(size => `${(size / (1 << 20)).toFixed(1)}`).join(' ')} MiB`)
  const grown = Math.min(...sizes.slice(-3)) - Math.min(...sizes.slice(0, 3))
  if (grown > growthMax) {
    console.error(`${what}: grown by ${(grown / (1 << 20)).toFixed(1)} MiB`)
    process.exitCode = 1
  }
}

await isFlat(`${appends} appends at once, and as many by promises`, async () => {
  for (let done = 0; done < appends / 10; done += 1000) {
    const now = new MemoryConversation()
    const later = inMemory()
    now.on('*', () => undefined)
    for (let i = 0; i < 1000; ++i) {
      now.append(message)
      await later.append(message)
    }
    now.messages({ last: 100 })
    now.close()
    await later.close()
  }
})

await isFlat(`${opens} conversations in memory, opened and forgotten`, async () => {
  for (let i = 0; i < opens / 10; ++i) {
    const forgotten: MemoryConversation = new MemoryConversation({
      strategies: { mine: () => void forgotten.stats() as undefined },
    })
    forgotten.on('*', () => forgotten.stats())
    for (let j = 0; j < 10; ++j) forgotten.append(message)
    forgotten.view().size
    // Finalizers run between turns of the loop.
    if (i % 100 === 99) await settle()
  }
})

const folder = mkdtempSync(join(tmpdir(), 'undertext-'))
await using store = await openStore(`sqlite:${join(folder, 'store.db')}`, { durability: 'normal' })
await isFlat(`${opens} stored conversations, opened and closed`, async () => {
  for (let i = 0; i < opens / 10; ++i) {
    await using conversation = await store.open(`c${i % 50}`)
    if (i % 10 === 0) await conversation.append(message)
  }
})
rmSync(folder, { recursive: true })
