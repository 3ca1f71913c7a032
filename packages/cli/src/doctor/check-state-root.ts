import { accessSync, constants, mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Check, missing, ok, warning } from './check.ts';

const name = 'state root';
const MEGABYTE = 1024 * 1024;
/** With less free space than this, a swarm will soon fail. */
const LITTLE = 200 * MEGABYTE;
/** With less free space than this, no input can be accepted. */
const NOTHING = MEGABYTE;

/**
 * Checks whether conversations can be stored in the state root. A missing folder is not created, because the first run
 * does that.
 */
export function checkStateRoot(stateRoot: string, freeBytes: (folder: string) => number = freeBytesOf): Check {
  const another = 'Choose another folder with `--state-root` or GOONDAN_STATE_ROOT, or make this one writable.';
  try {
    const folder = nearestFolder(stateRoot);
    if (folder === stateRoot) tryToWrite(folder);
    else accessSync(folder, constants.W_OK | constants.X_OK);
    const free = freeBytes(folder);
    const detail = `${stateRoot}${folder === stateRoot ? '' : ' (made at the first run)'}, ${megabytes(free)} free`;
    const room = 'Make room on that disk, or choose another folder with `--state-root` or GOONDAN_STATE_ROOT.';
    if (free < NOTHING) return missing(name, `${detail}: the disk is full`, room);
    return free < LITTLE ? warning(name, `${detail}: the disk is almost full`, room) : ok(name, detail);
  } catch (error) {
    return missing(name, `${stateRoot}: ${error instanceof Error ? error.message : String(error)}`, another);
  }
}

/** Returns the folder, or the nearest existing one above it. */
function nearestFolder(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined && dirname(path) !== path) return nearestFolder(dirname(path));
  if (stat?.isDirectory() !== true) throw new Error(`${path} is not a folder`);
  return path;
}

function tryToWrite(folder: string): void {
  const trial = mkdtempSync(join(folder, '.doctor-'));
  try {
    writeFileSync(join(trial, 'trial'), 'trial', { mode: 0o600 });
  } finally {
    rmSync(trial, { recursive: true, force: true });
  }
}

function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function megabytes(bytes: number): string {
  return bytes < 10_000 * MEGABYTE ? `${Math.floor(bytes / MEGABYTE)} MB` : `${Math.floor(bytes / MEGABYTE / 1024)} GB`;
}
