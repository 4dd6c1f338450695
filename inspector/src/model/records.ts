// The requests of a conversation that are known: an unbroken stretch that ends with the newest.

import type { RequestRecord } from '../api/types'

export type RecordFetch = (asked: {
  first?: number
  limit?: number
  last?: number
}) => Promise<RequestRecord[]>

const page = 100

export class Records {
  known: RequestRecord[] = [] // the oldest first
  private isLoaded = false

  constructor(private readonly fetch: RecordFetch) {}

  get hasOlder(): boolean {
    return (this.known[0]?.number ?? 1) > 1
  }

  // The newest, or what has been recorded since. Returns whether there is anything new.
  async catchUp(): Promise<boolean> {
    const found = this.isLoaded ? await this.since() : await this.fetch({ last: page })
    const isNews = found.length > 0 || !this.isLoaded
    this.isLoaded = true
    const last = this.known.at(-1)?.number ?? 0
    this.known = [...this.known, ...found.filter(({ number }) => number > last)]
    return isNews
  }

  private async since(): Promise<RequestRecord[]> {
    const found: RequestRecord[] = []
    for (;;) {
      const first = (found.at(-1) ?? this.known.at(-1))?.number ?? 0
      const more = await this.fetch({ first: first + 1, limit: page })
      found.push(...more)
      if (more.length < page) return found
    }
  }

  async older(): Promise<void> {
    const end = this.known[0]?.number ?? 1
    const first = Math.max(1, end - page)
    const found = await this.fetch({ first, limit: end - first })
    this.known = [...found.filter(({ number }) => number < end), ...this.known]
  }
}
