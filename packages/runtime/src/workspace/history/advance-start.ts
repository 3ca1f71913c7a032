/** Before the oldest archive file is deleted, folds its turns into the start of the history. */
import { GoondanError } from '@goondan/types';
import { readArchiveFile } from '../archive/read-archive.ts';
import type { InstancePaths } from '../layout/instance-paths.ts';
import { replaceFile } from '../lines/replace-file.ts';
import type { StorePorts } from '../store-ports.ts';
import { HistoryFold } from './history-fold.ts';
import { encodeStart, readStart } from './history-start.ts';

/**
 * Moves the start past the oldest file; durable when it resolves. If the file is damaged, warns and returns false: the
 * caller must keep the file, because no other file has its changes. **Errors** — those of the disk.
 */
export async function advanceStart(ports: StorePorts, paths: InstancePaths, oldest: string): Promise<boolean> {
  try {
    const fold = new HistoryFold(await readStart(ports, paths.historyStart));
    const bytes = (await ports.fs.read(oldest)) ?? new Uint8Array();
    // If a crash prevented an earlier deletion of this file, its turns are already in the start.
    for await (const turn of readArchiveFile(ports, oldest, bytes)) if (turn.version > fold.version) fold.apply(turn);
    await replaceFile(ports.fs, paths.historyStart, encodeStart(fold.toStart()));
    return true;
  } catch (error) {
    if (!GoondanError.is(error) || error.code !== 'E_STORE_CORRUPT') throw error;
    ports.warn({ path: oldest, message: `is not deleted, though the archive is full: ${error.message}` });
    return false;
  }
}
