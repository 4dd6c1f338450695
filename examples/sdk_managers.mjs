import { ContextProcessorNodeHandler, ConversationManager, EventType } from 'undertext/sdk'

const conversation = new ConversationManager({ tokenLimit: 50 })
conversation.on(EventType.TOKEN_LIMIT_EXCEEDED, ({ tokenLimit }) => console.log('more than', tokenLimit, 'tokens'))
conversation.addMessages(
  { role: 'system', content: 'You plan trips.' },
  { role: 'user', content: 'Two days in Rome.' },
  { role: 'assistant', content: 'Gladly! What do you like: ruins, museums, or food?' },
  { role: 'user', content: 'Food.' },
)
console.log(conversation.getRecentMessagesByRole('user', 1))

// A hint for one request, which is gone afterwards.
const handler = new ContextProcessorNodeHandler()
await handler.handleContextOperation(conversation, 'batch_start', [4])
await handler.handleContextOperation(conversation, 'insert', [], { role: 'system', content: 'Answer in one sentence, please.' })
console.log(conversation.getMessages().length, 'messages are sent')
await handler.handleContextOperation(conversation, 'batch_end', [0])

// A node that keeps what the user said; nothing is lost by it.
const { operation, messageCount } = await handler.execute(conversation, { operation: 'truncate', truncate: { role: 'user', keepLast: 5 } })
console.log(operation, 'leaves', messageCount)
conversation.rollbackToBatch(0)
console.log(conversation.getMarkMap().originalIndices)
