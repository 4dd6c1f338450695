// Where two requests stop being equal, as the provider's prompt cache sees them.
//
// A cache holds prefixes of what the model reads, in the order of the provider, not in that of the JSON text. So a request is
// written as that prefix: its sections in order, compact, without cache markers, text in its long form. The first byte in
// which two of them differ is the one from which on nothing can be read from the cache.

import type { Json, JsonObject } from '../api/types';
import { isList, isObject, itemPath, memberPath } from './json_path';
import { commonStart } from './utf16';

interface Section {
  names: string[]; // the name, and other spellings of it
  isCondition?: true; // not read by the model, but a cache that was made under another one is not used
}

const section = (...names: string[]): Section => ({ names });
const condition = (name: string): Section => ({ names: [name], isCondition: true });

const orders: Record<string, Section[]> = {
  anthropic: [condition('model'), section('tools'), section('system'), condition('tool_choice'), condition('thinking'), section('messages')],
  openai_chat: [condition('model'), section('tools'), section('messages')],
  openai_responses: [condition('model'), section('instructions'), section('tools'), section('input')],
  gemini: [condition('model'), section('systemInstruction', 'system_instruction'), section('tools'), section('contents')],
};

// Members by which a request refers to what the provider has of earlier ones.
const references: Record<string, string[]> = { openai_responses: ['previous_response_id', 'conversation'], gemini: ['cachedContent', 'cached_content'] };

export interface Difference {
  path: string; // in the later request
  was: string; // the path of what the earlier one had there; equal to `path` where a value changed
  byteInValue: number; // of its text; 0 where the paths differ
  same: string; // the end of what both have
  before: string;
  after: string;
}

export type CacheBreak =
  | { kind: 'unknown' } // no order is known for this dialect
  | { kind: 'reference'; path: string } // the request holds only what is new
  | { kind: 'same'; equalBytes: number; bytes: number }
  | { kind: 'extended'; equalBytes: number; bytes: number; path: string } // all of the earlier one, and more from `path` on
  | { kind: 'shortened'; equalBytes: number; bytes: number; path: string } // the earlier one went on with `path`
  | { kind: 'broken'; equalBytes: number; bytes: number; at: Difference };

export function cacheBreak(dialect: string, before: Json, after: Json): CacheBreak {
  const order = orders[dialect];
  if (!order || !isObject(before) || !isObject(after)) return { kind: 'unknown' };
  const reference = references[dialect]?.find((name) => (after[name] ?? null) !== null);
  if (reference) return { kind: 'reference', path: reference };
  const [old, now] = [prefix(order, asRead(dialect, before)), prefix(order, asRead(dialect, after))];
  let equalBytes = 0;
  let last = ''; // the path of what was equal last
  for (;;) {
    const [a, b] = [old.next().value, now.next().value];
    if (!b) return { kind: a ? 'shortened' : 'same', equalBytes, bytes: equalBytes, path: a ? itemOf(a.path, last) : '' };
    if (a && a.path === b.path && a.lead === b.lead && a.value === b.value) {
      equalBytes += sizeOf(b);
      last = b.path;
      continue;
    }
    const difference = a && differenceOf(a, b);
    const bytes = equalBytes + sizeOf(b) + sizeOfRest(now);
    if (!difference) return { kind: 'extended', equalBytes, bytes, path: itemOf(b.path, last) };
    return { kind: 'broken', equalBytes: equalBytes + bytesUntil(a, b), bytes, at: difference };
  }
}

// The item of a list that begins with `path`: the outermost one that does not hold `last`.
function itemOf(path: string, last: string): string {
  for (const { index } of path.matchAll(/\]/g)) {
    const item = path.slice(0, index + 1);
    if (!last.startsWith(item)) return item;
  }
  return path;
}

// A leaf, and the punctuation and names since the one before it.
interface Piece {
  path: string;
  lead: string;
  value: string; // JSON
  isCondition: boolean;
}

const encoder = new TextEncoder();
const utf8Size = (text: string): number => encoder.encode(text).length;
const sizeOf = (piece: Piece): number => (piece.isCondition ? 0 : utf8Size(piece.lead) + utf8Size(piece.value));

