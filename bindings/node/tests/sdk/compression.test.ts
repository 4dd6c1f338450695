import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ClearToolResultsStrategy,
  ConversationManager,
  EventType,
  KeepRecentStrategy,
  KeepSystemAndRecentStrategy,
  NoOpCompressionStrategy,
  PipelineStrategy,
  SlidingWindowStrategy,
  SmartSummaryStrategy,
  UndertextError,
  ValidationError,
} from 'undertext/sdk'
import type {
  CompressedEvent,
  CompressionDiscardedEvent,
  CompressionFailedEvent,
  CompressionStrategy,
  ConversationManagerOptions,
  LLMMessage,
  MessageMarkMap,
} from 'undertext/sdk'
import { contents, conversationOf, conversationWith, messageOf } from './conversations.js'

const text = 'one two three four five six seven eight nine ten'
const long = (n: number) => Array.from({ length: n }, (_, i) => `${i % 2 ? 'a' : 'u'}:${i} ${text}`)
const config = { enabled: true, threshold: 100, targetTokens: 60 }

function heard(manager: ConversationManager): {
  compressed: CompressedEvent[]
  failed: Array<CompressionFailedEvent | CompressionDiscardedEvent>
} {
  const compressed: CompressedEvent[] = []
  const failed: Array<CompressionFailedEvent | CompressionDiscardedEvent> = []
  manager.on(EventType.COMPRESSED, event => compressed.push(event))
  manager.on(EventType.COMPRESSION_FAILED, event => failed.push(event))
  manager.on(EventType.COMPRESSION_DISCARDED, event => failed.push(event))
  return { compressed, failed }
}

/** Adds messages until the threshold is exceeded, and waits for what that sets off. */
async function filled(
  options: ConversationManagerOptions,
  n = 12,
): Promise<{ manager: ConversationManager } & ReturnType<typeof heard>> {
  const manager = new ConversationManager(options)
  const events = heard(manager)
  manager.addMessage(messageOf('s:rules'))
  for (const short of long(n)) manager.addMessage(messageOf(short))
  await manager.waitForCompression()
  return { manager, ...events }
}

test('a conversation that outgrows its threshold becomes smaller by itself, in a batch of its own, and nothing is lost', async () => {
  const { manager, compressed } = await filled({ compressionConfig: config })
  assert.ok(compressed.length > 0)
  assert.ok(manager.getTokenCount() <= config.threshold)
  assert.equal(contents(manager.getMessages())[0], 'rules')
  assert.equal(manager.getAllMessages().length, 13)
  assert.ok(manager.getMarkMap().currentBatch > 0)
  manager.rollbackToBatch(0)
  assert.ok(manager.getTokenCount() > config.threshold)
})

test('nothing happens by itself where it is not enabled', async () => {
  const { manager, compressed } = await filled({ compressionConfig: { ...config, enabled: false } })
  assert.equal(manager.getMessages().length, 13)
  assert.deepEqual(compressed, [])
})

test('every strategy of the package runs in the engine', async () => {
  const strategies: Array<
    [CompressionStrategy | string, (manager: ConversationManager) => boolean]
  > = [
    [new NoOpCompressionStrategy(), manager => manager.getMessages().length === 13],
    ['none', manager => manager.getMessages().length === 13],
    [new KeepRecentStrategy(2), manager => manager.getMessages().length < 13],
    [new KeepSystemAndRecentStrategy(2), manager => manager.getMessages().length < 13],
    [new SlidingWindowStrategy(), manager => manager.getTokenCount() <= 150],
    [
      new SmartSummaryStrategy({ summariser: () => 'in short', keep: 2 }),
      manager =>
        contents(manager.getMessages()).some(content => String(content).startsWith('[Summary')),
    ],
    [
      new PipelineStrategy([
        new ClearToolResultsStrategy({ keep: 0 }),
        new SlidingWindowStrategy(),
      ]),
      manager => manager.getTokenCount() <= 150,
    ],
  ]
  for (const [strategy, holds] of strategies) {
    const { manager } = await filled({
      compressionConfig: { enabled: true, threshold: 150, targetTokens: 100, strategy },
    })
    assert.ok(
      holds(manager),
      `${typeof strategy === 'string' ? strategy : strategy.constructor.name}: ${JSON.stringify(contents(manager.getMessages()))}`,
    )
    assert.equal(contents(manager.getMessages())[0], 'rules')
  }
})

