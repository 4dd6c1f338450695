// An agent with a tool, by the SDK of OpenAI. The conversation lasts, and compresses itself before the window is full.
import OpenAI from 'openai'
import { open, type Conversation } from 'undertext'

const model = 'gpt-5'
const parameters = { type: 'object', properties: { suite: { type: 'string' } } }
const tools = [{ type: 'function' as const, function: { name: 'run_tests', description: 'Runs a suite.', parameters } }]

function runTests({ suite }: { suite: string }): string {
  return `1 failed: ${suite}.cpp:17`
}

async function ask(conversation: Conversation, client: OpenAI, question: string): Promise<string | null> {
  await conversation.append({ role: 'user', content: question })
  while (true) {
    const { request } = await conversation.render()
    const response = await client.chat.completions.create({ model, tools, ...request })
    await conversation.appendResponse(response)
    const { content, tool_calls: calls = [] } = response.choices[0]!.message
    if (calls.length === 0) return content
    for (const call of calls) {
      if (call.type !== 'function') continue
      await conversation.append({ role: 'tool', toolCallId: call.id, content: runTests(JSON.parse(call.function.arguments)) })
    }
  }
}

await using conversation = await open('sqlite:agent.db', 'support-17', { settings: { model, compressionConfig: { enabled: true } } })
const client = new OpenAI()
console.log(await ask(conversation, client, 'Why is the build red?'))
console.log(await ask(conversation, client, 'Please fix it.'))
console.log((await conversation.messages()).length, 'messages stored')
