/**
 * The folders whose code a person has said may run. One file for each, named after the folder's real path, under the
 * state root: where no bundle can write before it is trusted, and where two processes never rewrite each other's list.
 */
import { type Clock, systemClock } from '../../ports/clock.ts';
import { type Fs, systemFs } from '../../ports/fs.ts';
import { makeFolders } from '../layout/make-folders.ts';
import { pathSegment } from '../layout/path-segment.ts';
import { codedFs } from '../../ports/coded-fs.ts';

export interface TrustedFolder {
  readonly stateRoot: string;
  /** Its real path: a link is trusted as what it leads to. */
  readonly folder: string;
  readonly fs?: Fs;
  readonly clock?: Clock;
}

/** **Errors** — `E_STORE_READ`. A file that is damaged trusts nothing. */
export async function isTrusted({ stateRoot, folder, fs = systemFs }: TrustedFolder): Promise<boolean> {
  const bytes = await codedFs(fs).read(trustPath(stateRoot, folder));
  return bytes !== undefined && readFolder(new TextDecoder().decode(bytes)) === folder;
}

/** **Errors** — `E_DISK_FULL`, `E_STORE_READ`, `E_STORE_WRITE`. */
export async function rememberTrust(trusted: TrustedFolder): Promise<void> {
  const { stateRoot, folder, clock = systemClock } = trusted;
  const fs = codedFs(trusted.fs ?? systemFs);
  await makeFolders(fs, stateRoot, trustFolder(stateRoot));
  const path = trustPath(stateRoot, folder);
  const text = JSON.stringify({ formatVersion: 1, folder, trustedAt: clock.now().toISOString() });
  const bytes = new TextEncoder().encode(`${text}\n`);
  // It appears as a whole, or is there already: two processes may be told the same at the same moment.
  if ((await fs.createNew(path, bytes)) || (await isTrusted(trusted))) return;
  // What is damaged makes room.
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
