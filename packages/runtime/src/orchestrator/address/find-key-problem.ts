import { GoondanError } from '@goondan/types';

/** Characters; keys are kept in files, in every event and in logs. */
const LONGEST_KEY = 1_024;

/**
 * What is wrong with an instance key from outside, or `undefined`. Almost any text is one: what it becomes on disk is
 * decided elsewhere. Half of a surrogate pair is none, because two of them are the same bytes.
 */
export function findKeyProblem(key: string): string | undefined {
  if (key === '') return 'is empty';
  if (key.length > LONGEST_KEY) return `has ${key.length} characters; ${LONGEST_KEY} are allowed`;
  if (!key.isWellFormed()) return 'is not valid Unicode';
  return undefined;
}

/** **Errors** — `E_INSTANCE_KEY`. */
export function refuseKey(key: string): void {
  const problem = findKeyProblem(key);
  if (problem !== undefined) throw new GoondanError('E_INSTANCE_KEY', `An instance key ${problem}.`);
}
