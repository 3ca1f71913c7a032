/**
 * Waits for all of them, then throws the first error. Unlike `Promise.all` it leaves nothing running behind an error:
 * whoever repairs the files after it must be alone with them.
 */
export async function together(actions: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(actions);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