test('a strategy by itself takes messages and their mark map, and answers with fewer', async () => {
  const manager = conversationOf('s:rules', ...long(8))
  manager.execute({ operation: 'DELETE', ordinals: [1] })
  const messages = manager.getMessages()
  const markMap = manager.getMarkMap()
  const compressed = await new SlidingWindowStrategy().compress(messages, markMap, config)
  assert.ok(compressed.messages.length < messages.length)
  assert.deepEqual(
    compressed.messages,
    compressed.markMap.originalIndices.map(ordinal => manager.getAllMessages()[ordinal]),
  )
  assert.deepEqual(compressed.markMap.batchBoundaries, [0, 9, 9])
  assert.equal(compressed.markMap.currentBatch, 2)
  manager.setMarkMap(compressed.markMap)
  assert.deepEqual(manager.getMessages(), compressed.messages, 'the conversation takes the map')

  assert.deepEqual(
    await new SlidingWindowStrategy().compress(messages, markMap, { ...config, enabled: false }),
    { messages, markMap },
  )
  assert.deepEqual(
    await new SlidingWindowStrategy().compress(messages, markMap, {
      ...config,
      targetTokens: 10_000,
    }),
    { messages, markMap },
  )
  await assert.rejects(
    new SlidingWindowStrategy().compress(messages, markMap, { ...config, targetTokens: 1 }),
    (error: unknown) => error instanceof UndertextError && error.code === 'cannot_fit',
  )
  await assert.rejects(
    new SlidingWindowStrategy().compress(messages.slice(1), markMap, config),
    ValidationError,
  )
})

test('a summary by itself has an index beyond all that the map knows', async () => {
  const manager = conversationOf('s:rules', ...long(16))
  const { messages, markMap } = await new SmartSummaryStrategy({
    keep: 2,
    summariser: () => 'in short',
  }).compress(manager.getMessages(), manager.getMarkMap(), { ...config, targetTokens: 150 })
  const at = contents(messages).findIndex(content => String(content).includes('in short'))
  assert.ok(at > 0)
  assert.equal(markMap.originalIndices[at], 17)
  assert.deepEqual(markMap.typeIndices?.user.includes(17), true)
})

test('without a summariser the summary is a digest, which needs no model', async () => {
  const manager = conversationWith(
    {
      compressionConfig: {
        enabled: false,
        threshold: 4000,
        targetTokens: 2000,
        strategy: new SmartSummaryStrategy({ keep: 2, summaryTokens: 500 }),
      },
    },
    ...long(20).map(short => `${short} ${text.repeat(30)}`),
  )
  assert.equal((await manager.compress()).outcome, 'compressed')
  assert.match(String(contents(manager.getMessages())[0]), /^\[Summary of earlier messages\]/)
  assert.ok(manager.getTokenCount() <= 2000)
})

test('two summarisers of a pipeline have two names', () => {
  const [one, two] = [async () => 'one', async () => 'two']
  const step = new SmartSummaryStrategy({ summariser: one })
  assert.throws(
    () => new PipelineStrategy([step, new SmartSummaryStrategy({ summariser: two })]),
    ValidationError,
  )
  assert.ok(
    new PipelineStrategy([
      step,
      step,
      new PipelineStrategy([
        new SmartSummaryStrategy({ summariser: two, summariserName: 'second' }),
      ]),
    ]),
  )
})

test('a summariser in TypeScript writes the summary, of originals', async () => {
  const given: LLMMessage[][] = []
  const summariser = async (messages: LLMMessage[], tokensMax: number) => {
    given.push(messages)
    assert.ok(tokensMax > 0)
    return `${messages.length} messages`
  }
  const { manager, compressed } = await filled({
    compressionConfig: {
      ...config,
      threshold: 150,
      targetTokens: 120,
      strategy: new SmartSummaryStrategy({ summariser, summaryTokens: 30 }),
    },
  })
  assert.ok(compressed.length > 0)
  assert.match(
    String(contents(manager.getMessages())[1]),
    /^\[Summary of earlier messages\][^]*\d+ messages/,
  )
  assert.equal(given[0]?.[0]?.content, `0 ${text}`)
})

test('a strategy in TypeScript decides what is hidden, and says what stands in its place', async () => {
  const strategy: CompressionStrategy = {
    async compress(messages, markMap) {
      const kept = messages.length - 2
      const summary: LLMMessage = { role: 'user', content: `${kept - 1} earlier messages` }
      return {
        messages: [messages[0] as LLMMessage, summary, ...messages.slice(kept)],
        markMap: {
          ...markMap,
          originalIndices: [0, 1_000_000, ...markMap.originalIndices.slice(kept)],
        },
      }
    },
  }
  const { manager, compressed, failed } = await filled({
    compressionConfig: { ...config, strategy },
  })
  assert.deepEqual(failed, [])
  assert.ok(compressed.length > 0)
  assert.match(String(contents(manager.getMessages())[1]), /earlier messages$/)
  const at = manager.getMessages().length
  manager.execute({ operation: 'EXPAND', index: 1 })
  assert.ok(manager.getMessages().length > at, 'the summary can be expanded')
})

