// Asks a worker for a request.

import { token } from '../state'
import type { Asked, Reading } from './reading'
import type { Told } from './worker'

export function readRequest(asked: Asked): Promise<Reading> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })
  return new Promise<Reading>((done, fail) => {
    worker.onmessage = ({ data }: MessageEvent<Told>) =>
      'error' in data ? fail(new Error(data.error)) : done(data.reading)
    worker.onerror = () => fail(new Error('The request could not be read.'))
    worker.postMessage({ ...asked, token: token.value })
  }).finally(() => worker.terminate())
}
