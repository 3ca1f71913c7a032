/** What a promise rejects with; an error of its own when it does not. For tests. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  const resolved = Symbol();
  const outcome = await promise.then(
    () => resolved,
    (reason: unknown) => reason,
  );
  if (outcome === resolved) throw new Error('it did not reject');
  return outcome;
}
