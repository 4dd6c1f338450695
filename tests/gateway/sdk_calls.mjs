// What the official SDKs for TypeScript make of a provider, as lines of JSON.   sdk_calls.mjs URL PACKAGES      PACKAGES: what scripts/peers clients has got
//
// As sdk_calls.py: each call says in its model's name what the upstream shall do.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [url, packages] = process.argv.slice(2)
const require = createRequire(packages + '/')
const load = name => import(pathToFileURL(require.resolve(name)).href)
const { default: OpenAI } = await load('openai')
const { default: Anthropic } = await load('@anthropic-ai/sdk')
const { GoogleGenAI } = await load('@google/genai')

const errors = ['error-400', 'error-401', 'error-429', 'error-529', 'error-500']
const tool = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const all = async stream => {
  const pieces = []
  for await (const piece of await stream) pieces.push(piece)
  return pieces
}
const first = async stream => {
  for await (const piece of await stream) return piece // leaving the loop cancels
}

function openai() {
  const client = new OpenAI({
    baseURL: url + '/v1',
    apiKey: 'sk-openai',
    maxRetries: 1,
    timeout: 20000,
  })
  const weather = { type: 'function', function: { name: 'weather', parameters: tool } }
  const chat = { messages: [{ role: 'user', content: 'Grüße 😀' }], tools: [weather] }
  const calls = {
    chat: () => client.chat.completions.create({ model: 'plain', ...chat }),
    'chat stream': () =>
      all(client.chat.completions.create({ model: 'plain', stream: true, ...chat })),
    responses: () => client.responses.create({ model: 'plain', input: 'hello' }),
    'responses stream': () =>
      all(client.responses.create({ model: 'plain', input: 'hello', stream: true })),
    models: async () => (await all(client.models.list())).map(model => model.id),
    torn: () => all(client.chat.completions.create({ model: 'torn', stream: true, ...chat })),
    timeout: () =>
      client.chat.completions.create({ model: 'silent', ...chat }, { timeout: 600, maxRetries: 0 }),
    cancelled: () =>
      first(client.chat.completions.create({ model: 'endless', stream: true, ...chat })),
  }
  for (const model of errors)
    calls[model] = () => client.chat.completions.create({ model, ...chat })
  return calls
}

function anthropic() {
  const client = new Anthropic({
    baseURL: url,
    apiKey: 'sk-anthropic',
    maxRetries: 1,
    timeout: 20000,
  })
  const call = {
    max_tokens: 100,
    messages: [{ role: 'user', content: 'hello' }],
    tools: [{ name: 'weather', input_schema: tool }],
  }
  const calls = {
    messages: () => client.messages.create({ model: 'plain', ...call }),
    'messages stream': () => all(client.messages.create({ model: 'plain', stream: true, ...call })),
    'messages helper': () => client.messages.stream({ model: 'plain', ...call }).finalMessage(),
    count_tokens: () => client.messages.countTokens({ model: 'plain', messages: call.messages }),
    models: async () => (await all(client.models.list())).map(model => model.id),
    torn: () => all(client.messages.create({ model: 'torn', stream: true, ...call })),
    timeout: () =>
      client.messages.create({ model: 'silent', ...call }, { timeout: 600, maxRetries: 0 }),
    cancelled: () => first(client.messages.create({ model: 'endless', stream: true, ...call })),
  }
  for (const model of errors) calls[model] = () => client.messages.create({ model, ...call })
  return calls
}

function google() {
  const client = new GoogleGenAI({ apiKey: 'sk-google', httpOptions: { baseUrl: url } })
  const tools = [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: tool }] }]
  const calls = {
    generate: () => client.models.generateContent({ model: 'plain', contents: 'hello' }),
    'generate stream': () =>
      all(client.models.generateContentStream({ model: 'plain', contents: 'hello' })),
    tools: () =>
      client.models.generateContent({ model: 'plain', contents: 'hello', config: { tools } }),
    count_tokens: () => client.models.countTokens({ model: 'plain', contents: 'hello' }),
    models: async () => (await all(client.models.list())).map(model => model.name),
    torn: () => all(client.models.generateContentStream({ model: 'torn', contents: 'hello' })),
    timeout: () =>
      client.models.generateContent({
        model: 'silent',
        contents: 'hello',
        config: { httpOptions: { timeout: 600 } },
      }),
    cancelled: () =>
      first(client.models.generateContentStream({ model: 'endless', contents: 'hello' })),
  }
  for (const model of errors)
    calls[model] = () => client.models.generateContent({ model, contents: 'hello' })
  return calls
}

for (const [sdk, calls] of Object.entries({
  openai: openai(),
  anthropic: anthropic(),
  google: google(),
})) {
  for (const [name, call] of Object.entries(calls)) {
    let result
    try {
      const { sdkHttpResponse, ...told } = Object(await call()) // its headers carry no more than the rest
      result = { ok: told }
    } catch (error) {
      result = {
        error: error.constructor.name,
        status: error.status ?? null,
        body: error.error ?? null,
      }
    }
    console.log(JSON.stringify([sdk, name, result]))
  }
}
process.exit(0)
