// Conversations of several turns with a tool, as the official SDKs for TypeScript lead them.   sdk_turn_calls.mjs URL PACKAGES
//
// As sdk_turn_calls.py.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [url, packages] = process.argv.slice(2)
const require = createRequire(packages + '/')
const load = name => import(pathToFileURL(require.resolve(name)).href)
const { default: OpenAI } = await load('openai')
const { default: Anthropic } = await load('@anthropic-ai/sdk')
const { GoogleGenAI } = await load('@google/genai')

const tool = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const result = 'rain, 3 degrees'
const thanks = 'Thank you!'
const question = model => `What is the weather in Oslo, ${model}?`

async function chat(client, model, streams) {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: question(model) },
  ]
  const tools = [{ type: 'function', function: { name: 'weather', parameters: tool } }]
  const turn = async () => {
    if (!streams)
      return (await client.chat.completions.create({ model, messages, tools })).choices[0].message
    return client.chat.completions
      .stream({ model, messages, tools, stream_options: { include_usage: true } })
      .finalMessage()
  }
  const first = await turn()
  messages.push(first, { role: 'tool', tool_call_id: first.tool_calls[0].id, content: result })
  messages.push(await turn(), { role: 'user', content: thanks })
  return (await turn()).content
}

async function responses(client, model, streams, namesPrevious = false) {
  const tools = [{ type: 'function', name: 'weather', parameters: tool, strict: false }]
  const items = [{ role: 'user', content: question(model) }]
  let previous
  const turn = async added => {
    if (!namesPrevious) items.push(...added)
    const call = {
      model,
      tools,
      instructions: 'Be brief.',
      input: namesPrevious && previous ? added : [...items],
    }
    if (namesPrevious && previous) call.previous_response_id = previous
    let answer
    if (streams) {
      for await (const event of await client.responses.create({ stream: true, ...call }))
        if (event.type === 'response.completed') answer = event.response
    } else answer = await client.responses.create(call)
    previous = answer.id
    items.push(...answer.output)
    return answer
  }
  const called = (await turn([])).output.find(item => item.type === 'function_call')
  await turn([{ type: 'function_call_output', call_id: called.call_id, output: result }])
  return (await turn([{ role: 'user', content: thanks }])).output[0].content[0].text
}

async function messages(client, model, streams) {
  const sent = [{ role: 'user', content: question(model) }]
  const turn = async () => {
    const call = {
      model,
      max_tokens: 2000,
      system: 'Be brief.',
      tools: [{ name: 'weather', input_schema: tool }],
      thinking: { type: 'enabled', budget_tokens: 1024 },
      messages: sent,
    }
    return streams ? client.messages.stream(call).finalMessage() : client.messages.create(call)
  }
  const first = await turn()
  sent.push({ role: 'assistant', content: first.content })
  const called = first.content.find(block => block.type === 'tool_use')
  sent.push({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: called.id, content: result }],
  })
  sent.push(
    { role: 'assistant', content: (await turn()).content },
    { role: 'user', content: thanks },
  )
  return (await turn()).content[0].text
}

async function gemini(client, model, streams) {
  const config = {
    systemInstruction: 'Be brief.',
    tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: tool }] }],
  }
  const talk = client.chats.create({ model, config })
  const turn = async message => {
    if (!streams) return [await talk.sendMessage({ message })]
    const pieces = []
    for await (const piece of await talk.sendMessageStream({ message })) pieces.push(piece)
    return pieces
  }
  const calls = (await turn(question(model))).flatMap(piece => piece.functionCalls ?? [])
  await turn({ functionResponse: { name: calls[0].name, response: { output: result } } })
  return (await turn(thanks)).map(piece => piece.text ?? '').join('')
}

const ofOpenai = new OpenAI({ baseURL: url + '/v1', apiKey: 'sk-openai', maxRetries: 0 })
const ofAnthropic = new Anthropic({ baseURL: url, apiKey: 'sk-anthropic', maxRetries: 0 })
const ofGoogle = new GoogleGenAI({ apiKey: 'sk-google', httpOptions: { baseUrl: url } })
for (const [streams, ending] of [
  [false, 'whole'],
  [true, 'streamed'],
]) {
  console.log(await chat(ofOpenai, `chat-${ending}`, streams))
  console.log(await responses(ofOpenai, `responses-${ending}`, streams))
  console.log(await responses(ofOpenai, `previous-${ending}`, streams, true))
  console.log(await messages(ofAnthropic, `messages-${ending}`, streams))
  console.log(await gemini(ofGoogle, `gemini-${ending}`, streams))
}
process.exit(0)
