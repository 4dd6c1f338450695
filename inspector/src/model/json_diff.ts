// What differs between two values of JSON, by path: the smallest parts that came, went or became something else.

import type { Json } from '../api/types';
import { isEqual, isList, isObject, itemPath, memberPath } from './json_path';

export interface Change {
  path: string; // in the later value; of what went, in the earlier one
  before?: Json;
  after?: Json;
}

export function jsonDiff(before: Json, after: Json): Change[] {
  const changes: Change[] = [];
  compare('', before, after, changes);
  return changes;
}

function compare(path: string, before: Json, after: Json, changes: Change[]): void {
  if (isList(before) && isList(after)) compareLists(path, before, after, changes);
  else if (isObject(before) && isObject(after)) compareMembers(path, before, after, changes);
  else if (!isEqual(before, after)) changes.push({ path, before, after });
}

function compareMembers(path: string, before: { [name: string]: Json }, after: { [name: string]: Json }, changes: Change[]): void {
  for (const [name, value] of Object.entries(before)) {
    const at = memberPath(path, name);
    if (Object.hasOwn(after, name)) compare(at, value, after[name] as Json, changes);
    else changes.push({ path: at, before: value });
  }
  for (const [name, value] of Object.entries(after)) if (!Object.hasOwn(before, name)) changes.push({ path: memberPath(path, name), after: value });
}

// Lists of requests grow at their end and are cut somewhere: what both begin and end with is left out, and what remains is
// compared item by item as far as the items are alike.
function compareLists(path: string, before: Json[], after: Json[], changes: Change[]): void {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && isEqual(before[start] as Json, after[start] as Json)) ++start;
  let end = 0;
  while (end < most - start && isEqual(before[before.length - 1 - end] as Json, after[after.length - 1 - end] as Json)) ++end;
  const [old, now] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const pairs = Math.min(old.length, now.length);
  for (let i = 0; i < pairs; ++i) compare(itemPath(path, start + i), old[i] as Json, now[i] as Json, changes);
  for (let i = pairs; i < old.length; ++i) changes.push({ path: itemPath(path, start + i), before: old[i] as Json });
  for (let i = pairs; i < now.length; ++i) changes.push({ path: itemPath(path, start + i), after: now[i] as Json });
}
