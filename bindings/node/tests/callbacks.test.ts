// Functions of JavaScript that the engine calls: on their own thread, at once or with promises, failing in every way.
import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  inMemory,
  MemoryConversation,
  open,
  UndertextError,
  type Conversation,
  type Event,
  type Message,
  type Settings,
  type View,
} from 'undertext'
import { temporaryStore } from './temporary.js'

const user = (content: string): Message => ({ role: 'user', content })
const hideFirst = (view: View): { replacements: { hide: number[] }[] } => ({
  replacements: [{ hide: [view.find({ first: 1 }).ordinals[0]!] }],
})
const three = [user('a'), user('b'), user('c')]

for (const [where, make] of [
  ['in memory', async (_: string, settings: Settings) => inMemory(settings)],
  ['in a store', async (url: string, settings: Settings) => open(url, 'c', { settings })],
] as const) {
  test(`a slow strategy answers with a promise while the conversation goes on: ${where}`, async t => {
    let go: (() => void) | undefined
    const going = new Promise<void>(resolve => (go = resolve))
    const plan = async (view: View) => {
      await going
      return hideFirst(view)
    }
    await using conversation = await make(temporaryStore(t), {
      strategies: { mine: { plan, slow: true } },
    })
    await conversation.append(three)
    const compressed = conversation.compress({ strategy: 'mine', targetTokens: 11 })
    await conversation.append(user('meanwhile'))
    go!()
    assert.equal((await compressed).outcome, 'compressed')
    assert.deepEqual(
      (await conversation.messages()).map(message => message.content),
      ['b', 'c', 'meanwhile'],
    )
  })

  test(`slow code may change the very conversation it is asked about: ${where}`, async t => {
    let conversation: Conversation | undefined
    const summarise = async (messages: Message[]) => {
      await conversation!.append(user('from within'))
      return {
        text: `${messages.length} messages`,
        model: 'mine',
        promptTokens: 3,
        completionTokens: 2,
      }
    }
    conversation = await make(temporaryStore(t), { summarisers: { mine: summarise } })
    await conversation.append([...Array(20).keys()].map(i => user(`message ${i} of some length`)))
    const outcome = await conversation.compress({
      strategy: { name: 'smart_summary', summariser: 'mine', keep: 2 },
    })
    assert.deepEqual(
      [outcome.receipt?.model, outcome.receipt?.cost],
      ['mine', { promptTokens: 3, completionTokens: 2 }],
    )
    const messages = await conversation.messages()
    assert.match(String(messages[0]?.content), /18 messages/)
    assert.equal(messages.at(-1)?.content, 'from within')
    await conversation.close()
  })

  test(`code that fails is a typed failure, and nothing has changed: ${where}`, async t => {
    const never = new Promise<never>(() => undefined)
    const strategies: Settings['strategies'] = {
      throws: () => {
        throw new Error('words')
      },
      throwsText: () => {
        throw 'words'
      },
      throwsHalfACharacter: () => {
        throw '\ud800'
      },
      rejectsHalfACharacter: { plan: () => Promise.reject('\ud800'), slow: true },
      throwsHalfAMessage: () => {
        throw new Error('\ud800')
      },
      throwsNothing: () => {
        throw undefined
      },
      throwsTrap: () => {
        throw {
          get message(): string {
            throw new Error('trap')
          },
        }
      },
      says: () => {
        throw new UndertextError('unavailable', 'words')
      },
      rejects: { plan: () => Promise.reject(new Error('words')), slow: true },
      rejectsNothing: { plan: () => Promise.reject(), slow: true },
      promisesQuickly: async () => undefined,
      wrongKind: () => 5 as never,
      wrongPlan: () => ({ replacements: [{ hide: [99] }] }),
      cyclicPlan: () => {
        const plan: Record<string, unknown> = {}
        plan['replacements'] = plan
        return plan as never
      },
      surrogates: () => ({ replacements: [{ hide: [0], summary: user('\ud800') }] }),
      forever: { plan: () => never, slow: true },
    }
    await using conversation = await make(temporaryStore(t), { strategies })
    await conversation.append(three)
    for (const strategy of Object.keys(strategies)) {
      if (strategy === 'forever') continue
      await assert.rejects(
        conversation.compress({ strategy, targetTokens: 1 }),
        error =>
          error instanceof UndertextError && (strategy !== 'says' || error.code === 'unavailable'),
        strategy,
      )
    }
    const hopeless = conversation.compress({ strategy: 'forever', targetTokens: 1 })
    await conversation.append(user('later'))
    conversation.cancelCompression()
    await assert.rejects(hopeless, { code: 'unavailable' })
    assert.equal(await conversation.version(), 2)
  })

  test(`a transform by a function changes all or nothing: ${where}`, async t => {
    await using conversation = await make(temporaryStore(t), {})
    await conversation.append(three)
    let calls = 0
    await assert.rejects(
      conversation.transformBy({ roles: ['user'] }, message => {
        if (++calls === 3) throw new Error('not this one')
        return message
      }),
      error => error instanceof UndertextError && error.message.includes('not this one'),
    )
    await assert.rejects(
      conversation.transformBy({ roles: ['user'] }, (async () => user('x')) as never),
      UndertextError,
    )
    await assert.rejects(
      conversation.transformBy({ roles: ['user'] }, () => ({ role: 'user' }) as never),
      UndertextError,
    )
    assert.equal(await conversation.version(), 1)
    await conversation.transformBy({ indices: [0, 2], description: 'louder' }, message => ({
      ...message,
      content: String(message.content).toUpperCase(),
    }))
    assert.deepEqual(
      (await conversation.messages()).map(message => message.content),
      ['A', 'b', 'C'],
    )
  })

  test(`a conversation compresses itself by code, in the background where that is slow: ${where}`, async t => {
    const plan = async (view: View) => {
      await sleep(1)
      const { ordinals } = view.find()
      return ordinals.length <= 2
        ? undefined
        : { replacements: [{ hide: ordinals.slice(0, -2), summary: user('short') }] }
    }
    await using conversation = await make(temporaryStore(t), {
      strategies: { mine: { plan, slow: true } },
      compressionConfig: { enabled: true, threshold: 60, targetTokens: 40, strategy: 'mine' },
    })
    const compressed = new Promise<Event>(resolve => conversation.on('COMPRESSED', resolve))
    for (let i = 0; i < 12; ++i) await conversation.append(user(`message ${i}`))
    await conversation.waitForCompression()
    assert.equal((await compressed).type, 'COMPRESSED')
    assert.ok((await conversation.messages()).length < 12)
  })
}

