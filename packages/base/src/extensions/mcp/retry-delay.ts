const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** The maximum number of consecutive background attempts. After that, the server is tried only when it is needed. */
export const MOST_ATTEMPTS = 8;

/** Returns the backoff before the next attempt; `undefined` after the last attempt. */
export function retryDelay(failures: number): number | undefined {
  return failures < MOST_ATTEMPTS ? Math.min(FIRST_MS * 2 ** failures, LONGEST_MS) : undefined;
}
