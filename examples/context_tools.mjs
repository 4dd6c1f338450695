import { inMemory } from 'undertext'

const conversation = inMemory({ contextTools: true })
await conversation.append([
  { role: 'user', content: 'Why does the tokenizer crash on emoji?' },
  { role: 'assistant', content: 'It reads a surrogate in utf16_length().' },
  { role: 'user', content: 'Fix it, please.' },
  { role: 'assistant', content: 'Done.' },
])
await conversation.compress({ indices: [0, 1, 2], summary: { role: 'user', content: '(A bug was fixed.)' } })

// Three lines of an agent: declare the tools, and answer a call of the model with what they say.
const request = { messages: await conversation.messages(), tools: await conversation.tools('openai_chat') }
const call = { name: 'context_search', arguments: '{"text":"utf16_length"}' } // what the model said
const result = await conversation.callTool(call.name, call.arguments)

console.log(request.tools.map((tool) => tool.function.name))
console.log(result.text.includes('utf16_length()'), result.isError)
console.log((await conversation.callTool('context_expand', { ordinals: [99] })).text)
await conversation.close()
