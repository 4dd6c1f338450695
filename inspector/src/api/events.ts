// The events of a conversation, followed for as long as it is looked at. A line that breaks is taken up again where it was.

import { path, type Client } from './client'
import { EventParser, type ServerEvent } from './sse'

export type LineState = 'connecting' | 'live' | 'waiting'

export interface Listener {
  onEvent(event: ServerEvent): void
  onState(state: LineState): void
}

const patienceMs = { first: 500, most: 15_000 }

export function follow(client: Client, id: string, after: number, listener: Listener): () => void {
  const stop = new AbortController()
  void run(client, id, after, listener, stop.signal)
  return () => stop.abort()
}

async function run(
  client: Client,
  id: string,
  after: number,
  listener: Listener,
  signal: AbortSignal,
): Promise<void> {
  let last = String(after)
  let wait = patienceMs.first
  while (!signal.aborted) {
    listener.onState('connecting')
    try {
      const headers = client.headers({ Accept: 'text/event-stream', 'Last-Event-ID': last })
      const response = await fetch(path(id, 'events'), { headers, signal, cache: 'no-store' })
      if (response.status === 401) return client.unauthorized()
      if (response.status === 404) return listener.onState('waiting') // taken out
      if (response.ok && response.body) {
        listener.onState('live')
        wait = patienceMs.first
        await read(response.body, event => {
          if (event.id) last = event.id
          listener.onEvent(event)
        })
      }
    } catch {
      if (signal.aborted) return
    }
    listener.onState('waiting')
    await pause(wait, signal)
    wait = Math.min(wait * 2, patienceMs.most)
  }
}

async function read(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: ServerEvent) => void,
): Promise<void> {
  const parser = new EventParser()
  const decoder = new TextDecoder()
  const reader = body.getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    for (const event of parser.push(decoder.decode(value, { stream: true }))) onEvent(event)
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(done => {
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), done()), { once: true })
  })
}
