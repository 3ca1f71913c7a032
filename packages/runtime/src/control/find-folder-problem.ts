import { lstatSync } from 'node:fs';

/**
 * Returns the reason why a folder must not hold a control socket, or `undefined`. Anyone who can write to the folder
 * could replace the socket. The server and the client both check the folder, because a client must not talk to another
 * user's socket. Throws errors of the disk.
 */
export function findFolderProblem(folder: string, userId: number): string | undefined {
  // `lstat` does not follow links: in a folder that everyone can write to, anyone may have made the link.
  const stat = lstatSync(folder);
  const { uid, mode } = stat;
  if (stat.isSymbolicLink()) return 'is a link';
  if (!stat.isDirectory()) return 'is not a folder';
  if (uid !== userId) return `belongs to user ${uid}`;
  if ((mode & OTHERS_WRITE) !== 0) return `can be written by others (mode ${(mode & 0o777).toString(8)})`;
  return undefined;
}

const OTHERS_WRITE = 0o022;
