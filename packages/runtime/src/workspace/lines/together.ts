/**
 * Waits for all actions, then throws the first error. Unlike `Promise.all` it leaves no action running after an error,
 * so that a repair has the files for itself.
 */
export async function together(actions: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(actions);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
