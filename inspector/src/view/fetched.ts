// Something that is fetched, and fetched again when what it depends on changes. The last answer stays until the next one is there.

import { useEffect, useState } from 'preact/hooks'

export interface Fetched<T> {
  value: T | null
  error: string
}

export function useFetched<T>(fetch: () => Promise<T>, on: unknown[], delayMs = 0): Fetched<T> {
  const [fetched, setFetched] = useState<Fetched<T>>({ value: null, error: '' })
  useEffect(() => {
    let isWanted = true
    const timer = setTimeout(() => {
      fetch().then(
        value => isWanted && setFetched({ value, error: '' }),
        (error: unknown) =>
          isWanted &&
          setFetched({
            value: null,
            error: error instanceof Error ? error.message : String(error),
          }),
      )
    }, delayMs)
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, on)
  return fetched
}
