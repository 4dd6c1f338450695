// Sends each rendered request through its official client to a server in this process, and compares what arrives with what was rendered.
import http from 'node:http'
import fs from 'node:fs'
import assert from 'node:assert'
import OpenAI from 'openai'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'

const [requestsFile, responsesFile] = process.argv.slice(2)
const requests = JSON.parse(fs.readFileSync(requestsFile, 'utf8'))
const responses = JSON.parse(fs.readFileSync(responsesFile, 'utf8'))

let received, answer
const server = http.createServer((request, response) => {
  let body = ''
  request.on('data', piece => (body += piece))
  request.on('end', () => {
    received = JSON.parse(body)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer))
  })
})
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
const base = `http://127.0.0.1:${server.address().port}`
const openai = new OpenAI({ apiKey: 'none', baseURL: base, maxRetries: 0 })
const anthropic = new Anthropic({ apiKey: 'none', baseURL: base, maxRetries: 0 })
const gemini = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: base } })

const clients = {
  openai_chat: async r => openai.chat.completions.create({ model: 'm', ...r }),
  openai_responses: async r => openai.responses.create({ model: 'm', ...r }),
  anthropic: async r => anthropic.messages.create({ model: 'm', max_tokens: 9, ...r }),
  gemini: async r =>
    gemini.models.generateContent({
      model: 'm',
      contents: r.contents,
      config: { systemInstruction: r.systemInstruction },
    }),
}

let sent = 0
for (const { dialect, request } of requests) {
  answer = responses[dialect]
  await clients[dialect](request)
  for (const [field, value] of Object.entries(request)) {
    if (dialect === 'gemini' && field === 'systemInstruction') {
      assert.deepStrictEqual(received[field].parts, value.parts)
    } else {
      assert.deepStrictEqual(received[field], value, `${dialect}.${field}`)
    }
  }
  ++sent
}
server.close()
console.log(`${sent} requests went through the official clients unchanged`)
