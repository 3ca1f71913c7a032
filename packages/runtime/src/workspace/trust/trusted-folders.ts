/**
 * The folders whose code a person allowed to run. Each folder has its own file under the state root, named after the
 * folder's real path. So a bundle cannot write the file before it is trusted, and two processes never overwrite a
 * shared list.
 */
import { type Clock, systemClock } from '../../ports/clock.ts';
import { type Fs, systemFs } from '../../ports/fs.ts';
import { makeFolders } from '../layout/make-folders.ts';
import { pathSegment } from '../layout/path-segment.ts';
import { codedFs } from '../../ports/coded-fs.ts';

export interface TrustedFolder {
  readonly stateRoot: string;
  /** The real path: trusting a symbolic link means trusting its target. */
  readonly folder: string;
  readonly fs?: Fs;
  readonly clock?: Clock;
}

/**
 * Returns true if a folder is trusted. If its file is damaged, the folder is not trusted. **Errors** — `E_STORE_READ`.
 */
export async function isTrusted({ stateRoot, folder, fs = systemFs }: TrustedFolder): Promise<boolean> {
  const bytes = await codedFs(fs).read(trustPath(stateRoot, folder));
  return bytes !== undefined && readFolder(new TextDecoder().decode(bytes)) === folder;
}

/** Stores that a folder is trusted. **Errors** — `E_DISK_FULL`, `E_STORE_READ`, `E_STORE_WRITE`. */
export async function rememberTrust(trusted: TrustedFolder): Promise<void> {
  const { stateRoot, folder, clock = systemClock } = trusted;
  const fs = codedFs(trusted.fs ?? systemFs);
  await makeFolders(fs, stateRoot, trustFolder(stateRoot));
  const path = trustPath(stateRoot, folder);
  const text = JSON.stringify({ folder, trustedAt: clock.now().toISOString() });
  const bytes = new TextEncoder().encode(`${text}\n`);
  // Two processes may write the file at the same moment. So `createNew` is used, which writes the whole file or does
  // nothing if the file exists.
  if ((await fs.createNew(path, bytes)) || (await isTrusted(trusted))) return;
  // A damaged file is removed first.
  await fs.remove(path);
  await fs.createNew(path, bytes);
}

function trustFolder(stateRoot: string): string {
  return `${stateRoot}/trusted`;
}

function trustPath(stateRoot: string, folder: string): string {
  return `${trustFolder(stateRoot)}/${pathSegment(folder)}.json`;
}

function readFolder(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'folder' in value ? value.folder : undefined;
  } catch {
    return undefined;
  }
}
