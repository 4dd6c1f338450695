import { Agent, run, setTracingDisabled, Usage } from '@openai/agents-core' // or @openai/agents
import { openStore } from 'undertext'
import { UndertextSession } from 'undertext/openai-agents'

setTracingDisabled(true)

// Stands for a model: says how many items it was sent.
const model = {
  async getResponse({ input }) {
    const text = `I see ${input.length} item(s).`
    return { usage: new Usage(), output: [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] }] }
  },
}

const store = await openStore('memory:') // or sqlite:PATH, postgres://…
const conversation = await store.open('support-17')
const session = new UndertextSession(conversation)
const agent = new Agent({ name: 'assistant', model })
for (const said of ['Hello', 'Are you there?']) console.log((await run(agent, said, { session })).finalOutput)

await session.popItem()
console.log(`${(await session.getItems()).length} items, and after an UNDO`)
await conversation.undo()
console.log(`${(await session.getItems()).length} items`)
await conversation.close()
await store.close()
