// An agent by the AI SDK of Vercel, which runs the tools itself. Its messages are kept as they are, so nothing is converted.
import { openai } from '@ai-sdk/openai'
import { generateText, stepCountIs, tool, type ModelMessage } from 'ai'
import { open } from 'undertext'
import { z } from 'zod'

const runTests = tool({
  description: 'Runs a suite.',
  inputSchema: z.object({ suite: z.string() }),
  execute: ({ suite }) => `1 failed: ${suite}.cpp:17`,
})

await using conversation = await open('sqlite:agent.db', 'support-17', { settings: { model: 'gpt-5', compressionConfig: { enabled: true } } })
for (const question of ['Why is the build red?', 'Please fix it.']) {
  await conversation.append({ role: 'user', content: question })
  const messages = (await conversation.messages()) as ModelMessage[]
  const { text, response } = await generateText({ model: openai('gpt-5'), tools: { run_tests: runTests }, stopWhen: stepCountIs(5), messages })
  await conversation.append(response.messages)
  console.log(text)
}
console.log((await conversation.messages()).length, 'messages stored')
