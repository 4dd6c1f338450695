import { generateText, stepCountIs, tool } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { inMemory } from 'undertext'
import { prepareStep } from 'undertext/ai'
import { z } from 'zod'

// Stands for a model: reads eight pages, one in each step, and says how much it was sent.
const sent = []
const model = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    const page = sent.push(prompt) - 1
    const read = { type: 'tool-call', toolCallId: `call-${page}`, toolName: 'read', input: JSON.stringify({ page }) }
    const content = [page < 8 ? read : { type: 'text', text: `All read; this call has ${prompt.length} messages.` }]
    const usage = { inputTokens: {}, outputTokens: {} }
    return { content, finishReason: { unified: page < 8 ? 'tool-calls' : 'stop' }, usage, warnings: [] }
  },
})
const read = tool({ inputSchema: z.object({ page: z.number() }), execute: ({ page }) => `Page ${page}. ${'Words. '.repeat(200)}` })

// With { model: 'gpt-5', compressionConfig: { enabled: true } } the threshold is three quarters of the model's window.
const conversation = inMemory({ compressionConfig: { enabled: true, threshold: 1000 } }) // or await open('sqlite:agent.db', 'chat-1')
const { text, response } = await generateText({
  model,
  tools: { read },
  prompt: 'Read eight pages.',
  stopWhen: stepCountIs(20),
  prepareStep: prepareStep(conversation),
})
console.log(text)
console.log(`${response.messages.length} messages returned, ${(await conversation.stats()).tokens} tokens in the model's view`)

// A summary stands for what was hidden. Expanded, the next call of the model sees the originals.
const summaryIn = messages => messages.findIndex(({ content }) => JSON.stringify(content).includes('EXPAND'))
console.log(`${(await conversation.stats()).currentBatchMessages} messages in the view`)
for (let index; (index = summaryIn(await conversation.messages())) >= 0; ) await conversation.expand(index)
console.log(`${(await conversation.stats()).currentBatchMessages} messages, expanded`)
