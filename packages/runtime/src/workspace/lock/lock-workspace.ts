/**
 * Holds `workspace.lock`: an orchestrator holds the `flock` of this file for its whole life. The file is created once
 * and never renamed or removed, so all processes that want the workspace lock the same file. Its text names the holder
 * and is written in place.
 *
 * Invariant: while the lock is held and `isInPlace` returns true, no other process holds this workspace.
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { GoondanError } from '@goondan/types';
import type { Flock } from '../../ports/flock.ts';

export interface LockRequest {
  readonly path: string;
  /** The lock function. Absent with `--no-flock`: then the process only checks whether the file was replaced. */
  readonly flock: Flock | undefined;
  /** The text that names the owner, for the error of a rejected start. */
  readonly text: string;
  /**
   * Makes the error for a rejected start. `readHolder` returns the text of the holder, which is empty while it is not
   * written yet.
   */
  readonly refusal: (readHolder: () => string) => Promise<GoondanError>;
}

const FILE_MODE = 0o600;
/**
 * The maximum number of attempts. An attempt fails if another process removes the folder while this process opens the
 * file.
 */
const MOST_ATTEMPTS = 10;
const LONGEST_TEXT = 4096;

/** Takes the lock. **Errors** — `refusal` while another process holds it; `E_STATE_ROOT`, `E_STORE_WRITE`. */
export async function lockWorkspace(request: LockRequest) {
  const { path } = request;
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const descriptor = open(path);
    try {
      refuseOtherKind(descriptor, path);
      await takeLock(descriptor, request);
      const own = fstatSync(descriptor);
      if (isSameFile(own, path)) return heldLock(descriptor, own, request);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    closeSync(descriptor);
  }
  throw new GoondanError('E_STATE_ROOT', `${path} is removed again and again by something else.`);
}

/**
 * Opens the file, but does not follow a symbolic link, because the link could later point to another file. Node and Bun
 * open every file close-on-exec, so no child inherits the lock.
 */
function open(path: string): number {
  try {
    return openSync(
      path,
      constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      FILE_MODE,
    );
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new GoondanError('E_STORE_WRITE', `Cannot open ${path}: ${reason}`, { cause });
  }
}

/** Rejects anything but a regular file: a pipe can be locked too, but reading it blocks forever. */
function refuseOtherKind(descriptor: number, path: string): void {
  if (fstatSync(descriptor).isFile()) return;
  throw new GoondanError('E_STATE_ROOT', `${path} is not a regular file.`, {
    suggestion: 'Stop any swarm that uses this folder, then delete the file. The next start creates a new one.',
  });
}

async function takeLock(descriptor: number, { path, flock, refusal }: LockRequest): Promise<void> {
  if (flock === undefined) return;
  const answer = await flock(descriptor);
  if (answer.answer === 'locked') return;
  if (answer.answer === 'taken') throw await refusal(() => readText(descriptor));
  throw new GoondanError('E_STATE_ROOT', `${path} cannot be locked: ${answer.why}.`, {
    suggestion:
      'Choose a state root on a local disk with `--state-root`. Use `--no-flock` only where no other machine and no other container can start this swarm.',
  });
}

function heldLock(descriptor: number, own: FileIdentity, { path, text, flock }: LockRequest) {
  // Without `flock`, several processes may run this at once, so none of them reads or writes the text.
  const isAlone = flock !== undefined;
  const before = isAlone ? readText(descriptor) : '';
  if (isAlone) writeText(descriptor, text);
  let isOpen = true;
  return {
    /** The text of the previous holder. Empty if the previous holder released the lock. */
    before,
    /**
     * Returns false once the file was removed or replaced, because another process may own the workspace then. The
     * identity of an open file does not change, and no other file gets it.
     */
    isInPlace: () => isOpen && isSameFile(own, path),
    release(): void {
      if (!isOpen) return;
      isOpen = false;
      if (isAlone) writeText(descriptor, '');
      closeSync(descriptor);
    },
  };
}

type FileIdentity = Pick<Stats, 'ino' | 'dev'>;

function isSameFile(own: FileIdentity, path: string): boolean {
  try {
    const { ino, dev } = statSync(path);
    return ino === own.ino && dev === own.dev;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // Any other error does not show whether the file was replaced.
    return code !== 'ENOENT' && code !== 'ENOTDIR';
  }
}

function readText(descriptor: number): string {
  try {
    const bytes = Buffer.alloc(LONGEST_TEXT);
    return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, LONGEST_TEXT, 0));
  } catch {
    return '';
  }
}

/** Writes the text. A failure is ignored: even with a full disk a process can own a workspace. */
function writeText(descriptor: number, text: string): void {
  try {
    ftruncateSync(descriptor, 0);
    writeSync(descriptor, text, 0);
  } catch {
    // The error of a rejected start then does not name the holder.
  }
}
