/** Describes the first difference between two requests, so that a person sees what changed since the recording. */
import type { JsonObject, JsonValue } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import type { CassetteRequest } from './cassette-entry.ts';

/** Returns the description, or `undefined` when the requests are equal. */
export function describeDifference(recorded: CassetteRequest, now: CassetteRequest): string | undefined {
  const difference =
    findDifference([...recorded.messages], [...now.messages], 'messages') ??
    findDifference([...recorded.tools], [...now.tools], 'tools') ??
    findDifference(recorded.params, now.params, 'params') ??
    findDifference(recorded.outputSchema, now.outputSchema, 'outputSchema');
  if (difference === undefined) return undefined;
  const [before, after] = excerpts(difference.recorded, difference.now);
  return `at ${difference.path}\n  recorded: ${before}\n  now:      ${after}`;
}

function findDifference(
  recorded: JsonValue | undefined,
  now: JsonValue | undefined,
  path: string,
): { path: string; recorded: JsonValue | undefined; now: JsonValue | undefined } | undefined {
  const areArrays = Array.isArray(recorded) && Array.isArray(now);
  if (!areArrays && !(isPlainObject(recorded) && isPlainObject(now))) {
    return recorded === now ? undefined : { path, recorded, now };
  }
  // Safe: both are arrays, whose keys are their indexes, or both are objects.
  const [before, after] = [recorded as JsonObject, now as JsonObject];
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const found = findDifference(before[key], after[key], areArrays ? `${path}[${key}]` : `${path}.${key}`);
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
