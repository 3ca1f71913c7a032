/**
 * Waits until all actions have settled, then throws the first error. Unlike `Promise.all`, it leaves no action running
 * after an error, so nothing else writes to the files during a repair.
 */
export async function together(actions: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(actions);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
