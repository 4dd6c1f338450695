// The routes of docs/server.md as functions. Whatever goes wrong is an ApiError with the server's own code and words.

import { parseExact } from './json'
import type * as t from './types'

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly body: t.ErrorBody,
  ) {
    super(body.message)
  }

  get isConflict(): boolean {
    return this.body.code === 'conflict'
  }
}

export type Parameters = Record<string, string | number | boolean | undefined>

function queryString(parameters: Parameters): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) search.set(name, String(value))
  const text = search.toString()
  return text && '?' + text
}

export interface Connection {
  token: () => string | null
  onUnauthorized: () => void
}

type Answer = { ok?: boolean; error?: t.ErrorBody; result?: unknown } & Record<string, unknown>

export class Client {
  constructor(
    private readonly connection: Connection,
    private readonly base = '',
  ) {}

  headers(more: Record<string, string> = {}): Record<string, string> {
    const token = this.connection.token()
    return {
      Accept: 'application/json',
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
      ...more,
    }
  }

  unauthorized(): void {
    this.connection.onUnauthorized()
  }

  // `body` is JSON text, so that what a user wrote is sent as it was written.
  async call(method: string, path: string, body?: string, signal?: AbortSignal): Promise<Answer> {
    const init: RequestInit = {
      method,
      headers: this.headers(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    }
    if (body !== undefined) init.body = body
    if (signal) init.signal = signal
    const response = await fetch(this.base + path, init)
    return this.read(response)
  }

  private async read(response: Response): Promise<Answer> {
    const text = await response.text()
    let answer: Answer = {}
    try {
      answer = parseExact(text) as Answer
    } catch {
      // Not from the server itself, but from something between.
    }
    if (response.ok && answer.ok !== false) return answer
    if (response.status === 401) this.unauthorized()
    throw new ApiError(
      response.status,
      answer.error ?? { code: 'unavailable', message: `the server answered ${response.status}` },
    )
  }

  private async get<T>(
    path: string,
    parameters: Parameters = {},
    signal?: AbortSignal,
  ): Promise<T> {
    const answer = await this.call('GET', path + queryString(parameters), undefined, signal)
    return (answer.result ?? answer) as T
  }

  private async post<T>(path: string, body: string): Promise<T> {
    const answer = await this.call('POST', path, body)
    return (answer.result ?? answer) as T
  }

  // The newest first, where the server can sort them.
  async list(
    search: string,
    after?: string,
    limit = 50,
  ): Promise<{ conversations: t.ListedConversation[]; next?: string }> {
    const asked = { limit, search: search || undefined, after }
    try {
      return await this.get('/v1/conversations', { ...asked, order: 'newest' })
    } catch (error) {
      if (error instanceof ApiError && error.body.code === 'too_large')
        return this.get('/v1/conversations', asked)
      throw error
    }
  }
  // As many as a page can sum up.
  async listAll(): Promise<t.ListedConversation[]> {
    const all: t.ListedConversation[] = []
    let after: string | undefined
    do {
      const page = await this.list('', after, 1000)
      all.push(...page.conversations)
      after = page.next
    } while (after !== undefined && all.length < 10_000)
    return all
  }
  recall(id: string, text: string): Promise<t.Recalled> {
    return this.get(path(id, 'recall'), { text, all: true })
  }
  recallEverywhere(text: string, limit: number): Promise<t.StoreRecalled> {
    return this.get('/v1/recall', { text, limit })
  }
  create(made: t.NewConversation): Promise<t.Reference> {
    return this.post('/v1/conversations', JSON.stringify(made))
  }
  conversation(id: string): Promise<t.Conversation> {
    return this.get(path(id))
  }
  rows(
    id: string,
    parameters: { atVersion?: number; start?: number; end?: number; ordinals?: string },
    signal?: AbortSignal,
  ): Promise<t.Rows> {
    return this.get(path(id, 'rows'), parameters, signal)
  }
  // An answer that would be very large ends early; this goes on until all are there.
  async allRows(
    id: string,
    atVersion: number,
    start: number,
    end: number,
    signal: AbortSignal,
  ): Promise<t.Row[]> {
    const rows: t.Row[] = []
    for (let next: number | undefined = start; next !== undefined && next < end; ) {
      const answer: t.Rows = await this.rows(id, { atVersion, start: next, end }, signal)
      rows.push(...answer.rows)
      next = answer.rows.length ? answer.next : undefined
    }
    return rows
  }
  history(id: string, before?: number, limit = 1000): Promise<t.VersionEntry[]> {
    return this.get(path(id, 'history'), { before, limit })
  }
  timeline(id: string, points: number): Promise<t.TimelinePoint[]> {
    return this.get(path(id, 'timeline'), { points })
  }
  diff(id: string, from: number, to: number): Promise<t.Diff> {
    return this.get(path(id, 'diff'), { from, to })
  }
  blame(id: string, ordinal: number): Promise<t.Blame> {
    return this.get(path(id, `blame/${ordinal}`))
  }
  batches(id: string): Promise<t.Batch[]> {
    return this.get(path(id, 'batches'))
  }
  receipts(id: string): Promise<t.Receipt[]> {
    return this.get(path(id, 'receipts'))
  }
  tokens(id: string, atVersion: number | undefined, perMessage: boolean): Promise<t.TokenCounts> {
    return this.get(path(id, 'tokens'), { atVersion, perMessage })
  }
  dialects(): Promise<t.Dialects> {
    return this.get('/v1/dialects')
  }
  render(
    id: string,
    parameters: { dialect?: string; profile?: string; atVersion?: number },
  ): Promise<t.Rendered> {
    return this.get(path(id, 'render'), parameters)
  }
  requests(
    id: string,
    asked: { first?: number; limit?: number; last?: number },
  ): Promise<t.RequestRecord[]> {
    return this.get(path(id, 'requests'), asked)
  }
  request(id: string, number: number): Promise<t.WholeRequest> {
    return this.get(path(id, `requests/${number}`))
  }
  cacheBreak(id: string, number: number, against?: number): Promise<t.ComparedRequest> {
    return this.get(path(id, `requests/${number}/cache-break`), { against })
  }
  ledger(id: string): Promise<t.Ledger> {
    return this.get(path(id, 'ledger'), { turns: false })
  }
  async turns(id: string): Promise<t.LedgerTurn[]> {
    const ledger: t.Ledger = await this.get(path(id, 'ledger'), { turns: true })
    return ledger.turns ?? []
  }
  storeLedger(): Promise<t.LedgerRow[]> {
    return this.get('/v1/ledger')
  }
  find(
    id: string,
    contains: string,
    atVersion: number,
    first: number,
  ): Promise<{ ordinals: number[] }> {
    return this.get(path(id, 'messages'), { contains, atVersion, first })
  }
  preview(id: string, body: string): Promise<t.Preview> {
    return this.post(path(id, 'preview'), body)
  }
  async operate(id: string, body: string): Promise<t.Outcome[]> {
    const answer = await this.call('POST', path(id, 'operations'), body)
    return (answer.results ?? [answer]) as t.Outcome[]
  }
  compress(id: string, body: string): Promise<unknown> {
    return this.post(path(id, 'compressions'), body)
  }
  fork(id: string, as: string, version: number): Promise<{ id: string }> {
    return this.post(path(id, 'fork'), JSON.stringify({ ...(as ? { id: as } : {}), version }))
  }
}

export function path(id: string, what?: string): string {
  return `/v1/conversations/${encodeURIComponent(id)}${what ? '/' + what : ''}`
}
