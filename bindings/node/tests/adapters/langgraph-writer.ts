// Puts checkpoints of a growing list, and prints the id of each that was put.   langgraph-writer.js URL COUNT
import { HumanMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint'
import { openStore } from 'undertext'
import { UndertextSaver } from 'undertext/langgraph'

const [url, count] = process.argv.slice(2)
const store = await openStore(url!)
const saver = new UndertextSaver(store)
const messages: HumanMessage[] = []
let config: RunnableConfig = { configurable: { thread_id: 't' } }
let version = 0
for (let step = 1; step <= Number(count); ++step) {
  messages.push(new HumanMessage(`${process.pid} ${step - 1}`))
  version = saver.getNextVersion(version)
  const versions = { messages: version }
  const checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(step),
    channel_values: { messages },
    channel_versions: versions,
  }
  config = await saver.put(config, checkpoint, { source: 'loop', step, parents: {} }, versions)
  console.log(checkpoint.id)
}
await saver.close()
await store.close()