test('a strategy that leaves the mark map alone is read by its messages', async () => {
  const strategy: CompressionStrategy = {
    compress: async (messages, markMap) => ({
      messages: [messages[0] as LLMMessage, ...messages.slice(-2)],
      markMap,
    }),
  }
  const { manager, failed } = await filled({ compressionConfig: { ...config, strategy } })
  assert.deepEqual(failed, [])
  assert.ok(manager.getMessages().length < 13)
  assert.equal(contents(manager.getMessages())[0], 'rules')
})

test('a message that a strategy changed takes the place of the one it was', async () => {
  const strategy: CompressionStrategy = {
    async compress(messages, markMap) {
      for (const message of messages.slice(1, -1)) message.content = 'short'
      return { messages, markMap }
    },
  }
  const { manager, failed } = await filled({ compressionConfig: { ...config, strategy } })
  assert.deepEqual(failed, [])
  assert.equal(contents(manager.getMessages())[1], 'short')
  assert.equal(contents(manager.getAllMessages())[1], `0 ${text}`, 'what it was stays in the log')
})

test('a strategy that fails, or proposes what may not be, changes nothing and is told of', async () => {
  const bad: Record<string, CompressionStrategy['compress']> = {
    throws: async () => {
      throw new Error('no idea')
    },
    'throws at once': () => {
      throw new Error('no idea')
    },
    'hides a system message': async (messages, markMap) => ({
      messages: messages.slice(1),
      markMap: { ...markMap, originalIndices: markMap.originalIndices.slice(1) },
    }),
    'changes the order': async (messages, markMap) => ({
      messages: [...messages].reverse(),
      markMap: { ...markMap, originalIndices: [...markMap.originalIndices].reverse() },
    }),
    'adds without hiding': async (messages, markMap) => ({
      messages: [messages[0] as LLMMessage, messageOf('u:new'), ...messages.slice(1)],
      markMap,
    }),
    'answers nothing': (async () => undefined) as unknown as CompressionStrategy['compress'],
    'answers with no lists': (async () => ({
      messages: 1,
      markMap: 2,
    })) as unknown as CompressionStrategy['compress'],
    'adds no message': async (messages, markMap) => ({
      messages: [messages[0] as LLMMessage, { role: 'user', content: '' }],
      markMap,
    }),
  }
  for (const [what, compress] of Object.entries(bad)) {
    const { manager, compressed, failed } = await filled({
      compressionConfig: { ...config, strategy: { compress } },
    })
    assert.equal(manager.getMessages().length, 13, what)
    assert.deepEqual(compressed, [], what)
    assert.ok(failed.length > 0, what)
    assert.ok(failed[0]?.error.message, what)
  }
})

test('a summariser that fails is followed by the digest', async () => {
  const summariser = async (): Promise<string> => {
    throw new Error('the model is away')
  }
  const { manager, failed } = await filled({
    compressionConfig: {
      ...config,
      threshold: 150,
      targetTokens: 120,
      strategy: new SmartSummaryStrategy({ summariser }),
    },
  })
  assert.ok(manager.getMessages().length < 13)
  assert.ok(contents(manager.getMessages()).some(text => String(text).includes('Digest of')))
  assert.deepEqual(failed, [])
})

test('what is appended while a strategy is at work stays', async () => {
  let begin: () => void = () => undefined
  const begun = new Promise<void>(resolve => (begin = resolve))
  let finish: () => void = () => undefined
  const finished = new Promise<void>(resolve => (finish = resolve))
  const strategy: CompressionStrategy = {
    async compress(messages: LLMMessage[], markMap: MessageMarkMap) {
      begin()
      await finished
      return { messages: [messages[0] as LLMMessage, ...messages.slice(-1)], markMap }
    },
  }
  const manager = conversationWith(
    { compressionConfig: { ...config, strategy } },
    's:rules',
    ...long(10),
  )
  const done = manager.waitForCompression()
  await begun
  manager.addMessage(messageOf('u:meanwhile'))
  assert.equal(manager.getMessages().length, 12, 'and reading does not wait')
  finish()
  await done
  assert.deepEqual(contents(manager.getMessages()).slice(-1), ['meanwhile'])
  assert.ok(manager.getMessages().length <= 4)
})

