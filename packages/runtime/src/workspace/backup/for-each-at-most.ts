/**
 * Does work for each item, for at most `most` items at the same time. After an error no further item is started, and the
 * error is thrown when the work under way has ended, so that nothing writes any more.
 */
export async function forEachAtMost<Item>(
  most: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0;
  const workers = Array.from({ length: most }, async () => {
    try {
      while (next < items.length) {
        // Safe: the index is in range.
        const item = items[next] as Item;
        next += 1;
        await work(item);
      }
    } catch (error) {
      next = items.length;
      throw error;
    }
  });
  for (const outcome of await Promise.allSettled(workers)) if (outcome.status === 'rejected') throw outcome.reason;
}
