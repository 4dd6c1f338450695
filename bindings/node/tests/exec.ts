// `undertext exec` through the package: the same options, the same lines, the same answers.
import { open, inMemory, UndertextError, type Settings } from 'undertext'

function option(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? undefined : process.argv[at + 1]
}

async function* lines(): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    let from = 0
    for (let end: number; (end = chunk.indexOf(0x0a, from)) >= 0; from = end + 1) {
      yield Buffer.concat([...rest, chunk.subarray(from, end)])
      rest = []
    }
    rest.push(chunk.subarray(from))
  }
  const last = Buffer.concat(rest)
  if (last.length > 0) yield last
}

try {
  const store = option('store')
  const config = option('config')
  const settings = config === undefined ? undefined : (JSON.parse(config) as Settings)
  await using conversation =
    store === undefined
      ? inMemory(settings)
      : await open(store, option('conversation') ?? 'default', { settings })
  for await (const line of lines()) process.stdout.write((await conversation.raw(line)) + '\n')
} catch (thrown) {
  if (!(thrown instanceof UndertextError)) throw thrown
  process.stderr.write(`${thrown.code}: ${thrown.message}\n`)
  process.exitCode = 2
}
