/**
 * Copies a file or a folder as it is found: scratch folders, logs and traces, which others may write meanwhile. Only
 * regular files and folders are copied: links are not followed, and sockets and pipes have no contents.
 */
import type { BundleFs } from '../../ports/bundle-fs.ts';
import { reasonOf } from './backup-errors.ts';
import type { BackupWriter } from './backup-writer.ts';

export interface TreeReport {
  /** One line of text for each file that could not be read. */
  readonly problems: string[];
  /** The paths of links, sockets and pipes. */
  readonly skipped: string[];
}

/** A file that is removed meanwhile is left out. **Errors** — those of writing. */
export async function copyTree(
  fs: BundleFs,
  writer: BackupWriter,
  from: string,
  path: string,
  report: TreeReport,
): Promise<void> {
  const entry = await unlessUnreadable(report, () => fs.look(from));
  if (entry === undefined) return;
  if (entry.kind === 'file') {
    const isReadable = await unlessUnreadable(report, () => fs.read(from, 0, 1));
    if (isReadable) await writer.copy(from, path, entry.size, entry.mode);
    return;
  }
  if (entry.kind !== 'folder') {
    report.skipped.push(path);
    return;
  }
  const names = await unlessUnreadable(report, () => fs.list(from));
  if (names === undefined) return;
  await writer.makeFolder(path);
  for (const name of names) await copyTree(fs, writer, `${from}/${name}`, `${path}/${name}`, report);
}

async function unlessUnreadable<Value>(
  { problems }: TreeReport,
  read: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    problems.push(reasonOf(error));
    return undefined;
  }
}
