import { AIMessage, HumanMessage } from '@langchain/core/messages'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { openStore } from 'undertext'
import { UndertextSaver } from 'undertext/langgraph'

const store = await openStore('memory:') // or sqlite:PATH, postgres://…
const checkpointer = new UndertextSaver(store)
const graph = new StateGraph(MessagesAnnotation)
  .addNode('echo', ({ messages }) => ({ messages: [new AIMessage(`You said: ${messages.at(-1).content}`)] }))
  .addEdge(START, 'echo')
  .addEdge('echo', END)
  .compile({ checkpointer })

const config = { configurable: { thread_id: 'thread-1' } }
for (const said of ['one', 'two', 'three']) await graph.invoke({ messages: [new HumanMessage(said)] }, config)

let checkpoints = 0
for await (const _ of checkpointer.list(config)) ++checkpoints

// The messages of the thread are a conversation, of which each checkpoint names a version.
const messages = await store.open('langgraph-js.thread-1.0.messages')
const { totalMessages, tokens } = await messages.stats()
console.log(`${checkpoints} checkpoints, ${totalMessages} messages stored, ${tokens} tokens`)
const [question] = await messages.messages({ role: 'user', last: 1 })
console.log(question.content)

await messages.close()
await checkpointer.close()
await store.close()
