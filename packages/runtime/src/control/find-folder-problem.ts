import { lstatSync } from 'node:fs';

/**
 * What keeps a folder from holding a control socket, or `undefined`: whoever can write to it could put another socket in
 * the place of ours. Both ends ask, because a client must not talk to a stranger either. Throws what the disk says.
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

/** Of the name itself: in a folder that everybody writes to, a link may be anybody's. */
function lstat(folder: string) {
  const stat = lstatSync(folder);
  return { uid: stat.uid, mode: stat.mode, isLink: stat.isSymbolicLink(), isFolder: stat.isDirectory() };
}
