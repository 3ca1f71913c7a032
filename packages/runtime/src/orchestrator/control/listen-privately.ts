/**
 * A socket that only its owner can open, at every moment of its life: its folder is closed to others before it is made,
 * it is made under a mask that leaves others nothing, and it gets its name when it has its mode and listens.
 *
 * The lock of the workspace decides who may serve it, not the socket: what a dead orchestrator left is replaced.
 */
import { GoondanError } from '@goondan/types';
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { currentUserId } from '../../control/control-socket-path.ts';
import { findFolderProblem } from '../../control/find-folder-problem.ts';

export interface PrivateSocket<Server> {
  readonly server: Server;
  /** Removes the name, unless another socket has it by now. */
  readonly remove: () => void;
}

const FOLDER_MODE = 0o700;
const SOCKET_MODE = 0o600;
const OTHERS = 0o077;

/** `listen` binds a socket to the path it is given, before it returns. Throws `E_CONTROL_PATH`. */
export function listenPrivately<Server>(path: string, listen: (path: string) => Server): PrivateSocket<Server> {
  try {
    closeFolder(dirname(path));
    checkFree(path);
    // Not the name itself: Bun removes the name it was given when it stops, also when that is another's by then.
    const draft = draftOf(path);
    rmSync(draft, { force: true });
    const server = underMask(OTHERS, () => listen(draft));
    chmodSync(draft, SOCKET_MODE);
    renameSync(draft, path);
    return { server, remove: removal(path) };
  } catch (error) {
    if (error instanceof GoondanError) throw error;
    throw unusable(path, error instanceof Error ? error.message : String(error), error);
  }
}

function closeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  const own = lstatSync(folder);
  if (own.isDirectory() && own.uid === currentUserId()) chmodSync(folder, FOLDER_MODE);
  const problem = findFolderProblem(folder, currentUserId());
  if (problem !== undefined) throw unusable(folder, problem);
}

function checkFree(path: string): void {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there !== undefined && !there.isSocket()) throw unusable(path, 'is there and is not a socket');
}

/** As long as the path itself, whose length has a bound. */
function draftOf(path: string): string {
  return path.endsWith('.sock') ? path.replace(/\.sock$/, '.next') : `${path}.next`;
}

/** Nothing else of this thread runs meanwhile; other threads can at worst make a file that is too private. */
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
    if (there !== undefined && isSame(there, own)) rmSync(path, { force: true });
  };
}

function isSame(one: Stats, other: Stats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

function unusable(path: string, problem: string, cause?: unknown): GoondanError {
  return new GoondanError('E_CONTROL_PATH', `No control socket at ${path}: ${problem.replace(/\.$/, '')}.`, { cause });
}