test('the target of a call is the engine’s: that of the configuration, else three quarters of the threshold; with progress, what can be freed is', async () => {
  for (const [given, target] of [
    [config, 60],
    [{ enabled: false, threshold: 100 }, 75],
  ] as const) {
    const told: number[] = []
    const strategy: CompressionStrategy = {
      compress: async (messages, markMap, { targetTokens }) => (
        told.push(targetTokens), { messages, markMap }
      ),
    }
    const manager = conversationWith(
      { compressionConfig: { ...given, enabled: false } },
      's:rules',
      ...long(8),
    )
    await assert.rejects(manager.compress(strategy), { code: 'cannot_fit' })
    assert.deepEqual(told, [target])
    assert.equal((await manager.compress('sliding_window')).targetReached, true)
    assert.ok(manager.getTokenCount() <= target)
  }
  const manager = conversationWith({}, 's:rules', ...long(8))
  await assert.rejects(manager.compress(new KeepRecentStrategy(4), 10), { code: 'cannot_fit' })
  assert.equal(
    (await manager.compress(new KeepRecentStrategy(4), 10, { progress: true })).targetReached,
    false,
  )
  assert.equal(manager.getMessages().length, 5)
})

test('compressing when asked to: by the configuration, by another strategy, to another aim', async () => {
  const manager = conversationWith(
    { compressionConfig: { ...config, enabled: false } },
    's:rules',
    ...long(8),
  )
  assert.equal((await manager.compress()).outcome, 'compressed')
  assert.ok(manager.getTokenCount() <= 60)
  assert.equal((await manager.compress()).outcome, 'fits')
  manager.rollbackToBatch(0)
  assert.equal((await manager.compress(new KeepRecentStrategy(4), 90)).outcome, 'compressed')
  manager.rollbackToBatch(0)
  await assert.rejects(
    manager.compress('sliding_window', 1),
    (error: unknown) =>
      error instanceof UndertextError && error.code === 'cannot_fit' && (error.minimum ?? 0) > 1,
  )
  assert.equal(manager.getMessages().length, 9)

  const own = conversationWith(
    {
      compressionConfig: {
        ...config,
        enabled: false,
        strategy: {
          compress: async (messages, markMap) => ({
            messages: messages.slice(0, 1).concat(messages.slice(-2)),
            markMap,
          }),
        },
      },
    },
    's:rules',
    ...long(8),
  )
  assert.equal((await own.compress()).outcome, 'compressed')
  assert.equal(own.getMessages().length, 3)
})

const first: CompressionStrategy = {
  compress: async (messages, markMap) => ({
    messages: messages.slice(0, 1).concat(messages.slice(-3)),
    markMap,
  }),
}
const short = (text: string) =>
  new SmartSummaryStrategy({ keep: 1, summaryTokens: 20, summariser: async () => text })

test('a strategy with code of yours need not be that of the configuration', async () => {
  for (const compressionConfig of [
    undefined,
    { ...config, enabled: false },
    { ...config, enabled: false, strategy: short('configured') },
  ]) {
    const manager = conversationWith({ compressionConfig }, 's:rules', ...long(16))
    assert.equal((await manager.compress(first, 100)).outcome, 'compressed')
    assert.equal(manager.getMessages().length, 4)
    for (const [strategy, text] of [
      [short('in short'), 'in short'],
      [new PipelineStrategy([new ClearToolResultsStrategy(), short('at last')]), 'at last'],
    ] as const) {
      manager.rollbackToBatch(0)
      assert.equal((await manager.compress(strategy, 100)).outcome, 'compressed')
      assert.ok(contents(manager.getMessages()).some(content => String(content).includes(text)))
    }
    manager.rollbackToBatch(0)
    assert.equal((await manager.compress(new KeepRecentStrategy(4), 90)).outcome, 'compressed')
  }
})

test('code that comes with the call keeps what is pinned, also in a clone, and what it throws is the failure of the call', async () => {
  const manager = conversationWith({}, 's:rules', ...long(16))
  manager.markMessage(2, 'pinned')
  const clone = manager.clone()
  await clone.compress(short('cloned'), 100)
  assert.ok(contents(clone.getMessages()).some(content => String(content).includes('cloned')))
  assert.ok(contents(clone.getMessages()).includes(manager.getMessages()[2]?.content))
  const before = manager.getMessages()
  await assert.rejects(manager.compress(first, 100), UndertextError, 'it would hide what is pinned')
  const failing: CompressionStrategy = { compress: () => Promise.reject(new Error('not today')) }
  await assert.rejects(
    manager.compress(failing, 100),
    (error: unknown) => error instanceof UndertextError && error.message.includes('not today'),
  )
  await assert.rejects(
    manager.compress(null as unknown as CompressionStrategy, 60),
    ValidationError,
  )
  await assert.rejects(
    manager.compress(
      new PipelineStrategy([
        short('a'),
        new SmartSummaryStrategy({ summariser: () => 'b', summariserName: 'b' }),
      ]),
      60,
    ),
    ValidationError,
  )
  assert.deepEqual(manager.getMessages(), before)
})

