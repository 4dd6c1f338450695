// Programs that end by themselves: run as processes of their own.
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'
import { inMemory, MemoryConversation, open } from 'undertext'

const [what, url = 'memory:'] = isMainThread
  ? process.argv.slice(2)
  : ['in a worker', (workerData as { url: string }).url]
const user = (content: string) => ({ role: 'user', content }) as const
const never = { slow: true, plan: () => new Promise<undefined>(() => undefined) }

switch (what) {
  case 'listens': {
    const conversation = inMemory()
    conversation.on('*', () => undefined)
    void (async () => {
      for await (const event of conversation.events()) void event
    })()
    void conversation.append(user('a'))
    break
  }
  case 'leaves work behind': {
    const conversation = await open(url)
    for (let i = 0; i < 20; ++i) void conversation.append(user(`m${i}`))
    break
  }
  case 'exits at once': {
    const conversation = await open(url, 'c', {
      settings: {
        strategies: { never },
        compressionConfig: { enabled: true, threshold: 1, strategy: 'never' },
      },
    })
    await conversation.append(user('a'))
    void conversation.append(user('b'))
    process.exit(0)
  }
  case 'waits for code that never answers': {
    const conversation = inMemory({ strategies: { never } })
    await conversation.append([user('a'), user('b')])
    void conversation.compress({ strategy: 'never', targetTokens: 1 })
    setTimeout(() => process.exit(0), 20)
    break
  }
  case 'in a worker': {
    const conversation = await open(url, 'shared')
    for (let i = 0; i < 10; ++i) await conversation.append(user(`m${i}`))
    new MemoryConversation().on('*', () => undefined)
    const { stats } = await conversation.append(user('last'))
    await conversation.close()
    parentPort?.postMessage(stats.totalMessages)
    break
  }
  case 'has workers': {
    const totals = [...Array(4)].map(
      () =>
        new Promise<number>((resolve, reject) => {
          const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { url } })
          worker.once('message', resolve).once('error', reject)
        }),
    )
    console.log(Math.max(...(await Promise.all(totals))))
    break
  }
  case 'ends workers': {
    for (let i = 0; i < 5; ++i) {
      const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { url } })
      worker.once('message', () => undefined)
      await new Promise(resolve => setTimeout(resolve, 10 + 20 * i))
      await worker.terminate()
    }
    break
  }
  default:
    throw new Error(`unknown: ${what}`)
}
