const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** The most attempts in a row in the background; after that, a server is tried when it is needed. */
export const MOST_ATTEMPTS = 8;

/** Returns the delay before the next attempt; `undefined` when there is none. */
export function retryDelay(failures: number): number | undefined {
  return failures < MOST_ATTEMPTS ? Math.min(FIRST_MS * 2 ** failures, LONGEST_MS) : undefined;
}
