/** Keeps the result of the oldest archive file as the start of the history, before the file is deleted. */
import { GoondanError } from '@goondan/types';
import { readArchiveFile } from '../archive/read-archive.ts';
import type { InstancePaths } from '../layout/instance-paths.ts';
import { replaceFile } from '../lines/replace-file.ts';
import type { StorePorts } from '../store-ports.ts';
import { HistoryFold } from './history-fold.ts';
import { encodeStart, readStart } from './history-start.ts';

/**
 * Moves the start past the oldest file; durable when it resolves. Returns false, with a warning, when the file is
 * damaged: then the file must stay, because its changes are not known without it. **Errors** — those of the disk.
 */
export async function advanceStart(ports: StorePorts, paths: InstancePaths, oldest: string): Promise<boolean> {
  try {
    const fold = new HistoryFold(await readStart(ports, paths.historyStart));
    const bytes = (await ports.fs.read(oldest)) ?? new Uint8Array();
    // A crash may have come before the last deletion of this file; its turns are in the start already.
    for await (const turn of readArchiveFile(ports, oldest, bytes)) if (turn.version > fold.version) fold.apply(turn);
    await replaceFile(ports.fs, paths.historyStart, encodeStart(fold.toStart()));
    return true;
  } catch (error) {
    if (!GoondanError.is(error) || error.code !== 'E_STORE_CORRUPT') throw error;
    ports.warn({ path: oldest, message: `is not deleted, though the archive is full: ${error.message}` });
    return false;
  }
}
