import OpenAI from 'openai'
import { open } from 'undertext'

const chat = await open('sqlite:agent.db', 'support-17', { settings: { model: 'gpt-5', compressionConfig: { enabled: true } } })
for (const content of ['Why is the build red?', 'Please fix it.', 'Which files are affected?']) {
  await chat.append({ role: 'user', content })
  await chat.appendResponse(await new OpenAI().chat.completions.create({ model: 'gpt-5', ...(await chat.render()).request }))
}
await chat.compress({ strategy: { name: 'keep_recent', n: 2 } }) // by itself, too, before the model's window is full
console.log((await chat.count()).count, 'messages left;', (await chat.undo()) && (await chat.count()).count, 'again')
