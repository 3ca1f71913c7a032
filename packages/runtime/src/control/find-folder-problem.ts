import { lstatSync } from 'node:fs';

/**
 * Returns the reason why a folder cannot hold a control socket, or `undefined`: anyone who can write to it could
 * replace our socket. Both ends check it, because a client must not talk to another user's socket either. Throws the
 * error of the disk.
 */
export function findFolderProblem(folder: string, userId: number): string | undefined {
  const { uid, mode, ...stat } = lstat(folder);
  if (stat.isLink) return 'is a link';
  if (!stat.isFolder) return 'is not a folder';
  if (uid !== userId) return `belongs to user ${uid}`;
  if ((mode & OTHERS_WRITE) !== 0) return `can be written by others (mode ${(mode & 0o777).toString(8)})`;
  return undefined;
}

const OTHERS_WRITE = 0o022;

/** Reads the name itself, not its target: in a folder that everyone can write to, anyone may have made a link. */
function lstat(folder: string) {
  const stat = lstatSync(folder);
  return { uid: stat.uid, mode: stat.mode, isLink: stat.isSymbolicLink(), isFolder: stat.isDirectory() };
}
