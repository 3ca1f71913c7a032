/**
 * Makes a socket that only its owner can open, from the moment it is created. First its folder is closed to others. The
 * socket is then created with a umask that gives others no access, under a draft name. When its mode is set and it
 * listens, it is renamed.
 *
 * The lock of the workspace decides which process may serve the socket, so the socket of a dead orchestrator is
 * replaced.
 */
import { GoondanError } from '@goondan/types';
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { currentUserId } from '../../control/control-socket-path.ts';
import { findFolderProblem } from '../../control/find-folder-problem.ts';
import { messageOf } from '../../ipc/check/frame-error.ts';

const FOLDER_MODE = 0o700;
const SOCKET_MODE = 0o600;
const OTHERS = 0o077;

/**
 * Makes the socket. `listen` must bind a socket to the given path before it returns. The returned `remove` removes the
 * path, unless another socket has it by then. Throws `E_CONTROL_PATH`.
 */
export function listenPrivately<Server>(
  path: string,
  listen: (path: string) => Server,
): { readonly server: Server; readonly remove: () => void } {
  try {
    closeFolder(dirname(path));
    checkFree(path);
    // When Bun stops, it removes the path it was given, even if another socket has that path by then. So Bun gets a
    // draft path.
    const draft = draftOf(path);
    rmSync(draft, { force: true });
    const server = underMask(OTHERS, () => listen(draft));
    chmodSync(draft, SOCKET_MODE);
    renameSync(draft, path);
    return { server, remove: removal(path) };
  } catch (error) {
    if (GoondanError.is(error)) throw error;
    throw unusable(path, messageOf(error), error);
  }
}

/** Creates a folder, or closes an existing one to others. Throws `E_CONTROL_PATH`. */
export function closeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  const own = lstatSync(folder);
  if (own.isDirectory() && own.uid === currentUserId()) chmodSync(folder, FOLDER_MODE);
  const problem = findFolderProblem(folder, currentUserId());
  if (problem !== undefined) throw unusable(folder, problem);
}

function checkFree(path: string): void {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there !== undefined && !there.isSocket()) throw unusable(path, 'exists, but is not a socket');
}

/** Makes a path of the same length, because the length of socket paths is limited. */
function draftOf(path: string): string {
  return path.endsWith('.sock') ? path.replace(/\.sock$/, '.next') : `${path}.next`;
}

/**
 * Runs `action` with another umask. No other code of this thread runs meanwhile. A file that another thread creates at
 * that moment is at worst too private.
 */
function underMask<Value>(mask: number, action: () => Value): Value {
  const before = process.umask(mask);
  try {
    return action();
  } finally {
    process.umask(before);
  }
}

function removal(path: string): () => void {
  const own = lstatSync(path);
  return () => {
    const there = lstatSync(path, { throwIfNoEntry: false });
    if (there?.dev === own.dev && there.ino === own.ino) rmSync(path, { force: true });
  };
}

function unusable(path: string, problem: string, cause?: unknown): GoondanError {
  return new GoondanError(
    'E_CONTROL_PATH',
    `The control socket cannot listen at ${path}: ${problem.replace(/\.$/, '')}.`,
    { cause },
  );
}
