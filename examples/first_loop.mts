import OpenAI from 'openai'
import { open } from 'undertext'

const [client, model] = [new OpenAI(), 'gpt-5']
const chat = await open('sqlite:agent.db', 'support-17', { settings: { model, compressionConfig: { enabled: true } } })
for (const content of ['Why is the build red?', 'Please fix it.', 'Which files are affected?']) {
  await chat.append({ role: 'user', content })
  await chat.appendResponse(await client.chat.completions.create({ model, ...(await chat.render()).request }))
}
await chat.compress({ strategy: { name: 'keep_recent', n: 2 } }) // by itself, too, before the model's window is full
console.log((await chat.count()).count, 'messages left;', (await chat.undo()).stats.currentBatchMessages, 'again')
