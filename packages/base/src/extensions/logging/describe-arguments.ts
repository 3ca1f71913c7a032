import type { JsonObject } from '@goondan/types';

const LONGEST = 500;
/** Names of arguments whose values must not appear in a log. */
const secretName = /pass(?:word|phrase)?$|secret|token|api[-_]?key|authorization|cookie|credential/i;

/**
 * Formats arguments as JSON, cut to a maximum length. Values of arguments that are named like a secret are hidden; the
 * logger masks declared secrets.
 */
export function describeArguments(args: JsonObject): string {
  const text = JSON.stringify(args, (key, value: unknown) =>
    secretName.test(key) && (typeof value === 'string' || typeof value === 'number') ? '***' : value,
  );
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`;
}
