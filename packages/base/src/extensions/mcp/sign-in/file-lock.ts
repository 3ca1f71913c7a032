/**
 * A lock that one process of the machine holds at a time. SQLite takes a lock of the system on the file, which ends with
 * the process, however the process ends. The file stays empty.
 */

/** The maximum time to wait for the lock. A refresh of tokens takes at most half of it. */
const LONGEST_WAIT_MS = 60_000;
const PAUSE_MS = 20;

/** Runs work with the lock. `fail` makes the error for a lock that cannot be taken. */
export async function withFileLock<Value>(
  path: string,
  work: () => Promise<Value>,
  fail: (problem: string) => Error,
  signal?: AbortSignal,
): Promise<Value> {
  const { Database } = await import('bun:sqlite');
  const open = () => {
    try {
      return new Database(path, { create: true });
    } catch (error) {
      throw fail(`its lock cannot be opened (${error instanceof Error ? error.message : String(error)})`);
    }
  };
  using database = open();
  database.run('PRAGMA busy_timeout = 0');
  const end = performance.now() + LONGEST_WAIT_MS;
  while (!isTaken(() => database.run('BEGIN EXCLUSIVE'))) {
    signal?.throwIfAborted();
    if (performance.now() >= end) throw fail(`another process has locked it for ${LONGEST_WAIT_MS} ms`);
    await Bun.sleep(PAUSE_MS);
  }
  // Closing the database at the end of this function releases the lock.
  return await work();

  function isTaken(take: () => void): boolean {
    try {
      take();
      return true;
    } catch (error) {
      const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'SQLITE_BUSY') return false;
      throw fail(`its lock cannot be taken (${String(code)})`);
    }
  }
}
