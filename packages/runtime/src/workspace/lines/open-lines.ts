/** Opens a file of sealed lines for further writes. */
import type { StorePorts } from '../store-ports.ts';
import { AppendLog } from './append-log.ts';
import { corruptStore } from './corrupt-store.ts';
import { readLines, type ReadLines, type StoredLine } from './read-lines.ts';

/**
 * Opens the file. All its lines are durable when it resolves, even lines that a killed process had not synced.
 *
 * **Errors** — `E_STORE_CORRUPT`, with a copy kept aside, when the file is missing or has more damage than a torn tail.
 */
export async function openLines(
  ports: StorePorts,
  path: string,
): Promise<{ readonly lines: readonly StoredLine[]; readonly log: AppendLog }> {
  const bytes = await ports.fs.read(path);
  if (!bytes) throw await corruptStore(ports, path, 'it is missing');
  const read = readLines(bytes);
  if (read.damage) throw await corruptStore(ports, path, read.damage);
  const log = await AppendLog.open(ports.fs, path);
  try {
    await mendTail(ports, log, read);
    await log.sync();
  } catch (error) {
    await log.close();
    throw error;
  }
  return { lines: read.lines, log };
}

/** Cuts off a torn tail. The cut is not durable before `sync`. */
export async function mendTail(ports: StorePorts, log: AppendLog, read: ReadLines): Promise<void> {
  if (!read.torn) return;
  const message = `cut ${log.size - read.end} bytes of a write that a crash had interrupted`;
  await log.truncate(read.end);
  ports.warn({ path: log.path, message });
}