function sizeOfRest(pieces: Iterator<Piece, undefined>): number {
  let size = 0;
  for (let piece = pieces.next().value; piece; piece = pieces.next().value) size += sizeOf(piece);
  return size;
}

function* prefix(order: Section[], request: JsonObject): Generator<Piece, undefined> {
  const writer = { lead: '{' };
  for (const { names, isCondition } of order) {
    const name = names.find((spelling) => (request[spelling] ?? null) !== null);
    if (name === undefined) continue;
    const value = request[name] as Json;
    const lead = writer.lead;
    writer.lead += `"${names[0]}":`;
    for (const piece of leaves(name, value, writer)) yield { ...piece, isCondition: isCondition ?? false };
    writer.lead = isCondition ? lead : `${writer.lead},`;
  }
  return undefined;
}

function* leaves(path: string, value: Json, writer: { lead: string }): Generator<Omit<Piece, 'isCondition'>> {
  const members: [string, string, Json][] | null = isList(value)
    ? value.map((item, i) => ['', itemPath(path, i), item])
    : isObject(value)
      ? Object.entries(value).filter(([name, member]) => !isMarker(name, member)).map(([name, member]) => [`${JSON.stringify(name)}:`, memberPath(path, name), member])
      : null;
  if (!members?.length) {
    yield { path, lead: writer.lead, value: JSON.stringify(value) };
    writer.lead = '';
    return;
  }
  const [opening, closing] = isList(value) ? '[]' : '{}';
  writer.lead += opening;
  for (const [i, [name, at, member]] of members.entries()) {
    writer.lead += (i ? ',' : '') + name;
    yield* leaves(at, member, writer);
  }
  writer.lead += closing;
}

// Markers say what is to be cached, and are no part of it: clients move them with every request.
function isMarker(name: string, value: Json): boolean {
  return name === 'cache_control' && (value === null || (isObject(value) && typeof value.type === 'string'));
}

// Items of Responses carry what is about them, and not read by the model: an id is new in every session. A reference is nothing but its id.
const aboutItem = /^(id|status|internal_\w+)$/;

function asRead(dialect: string, request: JsonObject): JsonObject {
  const long = longForm(dialect, request);
  const { input } = long;
  if (dialect !== 'openai_responses' || !isList(input)) return long;
  const read = (item: Json): Json => (isObject(item) && item.type !== 'item_reference' ? Object.fromEntries(Object.entries(item).filter(([name]) => !aboutItem.test(name))) : item);
  return { ...long, input: input.map(read) };
}

// A text stands for a list of one text: a client that marks a text has to write it as a list, and as a text again later.
export function longForm(dialect: string, request: JsonObject): JsonObject {
  const { system, messages, input } = request;
  if (dialect === 'openai_responses' && typeof input === 'string') return { ...request, input: [{ role: 'user', content: input }] };
  if (dialect !== 'anthropic') return request;
  return {
    ...request,
    ...(system !== undefined && { system: asTexts(system) }),
    ...(isList(messages) && { messages: messages.map((item) => (isObject(item) && 'content' in item ? { ...item, content: asTexts(item.content as Json) } : item)) }),
  };
}

const asTexts = (value: Json): Json => (typeof value === 'string' ? [{ type: 'text', text: value }] : value);

const shownMax = { before: 60, after: 200 };

function differenceOf(a: Piece, b: Piece): Difference {
  const [old, now] = [valueOf(a), valueOf(b)];
  const isMoved = a.path !== b.path;
  const common = isMoved ? 0 : commonStart(old, now);
  return {
    path: b.path,
    was: a.path,
    byteInValue: utf8Size(now.slice(0, common)),
    same: now.slice(Math.max(0, common - shownMax.before), common),
    before: old.slice(common, common + shownMax.after),
    after: now.slice(common, common + shownMax.after),
  };
}

const valueOf = (piece: Piece): string => (piece.value.startsWith('"') ? (JSON.parse(piece.value) as string) : piece.value);

// What of the two pieces is equal, in bytes.
function bytesUntil(a: Piece, b: Piece): number {
  if (a.isCondition || b.isCondition) return 0;
  const [old, now] = [a.lead + a.value, b.lead + b.value];
  return utf8Size(now.slice(0, commonStart(old, now)));
}