test('a change on the loop from within quick code is refused, and does not wait for itself', () => {
  let seen: unknown
  const conversation: MemoryConversation = new MemoryConversation({
    strategies: {
      meddles: view => {
        assert.equal(conversation.stats().totalMessages, 3)
        try {
          conversation.append(user('no'))
        } catch (error) {
          seen = error
        }
        return hideFirst(view)
      },
    },
  })
  conversation.append(three)
  conversation.compress({ strategy: 'meddles', targetTokens: 11 })
  assert.ok(seen instanceof UndertextError && seen.code === 'conflict')
  assert.equal(conversation.stats().totalMessages, 3)
})

test('quick code that is called for from another thread does not wait for the loop that waits for it', async () => {
  const conversation = inMemory({
    strategies: { mine: hideFirst },
    compressionConfig: { enabled: true, threshold: 20, targetTokens: 12, strategy: 'mine' },
  })
  // All of these go off the loop, and each sets off the strategy on it.
  await Promise.all([...Array(50).keys()].map(i => conversation.append(user(`m${i}`))))
  assert.equal((await conversation.stats()).totalMessages, 50)
  await conversation.close()
})

test('a summariser that answers nothing, and code with a name of the engine’s, are refused', async () => {
  const conversation = inMemory({ summarisers: { nothing: () => undefined as never } })
  await conversation.append(
    [...Array(20)].map((_, i) => ({
      role: 'user' as const,
      content: `message ${i} with a few words`,
    })),
  )
  await assert.rejects(
    conversation.compress({
      strategy: { name: 'smart_summary', keep: 2, summariser: 'nothing' },
      targetTokens: 60,
    }),
    { code: 'invalid_argument' },
  )
  assert.equal(await conversation.version(), 1)
  assert.throws(() => inMemory({ strategies: { sliding_window: () => undefined } }), {
    code: 'invalid_argument',
    field: 'name',
  })
  assert.throws(() => inMemory({ summarisers: { digest: () => '' } }), {
    code: 'invalid_argument',
    field: 'name',
  })
})

