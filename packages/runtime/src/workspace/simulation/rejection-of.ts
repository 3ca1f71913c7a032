/** Returns the error that a promise rejects with; throws when the promise resolves. For tests. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  const resolved = Symbol();
  const outcome = await promise.then(
    () => resolved,
    (reason: unknown) => reason,
  );
  if (outcome === resolved) throw new Error('it did not reject');
  return outcome;
}
