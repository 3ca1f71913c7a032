/** Describes the first difference between two requests, so that a person sees what changed since the recording. */
import type { JsonValue } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import type { CassetteRequest } from './cassette-entry.ts';

/** Returns `undefined` when the requests are equal. */
export function describeDifference(recorded: CassetteRequest, now: CassetteRequest): string | undefined {
  const difference =
    findDifference([...recorded.messages], [...now.messages], 'messages') ??
    findDifference([...recorded.tools], [...now.tools], 'tools') ??
    findDifference(recorded.params, now.params, 'params');
  if (difference === undefined) return undefined;
  const [before, after] = excerpts(difference.recorded, difference.now);
  return `at ${difference.path}\n  recorded: ${before}\n  now:      ${after}`;
}

interface Difference {
  readonly path: string;
  readonly recorded: JsonValue | undefined;
  readonly now: JsonValue | undefined;
}

function findDifference(
  recorded: JsonValue | undefined,
  now: JsonValue | undefined,
  path: string,
): Difference | undefined {
  if (Array.isArray(recorded) && Array.isArray(now)) {
    const longer = recorded.length > now.length ? recorded : now;
    return firstOf(longer.keys(), (index) => findDifference(recorded[index], now[index], `${path}[${index}]`));
  }
  if (isPlainObject(recorded) && isPlainObject(now)) {
    const keys = new Set([...Object.keys(recorded), ...Object.keys(now)]);
    return firstOf(keys, (key) => findDifference(recorded[key], now[key], `${path}.${key}`));
  }
  return recorded === now ? undefined : { path, recorded, now };
}

function firstOf<Item>(items: Iterable<Item>, find: (item: Item) => Difference | undefined): Difference | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

const excerptLength = 160;

/** Shortens long texts to the part around the first character that differs. */
function excerpts(recorded: JsonValue | undefined, now: JsonValue | undefined): [string, string] {
  const texts = [recorded, now].map((value) => (value === undefined ? 'nothing' : JSON.stringify(value)));
  const [before = '', after = ''] = texts;
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  const from = same > excerptLength / 2 ? same - excerptLength / 4 : 0;
  return [cut(before, from), cut(after, from)];
}

function cut(text: string, from: number): string {
  const end = text.length > from + excerptLength ? '…' : '';
  return `${from > 0 ? '…' : ''}${text.slice(from, from + excerptLength)}${end}`;
}
