import type { JsonObject } from '@goondan/types';

const LONGEST = 500;
/** Names whose values nobody should read in a log, whatever they are. */
const secretName = /pass(?:word|phrase)?$|secret|token|api[-_]?key|authorization|cookie|credential/i;

/** As JSON, cut. What looks like a secret by its name is hidden; what was declared as one is masked by the logger. */
export function describeArguments(args: JsonObject): string {
  const text = JSON.stringify(args, (key, value: unknown) =>
    secretName.test(key) && (typeof value === 'string' || typeof value === 'number') ? '***' : value,
  );
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`;
}
