/** The files of format 1 that a migration has kept, of one workspace. They may be in use by an older version. */
import { lstat, readdir, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { instancesFolder, type JournalLocation } from '../layout/instance-paths.ts';
import { keptFolder, keptWorkspace } from '../layout/kept-workspace.ts';
import type { StorePorts } from '../store-ports.ts';

/**
 * Returns true if an older version has worked on the kept conversations since the migration. Its turns are nowhere else.
 */
export async function isKeptChanged(location: JournalLocation, migratedAt: string): Promise<boolean> {
  const newest = await newestChange(instancesFolder(keptWorkspace(location)));
  return newest > Date.parse(migratedAt);
}

/**
 * Removes the kept files, and the folders above them if these are empty. Returns the size of the files in bytes; 0 when
 * there are none. Only while no migration of this workspace can run.
 */
export async function removeKept({ fs }: Pick<StorePorts, 'fs'>, location: JournalLocation): Promise<number> {
  const kept = keptWorkspace(location);
  if (!(await fs.stat(kept))) return 0;
  const bytes = await sizeOf(kept);
  await fs.removeFolder(kept);
  await removeEmpty(dirname(kept));
  await removeEmpty(keptFolder(location.stateRoot));
  return bytes;
}

/** Removes a folder, unless it has the files of another workspace. */
async function removeEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch(() => undefined);
}

/** Returns the time of the newest change of a file, in milliseconds; 0 when the folder does not exist. */
async function newestChange(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  let newest = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    newest = Math.max(newest, (await lstat(`${entry.parentPath}/${entry.name}`)).mtimeMs);
  }
  return newest;
}

/** Follows no link: tools may have made links in the scratch folders. */
async function sizeOf(path: string): Promise<number> {
  const stat = await lstat(path);
  if (!stat.isDirectory()) return stat.size;
  let bytes = 0;
  for (const name of await readdir(path)) bytes += await sizeOf(`${path}/${name}`);
  return bytes;
}
