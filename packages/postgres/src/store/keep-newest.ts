/** Counts the bytes that this node writes, to remove old records now and then. */
const SHARE = 64;

export interface KeepNewestDeps {
  /** The most bytes to keep, of all nodes. */
  readonly most: number;
  /** Removes the oldest records above `most` bytes. */
  readonly remove: (most: number) => Promise<unknown>;
  /** Called when it fails. The next write tries again. */
  readonly report: (error: unknown) => void;
}

/**
 * Returns a function that is called after each write with its bytes. After each share of the limit, the oldest records are
 * removed. So at most the limit and a share for each node are kept. It never rejects.
 */
export function keepNewest({ most, remove, report }: KeepNewestDeps): (bytes: number) => Promise<void> {
  // A new node removes early, because the nodes before it may have left more than the limit.
  let since = most / SHARE;
  return async (bytes) => {
    since += bytes;
    if (since < most / SHARE) return;
    since = 0;
    try {
      await remove(most);
    } catch (error) {
      since = most / SHARE;
      report(error);
    }
  };
}
