/**
 * Copies a file or a folder as it is found: scratch folders, logs and traces, which others may write meanwhile. Only
 * regular files and folders are copied: links are not followed, and sockets and pipes have no contents.
 */
import type { BundleFs } from '../../ports/bundle-fs.ts';
import { reasonOf } from './backup-errors.ts';
import { type BackupWriter, unlessUnreadable } from './backup-writer.ts';
import { isBackupPath } from './manifest.ts';

export interface TreeReport {
  /** One line of text for each file that could not be read, or whose name a backup cannot have. */
  readonly problems: string[];
  /** The paths of links, sockets and pipes. */
  readonly skipped: string[];
}

/** The length of a path with which a file can be opened. */
const LONGEST_PATH = 4095;

/** A file that is removed meanwhile is left out. **Errors** — those of writing. */
export async function copyTree(
  fs: BundleFs,
  writer: BackupWriter,
  from: string,
  path: string,
  report: TreeReport,
): Promise<void> {
  const problem = (text: string) => void report.problems.push(text);
  if (!isBackupPath(path) || Buffer.byteLength(writer.pathOf(path)) > LONGEST_PATH)
    return problem(`${from} is not in the backup: its path is too long or has an unusable name`);
  const entry = await orReport(problem, () => fs.look(from));
  if (entry === undefined) return;
  if (entry.kind === 'file') {
    await unlessUnreadable(() => writer.copy(from, path, entry.size, entry.mode), problem);
    return;
  }
  if (entry.kind !== 'folder') {
    report.skipped.push(path);
    return;
  }
  const names = await orReport(problem, () => fs.list(from));
  if (names === undefined) return;
  await writer.makeFolder(path);
  for (const name of names) {
    await copyTree(fs, writer, `${from}/${name}`, `${path}/${name}`, report);
    if (await isNameless(fs, from, name)) problem(`${from}/${name} is not in the backup: its name is not UTF-8`);
  }
}

/** Returns true if a listed name cannot be looked up. The name of a file that is not UTF-8 is listed with other characters. */
async function isNameless(fs: BundleFs, folder: string, name: string): Promise<boolean> {
  if (!name.includes('\uFFFD')) return false;
  const isFound = await fs.look(`${folder}/${name}`).catch(() => true);
  return isFound === undefined && ((await fs.list(folder).catch(() => [])) ?? []).includes(name);
}

/** Returns `undefined` if reading fails, and reports the error. */
async function orReport<Value>(
  report: (problem: string) => void,
  read: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    report(reasonOf(error));
    return undefined;
  }
}
