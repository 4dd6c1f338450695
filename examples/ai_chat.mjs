import { convertToModelMessages, validateUIMessages } from 'ai'
import { openStore } from 'undertext'
import { UIMessageStore } from 'undertext/ai'

const store = await openStore('memory:') // or sqlite:PATH, postgres://…
const chats = new UIMessageStore(store)
const say = (id, role, text) => ({ id, role, parts: [{ type: 'text', text }] })

const question = say('1', 'user', 'Hello')
await chats.save('chat-1', [question, say('2', 'assistant', 'Hi.')])
const first = await chats.loadVersion('chat-1')

// The user wants another answer. Only what changed is stored, and the first answer is still there.
await chats.save('chat-1', [question, say('3', 'assistant', 'Good morning.')], { expectedVersion: first.version })

const messages = await validateUIMessages({ messages: await chats.load('chat-1') })
for (const { role, content } of await convertToModelMessages(messages)) console.log(`${role}: ${content[0].text}`)

const conversation = await store.open('chat-1')
for (const { version, operation } of await conversation.history()) console.log(version, operation)
console.log((await conversation.messages({ atVersion: first.version })).map(({ id }) => id).join())
await conversation.close()
await chats.close()
await store.close()
