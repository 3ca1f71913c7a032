import { dirname } from 'node:path';
import { advanceStart } from '../history/advance-start.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { listSegments } from '../records/segments.ts';

/** Deletes the oldest segments above the limit. Their turns are in the start of the history first, durably. */
export async function deleteOldSegments(stored: StoredInstance): Promise<void> {
  const { fs, paths, limits } = stored;
  const older = (await listSegments(stored)).filter(({ isCurrent }) => !isCurrent);
  const tooMany = older.slice(0, Math.max(0, older.length - limits.archive.files));
  for (const { path } of tooMany) {
    if (!(await advanceStart(stored, path))) return;
    await fs.remove(path);
    // Syncs after each deletion, so that a power loss cannot bring back an older file while a newer one stays deleted.
    await fs.syncFolder(dirname(paths.events));
  }
}
