import { GoondanError } from '@goondan/types';

/** The maximum length in characters. Keys are stored in files, in every event and in logs. */
const LONGEST_KEY = 1_024;

/**
 * Returns the problem with an instance key from outside, or `undefined`. Almost any text is valid, because
 * `pathSegment` turns it into a safe file name. Half of a surrogate pair is invalid, because two different halves have
 * the same bytes.
 */
export function findKeyProblem(key: string): string | undefined {
  if (key === '') return 'is empty';
  if (key.length > LONGEST_KEY) return `has ${key.length} characters; ${LONGEST_KEY} are allowed`;
  if (!key.isWellFormed()) return 'is not valid Unicode';
  return undefined;
}

/** Throws for an invalid key. **Errors** — `E_INSTANCE_KEY`. */
export function refuseKey(key: string): void {
  const problem = findKeyProblem(key);
  if (problem !== undefined) throw new GoondanError('E_INSTANCE_KEY', `An instance key ${problem}.`);
}
