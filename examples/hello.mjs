import { inMemory } from 'undertext'

const conversation = inMemory()
await conversation.append([
  { role: 'system', content: 'You fix bugs.' },
  { role: 'user', content: 'The build is red.' },
  { role: 'assistant', content: 'A test fails in parser.cpp.' },
  { role: 'user', content: 'Please fix it.' },
])

// Compress what is old. Nothing is lost: the summary knows what it stands for.
await conversation.compress({ indices: [1, 2], summary: { role: 'user', content: '(Red build: parser.cpp.)' } })
for (const { role, content } of await conversation.messages()) console.log(`${role}: ${content}`)

// Go back to before it. Every version stays readable.
await conversation.rollback(0)
const before = await conversation.messages({ atVersion: 2 })
console.log(`${(await conversation.stats()).currentBatchMessages} messages again; version 2 had ${before.length}`)
await conversation.close()
