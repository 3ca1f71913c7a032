/** What changed between two JSON values, as a short list: diffs, not copies. */
import type { JsonObject, JsonValue } from '@goondan/types';
import { isPlainObject } from './copy-json.ts';

export interface Change {
  readonly path: string;
  /** Absent when it was added. */
  readonly before?: string;
  /** Absent when it was removed. */
  readonly after?: string;
}

const MOST_CHANGES = 50;
const LONGEST_VALUE = 200;

/** At most 50 changes, values cut to 200 characters. */
export function diffJson(before: JsonValue | undefined, after: JsonValue | undefined): Change[] {
  const changes: Change[] = [];
  compare(before, after, '', changes);
  return changes;
}

function compare(before: JsonValue | undefined, after: JsonValue | undefined, path: string, changes: Change[]): void {
  if (before === after || changes.length >= MOST_CHANGES) return;
  if (isPlainObject(before) && isPlainObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(own(before, key), own(after, key), path === '' ? key : `${path}.${key}`, changes);
    }
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    for (let index = 0; index < Math.max(before.length, after.length); index++) {
      compare(before[index], after[index], `${path}[${index}]`, changes);
    }
    return;
  }
  changes.push({
    path,
    ...(before === undefined ? {} : { before: cut(before) }),
    ...(after === undefined ? {} : { after: cut(after) }),
  });
}

/** Not what every object inherits: `constructor` is a name like any other. */
function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function cut(value: JsonValue): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}
