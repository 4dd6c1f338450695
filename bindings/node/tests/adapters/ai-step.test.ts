import { generateText, stepCountIs, streamText, tool, type ModelMessage } from 'ai'
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inMemory, openStore, type DataSettings } from 'undertext'
import { prepareStep } from 'undertext/ai'
import { z } from 'zod'

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
}
const settings: DataSettings = { compressionConfig: { enabled: true, threshold: 600 } }
const steps = 10

const read = tool({
  description: 'Reads a page.',
  inputSchema: z.object({ page: z.number() }),
  execute: async ({ page }) =>
    `page ${page}: ${'the quick brown fox jumps over the lazy dog. '.repeat(30)}`,
})
const tools = { read }

const contentOf = (step: number) =>
  step < steps
    ? {
        type: 'tool-call' as const,
        toolCallId: `c${step}`,
        toolName: 'read',
        input: JSON.stringify({ page: step }),
      }
    : { type: 'text' as const, text: 'All read.' }
const finishOf = (step: number) => ({
  unified: step < steps ? ('tool-calls' as const) : ('stop' as const),
  raw: undefined,
})

/** Reads ten pages, one in each step, and keeps what it was sent. */
function readsTenPages(): { model: MockLanguageModelV3; sent: unknown[][] } {
  const sent: unknown[][] = []
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const step = sent.push(prompt) - 1
      return { content: [contentOf(step)], finishReason: finishOf(step), usage, warnings: [] }
    },
    doStream: async ({ prompt }) => {
      const step = sent.push(prompt) - 1
      const said = contentOf(step)
      const parts =
        said.type === 'text'
          ? [
              { type: 'text-start' as const, id: '1' },
              { type: 'text-delta' as const, id: '1', delta: said.text },
              { type: 'text-end' as const, id: '1' },
            ]
          : [said]
      const end = { type: 'finish' as const, finishReason: finishOf(step), usage }
      return { stream: simulateReadableStream({ chunks: [...parts, end] }) }
    },
  })
  return { model, sent }
}

const messages: ModelMessage[] = [{ role: 'user', content: 'Read ten pages.' }]
const loop = { tools, messages, system: 'Be brief.', stopWhen: stepCountIs(20) }
const sizeOf = (value: unknown): number => JSON.stringify(value).length

test('every step is within the window, and what the call returns has every message', async () => {
  const conversation = inMemory(settings)
  const { model, sent } = readsTenPages()
  const { response } = await generateText({
    ...loop,
    model,
    prepareStep: prepareStep(conversation),
  })
  assert.equal(sent.length, steps + 1)
  assert.equal(response.messages.length, 2 * steps + 1)
  assert.ok(sizeOf(response.messages) > 13_000)
  assert.ok(Math.max(...sent.map(sizeOf)) < 6000, String(sent.map(sizeOf)))
  const texts = JSON.stringify(await conversation.messages({ all: true }))
  for (let page = 0; page < steps; ++page) assert.ok(texts.includes(`page ${page}: the quick`))
})

test('without an edit each step is sent what it would be sent without the conversation', async () => {
  const [one, other] = [readsTenPages(), readsTenPages()]
  await generateText({ ...loop, model: one.model, prepareStep: prepareStep(inMemory()) })
  await generateText({ ...loop, model: other.model })
  assert.deepEqual(JSON.parse(JSON.stringify(one.sent)), JSON.parse(JSON.stringify(other.sent)))
})

test('a stream has the same steps', async () => {
  const [one, other] = [readsTenPages(), readsTenPages()]
  await generateText({ ...loop, model: one.model, prepareStep: prepareStep(inMemory(settings)) })
  const stream = streamText({
    ...loop,
    model: other.model,
    prepareStep: prepareStep(inMemory(settings)),
  })
  await stream.consumeStream()
  assert.equal(await stream.text, 'All read.')
  assert.deepEqual(other.sent, one.sent)
})

test('what was compressed can be expanded, and the next call sees the originals', async () => {
  await using store = await openStore('memory:')
  await using conversation = await store.open('chat', settings)
  const { model, sent } = readsTenPages()
  const step = prepareStep(conversation)
  const { response } = await generateText({ ...loop, model, prepareStep: step })
  const isStub = (message: object): boolean => JSON.stringify(message).includes('EXPAND')
  for (;;) {
    const index = (await conversation.messages()).findIndex(isStub)
    if (index < 0) break
    await conversation.expand(index)
  }
  const more: ModelMessage[] = [
    ...messages,
    ...response.messages,
    { role: 'user', content: 'And the first?' },
  ]
  await generateText({ ...loop, model, messages: more, prepareStep: step })
  assert.ok(!JSON.stringify(sent.at(-2)).includes('page 0: the quick'))
  assert.ok(JSON.stringify(sent.at(-1)).includes('page 0: the quick'))
})

test('bytes and URLs are sent as text', async () => {
  const { model, sent } = readsTenPages()
  const picture: ModelMessage = {
    role: 'user',
    content: [
      { type: 'image', image: new Uint8Array([1, 2, 3]), mediaType: 'image/png' },
      { type: 'file', data: Buffer.from('abc'), mediaType: 'text/plain' },
    ],
  }
  await generateText({
    ...loop,
    model,
    messages: [picture],
    stopWhen: stepCountIs(1),
    prepareStep: prepareStep(inMemory()),
  })
  const [, question] = sent[0] as { content: { data: unknown }[] }[]
  assert.deepEqual(
    question!.content.map(({ data }) => data),
    ['AQID', 'YWJj'],
  )
})

test('what JSON cannot hold is refused, and named by its place', async () => {
  const { model } = readsTenPages()
  const strange = [{ role: 'user', content: [{ type: 'text', text: 'a', at: NaN }] }]
  await assert.rejects(
    generateText({
      ...loop,
      model,
      messages: strange as unknown as ModelMessage[],
      prepareStep: prepareStep(inMemory()),
    }),
    { code: 'invalid_argument' },
  )
})
