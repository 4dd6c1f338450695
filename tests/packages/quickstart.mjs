// What a first user does, with the installed packages. Prints how long loading the addon took, in ms.
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
const start = performance.now()
createRequire(import.meta.url)(`undertext-${process.platform}-${process.arch}`)
const loaded = performance.now() - start
const { open, countTokens } = await import('undertext')

const folder = mkdtempSync(join(tmpdir(), 'undertext-'))
const conversation = await open(`sqlite:${folder}/agent.db`, 'support-17')
await conversation.append({ role: 'system', content: 'You are brief.' })
for (let turn = 0; turn < 20; ++turn) {
  await conversation.append({
    role: 'user',
    content: `Question ${turn}, of some length so that there is something to hide.`,
  })
  await conversation.append({ role: 'assistant', content: `Answer ${turn}, also of some length.` })
}
const count = async () => (await conversation.messages()).length
const expect = async wanted => {
  if ((await count()) !== wanted) throw new Error(`${await count()} messages instead of ${wanted}`)
}
await expect(41)
await conversation.truncate({ keepLast: 5 })
await expect(5)
await conversation.undo()
await expect(41)
await conversation.close()
rmSync(folder, { recursive: true })
if (countTokens('hello world', 'o200k_base') !== 2)
  throw new Error('the vocabularies are not in the package')
console.log(loaded.toFixed(1))
