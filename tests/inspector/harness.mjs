// A server with a store of its own, and a browser to look at it with.
//
// UNDERTEXT_PROGRAM      the undertext to test
// UNDERTEXT_SCREENSHOTS  a folder for pictures, if they are wanted
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const require = createRequire(join(root, 'inspector/package.json'))
const { chromium } = require('playwright-core')
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')
const program = process.env.UNDERTEXT_PROGRAM
const screenshots = process.env.UNDERTEXT_SCREENSHOTS

export async function startServer({
  sample = true,
  tokens = false,
  listen = '127.0.0.1:0',
  folder = mkdtempSync(join(tmpdir(), 'undertext-inspector-')),
  docs,
} = {}) {
  const store = `sqlite:${join(folder, 'store.db')}`
  if (sample) run(join(root, 'scripts/sample'), [program, store])
  const tokenFile = join(folder, 'tokens')
  const token = tokens
    ? run(program, [
        'token',
        'make',
        'page',
        '--tenant',
        'default',
        '--rights',
        'read,write',
        '--tokens',
        tokenFile,
      ]).trim()
    : null
  // A data folder of its own: tokens that the user of this machine has made are not for this server.
  const environment = {
    ...process.env,
    XDG_DATA_HOME: join(folder, 'data'),
    XDG_CONFIG_HOME: join(folder, 'config'),
  }
  const child = spawn(
    program,
    [
      'serve',
      '--quiet',
      '--store',
      store,
      '--listen',
      listen,
      ...(tokens ? ['--tokens', tokenFile] : []),
      ...(docs ? ['--docs', docs] : []),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], env: environment },
  )
  const url = /https?:\/\/[^\s/]+/.exec(await address(child))[0]
  return {
    url,
    token,
    folder,
    make: (id, config) =>
      run(program, ['new', id, '--store', store, '--config', JSON.stringify(config)]),
    revoke: () => run(program, ['token', 'revoke', 'page', '--tokens', tokenFile]),
    api: (method, path, body) => api(url, token, method, path, body),
    async stop({ keep = false } = {}) {
      await end(child)
      if (!keep) rmSync(folder, { recursive: true, force: true })
    },
  }
}

// `undertext open` with the sessions of this home. `path` has its token.
export async function openSessions(home) {
  const child = spawn(program, ['open', '--no-browser'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env.PATH, HOME: home },
  })
  const [, url, path, token] = /^(https?:\/\/[^\s/]+)(\/#token=([\w-]+))$/.exec(
    await address(child),
  )
  return {
    url,
    path,
    token,
    api: (method, path, body) => api(url, token, method, path, body),
    stop: () => end(child),
  }
}

function address(child) {
  return new Promise((done, fail) => {
    createInterface({ input: child.stdout }).on(
      'line',
      text => /https?:\/\/\S+/.test(text) && done(text),
    )
    child.on('exit', status => fail(new Error(`the server ended with ${status}`)))
  })
}

async function end(child) {
  const ended = new Promise(done => child.on('exit', done))
  child.kill('SIGTERM')
  await ended
}

function run(command, parameters) {
  const done = spawnSync(command, parameters, { encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`${command} ${parameters.join(' ')}: ${done.stderr}`)
  return done.stdout
}

async function api(url, token, method, path, body) {
  const headers = {
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(token ? { Authorization: `Bearer ${token}` } : {}),
  }
  const reply = await fetch(url + path, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  const answer = await reply.json()
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(answer)}`)
  return answer.result ?? answer
}

export const operations = id => `/v1/conversations/${id}/operations`
export const sampleId = 'nightly-export'

export function startBrowser() {
  const switches = [
    '--no-sandbox',
    '--disable-dev-shm-usage',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ]
  return chromium.launch({
    executablePath: process.env.UNDERTEXT_CHROMIUM ?? '/usr/bin/chromium',
    args: switches,
  })
}

// A page that keeps what must not happen: errors, refusals by the policy, requests to anywhere else.
export async function openPage(
  browser,
  server,
  { path = '/', theme = 'light', viewport = { width: 1440, height: 900 }, prepare } = {},
) {
  const context = await browser.newContext({
    viewport,
    colorScheme: theme,
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const faults = []
  page.on('pageerror', error => faults.push(`error: ${error.stack}`))
  page.on(
    'console',
    message =>
      message.type() === 'error' &&
      !/status of 4\d\d/.test(message.text()) &&
      faults.push(`console: ${message.text()}`),
  )
  page.on('dialog', dialog => (faults.push(`dialog: ${dialog.message()}`), dialog.dismiss()))
  page.on('request', request => {
    const asked = request.url()
    if (!asked.startsWith(server.url) && !asked.startsWith('data:'))
      faults.push(`foreign request: ${asked}`)
  })
  await page.addInitScript(() => {
    window.__refused = []
    document.addEventListener('securitypolicyviolation', event =>
      window.__refused.push(`${event.violatedDirective} ${event.blockedURI}`),
    )
  })
  await prepare?.(page)
  await page.goto(server.url + path)
  return {
    page,
    context,
    faults: async () => [...faults, ...(await page.evaluate(() => window.__refused))],
  }
}

export const firstCard = page => page.waitForSelector('.card:not(.card-waits)')
export const atVersion = (page, text) =>
  page.waitForFunction(
    wanted => document.querySelector('.badge.version')?.textContent === wanted,
    text,
  )

// What axe finds, one line each. The page's own policy would refuse a script of ours, so axe comes in by the debugger.
export async function axe(page) {
  await page.evaluate(axeSource + '; undefined')
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }))
  return found.violations.flatMap(violation =>
    violation.nodes.map(
      node => `${violation.id}: ${node.target.join(' ')}: ${node.failureSummary}`,
    ),
  )
}

export async function picture(page, name) {
  if (!screenshots) return
  mkdirSync(screenshots, { recursive: true })
  await page.screenshot({ path: join(screenshots, `${name}.png`) })
}
