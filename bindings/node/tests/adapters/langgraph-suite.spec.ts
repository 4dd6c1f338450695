// LangGraph's published suite for checkpointers, as its authors run it: with vitest.
import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore, type Store } from 'undertext'
import { UndertextSaver } from 'undertext/langgraph'

const opened = new Map<UndertextSaver, { store: Store; folder: string }>()

const initializer = {
  checkpointerName: 'undertext/langgraph',
  async createCheckpointer(): Promise<UndertextSaver> {
    const folder = await mkdtemp(join(tmpdir(), 'undertext-langgraph-'))
    const store = await openStore(`sqlite:${join(folder, 'store.db')}`)
    const saver = new UndertextSaver(store)
    opened.set(saver, { store, folder })
    return saver
  },
  async destroyCheckpointer(saver: UndertextSaver): Promise<void> {
    const { store, folder } = opened.get(saver)!
    await saver.close()
    await store.close()
    await rm(folder, { recursive: true })
  },
}

validate(initializer)
deltaChannelHistoryTests(initializer)
