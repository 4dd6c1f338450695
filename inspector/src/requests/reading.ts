// A request with everything its page shows. Requests may have many megabytes: they are fetched, parsed and compared in a worker.

import type { Client } from '../api/client'
import type { CacheBreak, RequestRecord, WholeRequest } from '../api/types'
import { excerpt, type ShownChange } from '../model/excerpt'
import { jsonDiff } from '../model/json_diff'
import { isObject } from '../model/json_path'
import { longForm } from '../model/long_form'
import { parsed, rawText, type RawText } from '../model/raw_text'

export interface Comparison {
  against: number
  cache: CacheBreak
  changes: ShownChange[]
  changesLeftOut: number
}

export interface Reading {
  record: RequestRecord
  request: RawText | null
  answer: RawText | null
  comparison: Comparison | null // null: there is nothing to compare it with
  notCompared: string // why that failed
  hasLater: boolean
}

export interface Asked {
  id: string
  number: number
  against: number | null // null: the last one of its kind
}

const changesMax = 200

export async function read(client: Client, { id, number, against }: Asked): Promise<Reading> {
  const { request, requestBase64, answer, answerBase64, ...record } = await client.request(
    id,
    number,
  )
  return {
    record,
    request: rawText(request, requestBase64),
    answer: rawText(answer, answerBase64),
    ...(await compared(client, id, record, request, against)),
    hasLater: (await client.requests(id, { first: number + 1, limit: 1 })).length > 0,
  }
}

// A comparison that fails, such as with a request that does not exist, leaves the rest of the page as it is.
async function compared(
  client: Client,
  id: string,
  record: RequestRecord,
  request: string | undefined,
  against: number | null,
): Promise<Pick<Reading, 'comparison' | 'notCompared'>> {
  try {
    const { against: other, at } = await client.cacheBreak(id, record.number, against ?? undefined)
    return {
      comparison:
        other === undefined ? null : compare(record, request, await client.request(id, other), at),
      notCompared: '',
    }
  } catch (error) {
    return { comparison: null, notCompared: error instanceof Error ? error.message : String(error) }
  }
}

function compare(
  record: RequestRecord,
  request: string | undefined,
  other: WholeRequest,
  cache: CacheBreak,
): Comparison | null {
  const [before, after] = [parsed(other.request ?? ''), parsed(request ?? '')]
  if (!isObject(before) || !isObject(after)) return null
  const changes = jsonDiff(
    longForm(other.dialect ?? '', before),
    longForm(record.dialect ?? '', after),
  )
  return {
    against: other.number,
    cache,
    changes: changes.slice(0, changesMax).map(excerpt),
    changesLeftOut: Math.max(0, changes.length - changesMax),
  }
}
