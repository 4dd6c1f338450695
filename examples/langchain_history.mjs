import { ChatPromptTemplate, MessagesPlaceholder } from '@langchain/core/prompts'
import { RunnableWithMessageHistory } from '@langchain/core/runnables'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { openStore } from 'undertext'
import { UndertextChatMessageHistory } from 'undertext/langchain'

const store = await openStore('memory:') // or sqlite:PATH, postgres://…
const prompt = ChatPromptTemplate.fromMessages([new MessagesPlaceholder('history'), ['human', '{input}']])
const model = new FakeListChatModel({ responses: ['Hello Ann.', 'You are Ann.'] })
const chat = new RunnableWithMessageHistory({
  runnable: prompt.pipe(model),
  getMessageHistory: async (id) => new UndertextChatMessageHistory(await store.open(id)),
  inputMessagesKey: 'input',
  historyMessagesKey: 'history',
})
const config = { configurable: { sessionId: 'ann' } }
await chat.invoke({ input: 'I am Ann.' }, config)
await chat.invoke({ input: 'Who am I?' }, config)

// The same conversation, through the engine: count it, compress it, look at any version of it.
const conversation = await store.open('ann')
await conversation.compress({ indices: [0, 1], summary: { role: 'system', content: 'The user is Ann.' } })
const history = new UndertextChatMessageHistory(conversation)
for (const message of await history.getMessages()) console.log(`${message.getType()}: ${message.content}`)

await history.clear()
console.log(`${(await history.getMessages()).length} after clear(), ${(await conversation.messages({ all: true })).length} in the log`)
await conversation.close()
await store.close()
