/**
 * Builds the arguments for bubblewrap: a read-only system, empty home and temporary folders, the working folder,
 * separate processes, and no network unless it is allowed. Everything else is hidden: the user's home, sockets of other
 * programs, the state of other agents.
 */
import { join, resolve } from 'node:path';

export interface SandboxPlan {
  /** A real path. */
  readonly workdir: string;
  readonly cwd: string;
  readonly home: string;
  readonly network: boolean;
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

const systemFolders = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/opt',
  '/nix/store',
  '/run/current-system',
];
/** Folders to which `/etc/resolv.conf` usually links. */
const resolverFolders = ['/run/systemd/resolve', '/run/resolvconf', '/run/NetworkManager'];

export function sandboxArguments({ workdir, cwd, home, network, readable, writable }: SandboxPlan): string[] {
  const mounts = [
    ...['/tmp', '/var/tmp', home].map((path) => ({ path, flag: '--tmpfs' })),
    ...[...systemFolders, ...(network ? resolverFolders : [])].map((path) => ({ path, flag: '--ro-bind-try' })),
    ...readable.map((path) => ({ path: toAbsolute(path, workdir, home), flag: '--ro-bind-try' })),
    ...writable.map((path) => ({ path: toAbsolute(path, workdir, home), flag: '--bind-try' })),
    { path: workdir, flag: '--bind' },
  ];
  // Mounts inner paths after outer ones. If a path occurs twice, the last mount is used.
  const ordered = mounts.toSorted((one, other) => depthOf(one.path) - depthOf(other.path));
  return [
    '--unshare-all',
    ...(network ? ['--share-net'] : []),
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    ...ordered.flatMap(({ path, flag }) => (flag === '--tmpfs' ? [flag, path] : [flag, path, path])),
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--chdir',
    cwd,
  ];
}

function toAbsolute(path: string, workdir: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : resolve(workdir, path);
}

function depthOf(path: string): number {
  return path === '/' ? 0 : path.split('/').length;
}
