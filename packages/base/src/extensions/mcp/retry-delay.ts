const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** So often in a row a server is tried in the background; after that, when somebody needs it. */
export const MOST_ATTEMPTS = 8;

/** How long to wait before the next attempt; `undefined` when there is none. */
export function retryDelay(failures: number): number | undefined {
  return failures < MOST_ATTEMPTS ? Math.min(FIRST_MS * 2 ** failures, LONGEST_MS) : undefined;
}
