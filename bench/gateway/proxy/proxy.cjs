// A reverse proxy of http-proxy, with kept connections.   proxy.cjs UPSTREAM PACKAGES      prints the port
const http = require('node:http');
const { createRequire } = require('node:module');

const [upstream, packages] = process.argv.slice(2);
const { createProxyServer } = createRequire(packages + '/')('http-proxy');
const server = createProxyServer({ target: upstream, agent: new http.Agent({ keepAlive: true }) }).listen(0, '127.0.0.1');
server._server.on('listening', () => console.log(server._server.address().port));
