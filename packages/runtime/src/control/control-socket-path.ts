/**
 * Computes the path of a workspace's control socket. Server and client call the same function, which depends on its
 * arguments only: the same inputs give the same path.
 */
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { shortHash } from '../workspace/layout/path-segment.ts';

/** Settings for the socket of a workspace whose own path is too long. */
export interface SocketEnvironment {
  /** `XDG_RUNTIME_DIR`. A relative path counts as absent. */
  readonly runtimeFolder?: string;
  readonly temporaryFolder: string;
  readonly userId: number;
}

/** The system allows 107 bytes for the path of a socket, on some systems 103. */
const LONGEST_PATH = 100;

/**
 * Returns `control.sock` in the workspace's folder. If that is longer than 100 bytes, it is a name derived from the
 * workspace in a folder of the user: in the runtime folder of the system, else in its temporary folder, else in `/tmp`.
 */
export function controlSocketPath(
  workspaceFolder: string,
  workspaceId: string,
  { runtimeFolder = '', temporaryFolder, userId }: SocketEnvironment,
): string {
  const inWorkspace = join(workspaceFolder, 'control.sock');
  if (fits(inWorkspace)) return inWorkspace;
  const name = `${workspaceId.slice(0, 8)}-${shortHash(resolve(workspaceFolder))}.sock`;
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

/** Returns -1 on systems without user ids. */
export function currentUserId(): number {
  return process.getuid?.() ?? -1;
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= LONGEST_PATH;
}
