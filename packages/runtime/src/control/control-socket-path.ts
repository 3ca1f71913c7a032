/**
 * Computes the path of a workspace's control socket. The server and the client call the same function, whose result
 * depends only on its arguments. So both find the same path.
 */
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { shortHash } from '../workspace/layout/path-segment.ts';

/** The folders and the user id from which a path is made if the path inside the workspace would be too long. */
export interface SocketEnvironment {
  /** The value of `XDG_RUNTIME_DIR`. A relative path counts as absent. */
  readonly runtimeFolder?: string;
  readonly temporaryFolder: string;
  readonly userId: number;
}

/** Most systems allow 107 bytes for the path of a socket, and some only 103. */
const LONGEST_PATH = 100;

/**
 * Returns `control.sock` in the workspace's folder. If that path is longer than 100 bytes, returns a name derived from
 * the workspace, in a folder of the user: inside the system's runtime folder, or else its temporary folder, or else
 * `/tmp`.
 */
export function controlSocketPath(workspaceFolder: string, workspaceId: string, around: SocketEnvironment): string {
  const name = `${workspaceId.slice(0, 8)}-${shortHash(resolve(workspaceFolder))}.sock`;
  return shortPath(join(workspaceFolder, 'control.sock'), name, around);
}

/** Returns the path of a keeper's socket in the same way. `number` is unique in the run. */
export function keeperSocketPath(runFolder: string, number: number, around: SocketEnvironment): string {
  const name = `${shortHash(resolve(runFolder))}-k${number}.sock`;
  return shortPath(join(runFolder, `k${number}.sock`), name, around);
}

function shortPath(
  wanted: string,
  name: string,
  { runtimeFolder = '', temporaryFolder, userId }: SocketEnvironment,
): string {
  if (fits(wanted)) return wanted;
  const elsewhere = [runtimeFolder, temporaryFolder].filter(isAbsolute);
  const places = [...elsewhere, '/tmp'].map((folder) => join(folder, `goondan-${userId}`, name));
  return places.find(fits) ?? join('/tmp', `goondan-${userId}`, name);
}

export function systemSocketEnvironment(): SocketEnvironment {
  const runtimeFolder = process.env['XDG_RUNTIME_DIR'];
  return {
    ...(runtimeFolder === undefined ? {} : { runtimeFolder }),
    temporaryFolder: tmpdir(),
    userId: currentUserId(),
  };
}

/** Returns the id of the current user; -1 on systems without user ids. */
export function currentUserId(): number {
  return process.getuid?.() ?? -1;
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= LONGEST_PATH;
}
