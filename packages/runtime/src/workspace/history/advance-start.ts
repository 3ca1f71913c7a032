/** Before the oldest segment is deleted, folds its turns into the start of the history. */
import { readFullSegment } from '../archive/read-archive.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore, isCorrupt } from '../lines/corrupt-store.ts';
import { replaceFile } from '../lines/replace-file.ts';
import { HistoryFold } from './history-fold.ts';
import { encodeStart, readStart } from './history-start.ts';

/**
 * Moves the start of the history past the oldest file. The new start is durable when the promise resolves. If the file
 * is damaged, warns and returns false. The caller must then keep the file, because no other file has its changes.
 * **Errors** — those of the disk.
 */
export async function advanceStart(stored: StoredInstance, oldest: string): Promise<boolean> {
  const { fs, paths, warn } = stored;
  try {
    const fold = new HistoryFold(await readStart(stored, paths.historyStart));
    // If a crash prevented an earlier deletion of this file, its turns are already in the start.
    for await (const turn of readFullSegment(stored, oldest)) {
      if (turn.version > fold.version + 1) {
        throw await corruptStore(
          stored,
          paths.historyStart,
          `commit ${fold.version + 1} is neither in it nor in the log`,
        );
      }
      if (turn.version > fold.version) fold.apply(turn);
    }
    await replaceFile(fs, paths.historyStart, encodeStart(fold.toStart()));
    return true;
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    warn({ path: oldest, message: `not deleted, although the archive is full: ${error.message}` });
    return false;
  }
}
