import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConversationManager } from 'undertext/sdk'

// A custom strategy: the instructions, one message for all that is older, and the last four.
const strategy = {
  async compress(messages, markMap, config) {
    const older = { role: 'user', content: `(${messages.length - 5} messages, to be within ${config.targetTokens} tokens)` }
    return { messages: [messages[0], older, ...messages.slice(-4)], markMap }
  },
}
const folder = mkdtempSync(join(tmpdir(), 'trips-'))
const url = `sqlite:${join(folder, 'conversations.db')}`
const compressionConfig = { enabled: true, threshold: 100, targetTokens: 80, strategy }
const conversation = await ConversationManager.open(url, 'trip-42', { compressionConfig })
await conversation.addMessage({ role: 'system', content: 'You plan trips.' })
for (let day = 1; day <= 9; ++day) await conversation.addMessage({ role: 'user', content: `What about day ${day}?` })
await conversation.waitForCompression()
await conversation.close()

const again = await ConversationManager.open(url, 'trip-42', { compressionConfig })
for (const { content } of await again.getMessages()) console.log(content)
console.log((await again.getAllMessages()).length, 'messages in the log,', (await again.getIndexManager().getMarkMap()).currentBatch, 'the current batch')
await again.close()
rmSync(folder, { recursive: true })
