// Run by clients.py with the official client for TypeScript of the stateless era, as peer_python.py.   peer_typescript_v2.mjs MODE TARGET CALLS
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const mode = process.argv[2]
const [target, calls] = process.argv.slice(3).map(word => JSON.parse(word))
const transport = target.url
  ? new StreamableHTTPClientTransport(new URL(target.url), {
      requestInit: { headers: { Authorization: `Bearer ${target.token}` } },
    })
  : new StdioClientTransport({
      command: target.command[0],
      args: target.command.slice(1),
      cwd: target.cwd,
      env: target.env,
    })

const negotiated = mode === 'legacy' || mode === 'auto' ? mode : { pin: mode }
const client = new Client(
  { name: 'undertext-test', version: '1' },
  { versionNegotiation: { mode: negotiated } },
)
await client.connect(transport)
const tools = (await client.listTools()).tools.map(tool => tool.name)
const texts = []
for (const [name, args] of calls) {
  const result = await client.callTool({ name, arguments: args })
  texts.push([result.isError ?? false, result.content[0].text])
}
const resources = (await client.listResources()).resources.map(resource => resource.uri)
const templates = (await client.listResourceTemplates()).resourceTemplates.map(
  template => template.uriTemplate,
)
const read = (await client.readResource({ uri: resources[0] })).contents[0].text
console.log(
  JSON.stringify({
    version: client.getNegotiatedProtocolVersion() ?? null,
    tools,
    calls: texts,
    resources,
    templates,
    read,
  }),
)
await client.close()
