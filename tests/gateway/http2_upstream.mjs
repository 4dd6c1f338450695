// An upstream that speaks HTTP/2 over TLS.   node http2_upstream.mjs CERTIFICATE KEY      prints its port
import { readFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'

const [certificate, key] = process.argv.slice(2)
const server = createSecureServer({ cert: readFileSync(certificate), key: readFileSync(key) })
server.on('sessionError', () => {})
const sockets = []
server.on('connection', socket => sockets.push(socket))
server.on('stream', (stream, headers) => {
  const pieces = []
  stream.on('error', () => {})
  stream.on('data', piece => pieces.push(piece))
  stream.on('end', () => {
    const path = headers[':path']
    if (path === '/reset' || path === '/cut') {
      stream.respond({ ':status': 200 })
      stream.end = () => stream // which close() would call, and so end the answer properly
      const tear =
        path === '/cut' ? () => sockets.forEach(socket => socket.destroy()) : () => stream.close(2)
      return stream.write('half', () => setTimeout(tear, 50))
    }
    if (path === '/refused') return stream.close(7)
    stream.respond({ ':status': 200, 'content-type': 'application/json', 'x-kept': 'yes' })
    if (path === '/much') {
      for (let i = 0; i < 64; ++i) stream.write(Buffer.alloc(1 << 20, 97 + (i % 26)))
      return stream.end()
    }
    const body = Buffer.concat(pieces)
    stream.end(
      JSON.stringify({ headers, size: body.length, session: stream.session.socket.remotePort }),
    )
  })
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