test('closing ends what somebody waits for in the background', async () => {
  let asked: (() => void) | undefined
  const begun = new Promise<void>(resolve => (asked = resolve))
  const never = (_: unknown, { signal }: { signal: AbortSignal }) =>
    new Promise<string>((_resolve, reject) => {
      asked?.()
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    })
  const compressionConfig = {
    enabled: true,
    threshold: 60,
    targetTokens: 40,
    strategy: { name: 'smart_summary', keep: 2, summariser: 'never' },
  }
  const conversation = inMemory({ compressionConfig, summarisers: { never } })
  await conversation.append(
    [...Array(30)].map((_, i) => ({
      role: 'user' as const,
      content: `message ${i} with a few words`,
    })),
  )
  const waited = conversation.waitForCompression()
  await begun
  await conversation.close()
  await waited
})

test('a view that was lent can be read until the answer, and not after', async () => {
  let kept: View | undefined
  const conversation = inMemory({
    strategies: {
      keeps: view => {
        kept = view
        assert.equal(view.size, 3)
        assert.equal(view.message(0).content, 'a')
        assert.throws(() => view.message(9), { code: 'not_found' })
        return undefined
      },
    },
  })
  await conversation.append(three)
  assert.equal((await conversation.compress({ strategy: 'keeps' })).outcome, 'fits')
  await assert.rejects(conversation.compress({ strategy: 'keeps', targetTokens: 1 }), {
    code: 'cannot_fit',
  })
  assert.throws(() => kept!.size, { code: 'invalid_argument' })
  await conversation.close()
})

test('many conversations may wait for slow code that itself needs threads', async () => {
  const settings: Settings = {
    summarisers: {
      looksUp: async () => {
        await lookup('localhost')
        await using other = await open('memory:', 'other')
        await other.append(user('x'))
        return 'summary'
      },
    },
  }
  const compress = async (): Promise<void> => {
    await using conversation = inMemory(settings)
    await conversation.append([...Array(20).keys()].map(i => user(`message ${i} of some length`)))
    const outcome = await conversation.compress({
      strategy: { name: 'smart_summary', summariser: 'looksUp', keep: 2 },
    })
    assert.equal(outcome.outcome, 'compressed')
  }
  await Promise.all([...Array(80)].map(compress))
})

test('closing tells slow code that nobody waits any more', async () => {
  let aborted = false
  const conversation = inMemory({
    strategies: {
      waits: {
        slow: true,
        plan: (_, { signal }) =>
          new Promise((_, reject) =>
            signal.addEventListener('abort', () => {
              aborted = true
              reject(signal.reason as Error)
            }),
          ),
      },
    },
    compressionConfig: { enabled: true, threshold: 5, strategy: 'waits' },
  })
  await conversation.append(three)
  await conversation.close()
  while (!aborted) await sleep(1)
})

test('whoever waits for a compression in the background does not keep it waiting', async () => {
  let conversation: Conversation | undefined
  const summarise = async (): Promise<string> => {
    await conversation!.append(user('from within'))
    return 'short'
  }
  conversation = inMemory({
    summarisers: { mine: summarise },
    compressionConfig: {
      enabled: true,
      threshold: 100,
      targetTokens: 90,
      strategy: { name: 'smart_summary', keep: 2, summaryTokens: 20, summariser: 'mine' },
    },
  })
  for (let i = 0; i < 16; ++i) await conversation.append(user(`message ${i} of some length`))
  await conversation.waitForCompression()
  assert.ok((await conversation.messages({ contains: 'from within' })).length > 0)
  await conversation.close()
})
