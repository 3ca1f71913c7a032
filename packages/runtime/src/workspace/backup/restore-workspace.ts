/**
 * Writes a backup into a workspace without conversations, which the caller owns.
 *
 * Invariants: 1. The workspace is written under another name. It gets its own name with one rename, when all of it is checked and durable.
 * 2. After a crash, the workspace has no conversations or all of them. The next owner puts the replaced workspace back, if the
 * crash was between the two renames, and removes the rest. 3. Only paths of the manifest are read, none of
 * them through a link. 4. No answer for always is restored (`drop-grants.ts`).
 */
import type { BundleFs } from '../../ports/bundle-fs.ts';
import { workspaceFolder } from '../layout/instance-paths.ts';
import { makeFolders } from '../layout/make-folders.ts';
import {
  putReplacedBack,
  removeRestoreLeftovers,
  replacedFolder,
  restoringFolder,
} from '../layout/restored-workspace.ts';
import { COPY } from './back-up-workspace.ts';
import { damagedBackup, MANIFEST, unusableFolder } from './backup-errors.ts';
import { type BackupProgress, BackupWriter, parentOf, UnreadableFile } from './backup-writer.ts';
import { dropGrants } from './drop-grants.ts';
import { forEachAtMost } from './for-each-at-most.ts';
import { type BackedUpFile, type BackupManifest, decodeManifest, LONGEST_MANIFEST } from './manifest.ts';

export interface RestoreOptions {
  /** The folder of the backup. */
  readonly folder: string;
  readonly stateRoot: string;
  readonly workspaceId: string;
  /** Throws when the caller no longer owns the workspace. */
  readonly fence?: () => void;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: BackupProgress) => void;
}

export interface RestoreProgress extends BackupProgress {
  /** The number of answers for always that the backup has and that are not restored. */
  readonly droppedGrants: number;
}

/** Files that are copied at the same time. */
const COPIES = 8;

/**
 * Reads the manifest of a backup. **Errors** — `E_BACKUP_FOLDER` when the folder is not a backup, `E_BACKUP_DAMAGED`,
 * `E_BACKUP_FORMAT`; those of the disk.
 */
export async function readManifest(fs: BundleFs, folder: string): Promise<BackupManifest> {
  const path = `${folder}/${MANIFEST}`;
  const entry = await fs.look(path);
  if (entry === undefined) {
    const isFolder = (await fs.look(folder)) !== undefined;
    const problem = isFolder ? `is not a complete backup: it has no ${MANIFEST}.` : 'does not exist.';
    throw unusableFolder(folder, problem, 'Name a folder that `gdn backup` has written.');
  }
  if (entry.kind !== 'file') throw damagedBackup(path, 'is not a regular file.');
  if (entry.size > LONGEST_MANIFEST) throw damagedBackup(path, `is longer than ${LONGEST_MANIFEST} bytes.`);
  return decodeManifest(path, (await fs.read(path)) ?? new Uint8Array());
}

/** **Errors** — `E_BACKUP_DAMAGED`, with the path of the file; the reason of `signal`; those of the disk. */
export async function restoreWorkspace(
  fs: BundleFs,
  manifest: BackupManifest,
  options: RestoreOptions,
): Promise<RestoreProgress> {
  const { stateRoot, workspaceId } = options;
  const workspaces = workspaceFolder(stateRoot, '').slice(0, -1);
  const draft = restoringFolder(stateRoot, workspaceId);
  const replaced = replacedFolder(stateRoot, workspaceId);
  await makeFolders(fs, stateRoot, workspaces);
  await putReplacedBack(fs, stateRoot, workspaceId);
  await removeRestoreLeftovers(fs, stateRoot, workspaceId);
  try {
    const progress = await writeDraft(fs, manifest, draft, options);
    const droppedGrants = await dropGrants(fs, draft);
    // Another owner would have removed files of the draft.
    options.fence?.();
    const workspace = workspaceFolder(stateRoot, workspaceId);
    if ((await fs.look(workspace)) !== undefined) await fs.rename(workspace, replaced);
    await fs.rename(draft, workspace).catch(async (error: unknown) => {
      await putReplacedBack(fs, stateRoot, workspaceId);
      throw error;
    });
    await fs.syncFolder(workspaces);
    // The restore is done. If this folder cannot be removed, or another owner removes it too, the next owner tries again.
    await fs.removeFolder(replaced).catch(() => undefined);
    return { ...progress, droppedGrants };
  } catch (error) {
    await fs.removeFolder(draft).catch(() => undefined);
    throw error;
  }
}

async function writeDraft(
  fs: BundleFs,
  { folders, files }: BackupManifest,
  draft: string,
  { folder, signal, onProgress }: RestoreOptions,
): Promise<BackupProgress> {
  const copy = `${folder}/${COPY}`;
  const isReal = realFolders(fs, copy);
  await fs.makeFolder(draft);
  const writer = new BackupWriter(fs, draft, signal, onProgress);
  try {
    for (const each of folders) await writer.makeFolder(each);
    await forEachAtMost(COPIES, files, async (file) => {
      if (!(await isReal(parentOf(file.path)))) throw damagedBackup(`${copy}/${file.path}`, 'is behind a link.');
      await restoreFile(fs, writer, copy, file);
    });
    await writer.sync();
    return writer.progress;
  } finally {
    await writer.close();
  }
}

async function restoreFile(fs: BundleFs, writer: BackupWriter, copy: string, file: BackedUpFile): Promise<void> {
  const path = `${copy}/${file.path}`;
  const entry = await fs.look(path);
  if (entry === undefined) throw damagedBackup(path, 'is missing.');
  if (entry.kind !== 'file') throw damagedBackup(path, 'is not a regular file.');
  if (entry.size !== file.bytes) throw damagedBackup(path, `has ${entry.size} bytes instead of ${file.bytes}.`);
  const mode = file.isExecutable === true ? 0o100 : 0;
  const copied = await writer.copy(path, file.path, file.bytes, mode).catch((error: unknown) => {
    throw error instanceof UnreadableFile ? error.cause : error;
  });
  if (copied?.sha256 !== file.sha256) throw damagedBackup(path, 'is damaged: its checksum does not match.');
}

/** Returns a function that tells whether a folder of the backup, and each folder above it, is not a link. */
function realFolders(fs: BundleFs, copy: string): (path: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  const isReal = (path: string): Promise<boolean> => {
    const found = known.get(path);
    if (found !== undefined) return found;
    const looked = (async () => {
      if (path !== '' && !(await isReal(parentOf(path)))) return false;
      const entry = await fs.look(path === '' ? copy : `${copy}/${path}`);
      return entry === undefined || entry.kind === 'folder';
    })();
    known.set(path, looked);
    return looked;
  };
  return isReal;
}
