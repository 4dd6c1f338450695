// Run by clients.py with the official client for TypeScript, as peer_python.py.   peer_typescript.mjs MODE TARGET CALLS
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

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
let version = null
transport.setProtocolVersion ??= () => {}
const told = transport.setProtocolVersion.bind(transport)
transport.setProtocolVersion = negotiated => told((version = negotiated))

const client = new Client({ name: 'undertext-test', version: '1' })
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
await client.ping()
console.log(JSON.stringify({ version, tools, calls: texts, resources, templates, read }))
await client.close()
