import { readPending } from '../inbox/inbox-reader.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { readQueue } from '../lines/durable-queue.ts';
import type { CommittedTurn } from '../records/metadata.ts';
import { readMetadata } from '../records/read-metadata.ts';

/**
 * Returns true if an instance must be woken, because it has input to handle, a turn or a commit to finish, or answers
 * to deliver. Reads without a lock. The cost depends on the open work, not on the history.
 */
export async function hasWork(stored: StoredInstance): Promise<boolean> {
  const { fs, paths } = stored;
  for (const path of [paths.events, paths.turn]) {
    const stat = await fs.stat(path);
    // The log is cleared as the last part of a commit, so a log with records means unfinished work.
    if (stat && stat.size > 0) return true;
  }
  const commit = (await readMetadata(stored))?.commit;
  if (commit?.turn && isWithoutLog(commit.turn, commit.base.seq)) return true;
  if ((await readPending(stored)).length > 0) return true;
  return (await readQueue(stored, paths.outbox)).length > 0;
}

/** Returns true if the commit wrote no log. In this case the log cannot show whether the commit is complete. */
function isWithoutLog({ after, result }: CommittedTurn, last: number): boolean {
  return result === 'reset' || last - after === 1;
}
