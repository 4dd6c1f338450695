// A request with everything its page shows. Requests may have many megabytes: they are fetched, parsed and compared in a worker.

import type { Client } from '../api/client';
import type { RequestRecord, WholeRequest } from '../api/types';
import { cacheBreak, longForm, type CacheBreak } from '../model/cache_break';
import { excerpt, type ShownChange } from '../model/excerpt';
import { jsonDiff } from '../model/json_diff';
import { isObject } from '../model/json_path';
import { parsed, rawText, type RawText } from '../model/raw_text';
import { comparedWith } from '../model/records';

export interface Comparison {
  against: number;
  cache: CacheBreak;
  changes: ShownChange[];
  changesLeftOut: number;
}

export interface Reading {
  record: RequestRecord;
  request: RawText | null;
  answer: RawText | null;
  comparison: Comparison | null; // null: there is nothing to compare it with
  hasLater: boolean;
}

export interface Asked {
  id: string;
  number: number;
  against: number | null; // null: the last one of its kind
}

const lookBack = 100;
const changesMax = 200;

export async function read(client: Client, { id, number, against }: Asked): Promise<Reading> {
  const { request, requestBase64, answer, answerBase64, ...record } = await client.request(id, number);
  const other = against ?? comparedWith(record, await earlier(client, id, number));
  return {
    record,
    request: rawText(request, requestBase64),
    answer: rawText(answer, answerBase64),
    comparison: other === null || other === number ? null : compare(record, request, await client.request(id, other)),
    hasLater: (await client.requests(id, { first: number + 1, limit: 1 })).length > 0,
  };
}

async function earlier(client: Client, id: string, number: number): Promise<RequestRecord[]> {
  const first = Math.max(1, number - lookBack);
  return first < number ? client.requests(id, { first, limit: number - first }) : [];
}

function compare(record: RequestRecord, request: string | undefined, other: WholeRequest): Comparison | null {
  const [before, after] = [parsed(other.request ?? ''), parsed(request ?? '')];
  if (!isObject(before) || !isObject(after)) return null;
  const changes = jsonDiff(longForm(other.dialect ?? '', before), longForm(record.dialect ?? '', after));
  return {
    against: other.number,
    cache: record.dialect === other.dialect ? cacheBreak(record.dialect ?? '', before, after) : { kind: 'unknown' },
    changes: changes.slice(0, changesMax).map(excerpt),
    changesLeftOut: Math.max(0, changes.length - changesMax),
  };
}