test('calls that bring code each run their own, at the same time and one within another', async () => {
  const manager = conversationWith({}, 's:rules', ...long(30))
  const kept = (n: number): CompressionStrategy => ({
    async compress(messages, markMap) {
      await new Promise(resolve => setImmediate(resolve))
      return { messages: messages.slice(0, 1).concat(messages.slice(-n)), markMap }
    },
  })
  const clones = [manager.clone(), manager.clone(), manager.clone()]
  await Promise.all(clones.map((clone, i) => clone.compress(kept(2 + i), 300)))
  assert.deepEqual(
    clones.map(clone => clone.getMessages().length),
    [3, 4, 5],
  )
  const clone = manager.clone()
  await manager.compress(
    {
      async compress(messages, markMap) {
        await clone.compress(short('within'), 100)
        return { messages: messages.slice(0, 1).concat(messages.slice(-2)), markMap }
      },
    },
    300,
  )
  assert.equal(manager.getMessages().length, 3)
  assert.ok(contents(clone.getMessages()).some(content => String(content).includes('within')))
})

test('code that does not answer holds up nobody but who asked for it', async () => {
  const manager = conversationWith({}, 's:rules', ...long(30))
  const clone = manager.clone()
  let answer: (() => void) | undefined
  const late = new Promise<void>(resolve => (answer = resolve))
  const waiting = [...Array(8)].map(() =>
    manager
      .clone()
      .compress({ compress: (messages, markMap) => late.then(() => ({ messages, markMap })) }, 100),
  )
  await assert.rejects(clone.compress(first, 100), { code: 'unavailable' })
  assert.equal((await clone.compress(new KeepRecentStrategy(4), 300)).outcome, 'compressed')
  answer?.()
  await Promise.allSettled(waiting)
})

test('a strategy of the engine’s that is named with its arguments may call code of the configuration', async () => {
  const manager = conversationWith(
    {
      compressionConfig: {
        ...config,
        enabled: false,
        strategy: new SmartSummaryStrategy({
          summariserName: 'mine',
          summariser: async () => 'by mine',
        }),
      },
    },
    's:rules',
    ...long(16),
  )
  assert.equal(
    (
      await manager.compress(
        { name: 'smart_summary', keep: 3, summaryTokens: 20, summariser: 'mine' },
        100,
      )
    ).outcome,
    'compressed',
  )
  assert.ok(contents(manager.getMessages()).some(content => String(content).includes('by mine')))
  assert.throws(
    () =>
      new ConversationManager({
        compressionConfig: {
          ...config,
          strategy: new SmartSummaryStrategy({ summariserName: 'given 0', summariser: () => '' }),
        },
      }),
    ValidationError,
  )
})

test('a strategy may read and change the conversation it works for', async () => {
  let manager: ConversationManager | undefined
  const strategy: CompressionStrategy = {
    async compress(messages, markMap) {
      assert.equal(manager?.getMessages().length, messages.length)
      manager?.addMessage(messageOf('u:from within'))
      return { messages: [messages[0] as LLMMessage, ...messages.slice(-1)], markMap }
    },
  }
  manager = conversationWith(
    { compressionConfig: { ...config, enabled: false, strategy } },
    's:rules',
    ...long(8),
  )
  assert.equal((await manager.compress()).outcome, 'compressed')
  assert.deepEqual(contents(manager.getMessages()).slice(-1), ['from within'])
  assert.equal(manager.getMessages().length, 3)
})

test('a change while a slow strategy is being started is a conflict, and reading is not', async () => {
  const strategy: CompressionStrategy = {
    compress: async (messages, markMap) => ({
      messages: messages.slice(0, 1).concat(messages.slice(-1)),
      markMap,
    }),
  }
  const manager = conversationWith(
    { compressionConfig: { ...config, enabled: false, strategy } },
    's:rules',
    ...long(8),
  )
  const compressing = manager.compress()
  assert.throws(
    () => manager.addMessage(messageOf('u:too early')),
    (error: unknown) => error instanceof UndertextError && error.code === 'conflict',
  )
  assert.equal(manager.getMessages().length, 9)
  await compressing
  assert.equal(manager.addMessage(messageOf('u:now')), 10)
  assert.deepEqual(contents(manager.getMessages()).slice(-1), ['now'])
})
