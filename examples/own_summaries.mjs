import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'undertext'

const folder = mkdtempSync('agent-')

// It would ask a model. It may take its time: the conversation goes on meanwhile.
const byModel = async (messages, { tokensMax }) => `${messages.length} messages, in at most ${tokensMax} tokens.`
// Proposes to hide every other message but the last two.
const everyOther = (view) => ({ replacements: [{ hide: view.find().ordinals.slice(0, -2).filter((ordinal) => ordinal % 2 === 0) }] })

const conversation = await open(`sqlite:${folder}/agent.db`, 'support-17', { settings: { summarisers: { byModel }, strategies: { everyOther } } })
conversation.on('BATCH_OPENED', ({ batchIndex }) => console.log(`batch ${batchIndex} begins`))

for (let i = 0; i < 12; ++i) await conversation.append({ role: 'user', content: `Message ${i}, which says something of ordinary length.` })

const { receipt } = await conversation.compress({ strategy: 'everyOther' })
console.log(`${receipt.strategy} hid ${receipt.ordinals}`)

const summed = conversation.compress({ strategy: { name: 'smart_summary', keep: 2, summaryTokens: 40, summariser: 'byModel' } })
await conversation.append({ role: 'user', content: 'Meanwhile.' })
await summed
for (const { content } of await conversation.messages()) console.log(content)

await conversation.close()
rmSync(folder, { recursive: true })
