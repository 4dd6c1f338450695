// Reads one request for its page, and ends with it.

import { Client } from '../api/client'
import { read, type Asked } from './reading'

export type Told = { reading: Awaited<ReturnType<typeof read>> } | { error: string }

const scope = self as unknown as {
  onmessage: (event: MessageEvent<Asked & { token: string | null }>) => void
  postMessage: (told: Told) => void
}

scope.onmessage = ({ data: { token, ...asked } }) => {
  const client = new Client({ token: () => token, onUnauthorized: () => {} })
  read(client, asked).then(
    reading => scope.postMessage({ reading }),
    (error: unknown) =>
      scope.postMessage({ error: error instanceof Error ? error.message : String(error) }),
  )
}
