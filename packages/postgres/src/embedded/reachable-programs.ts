/** PostgreSQL refuses to run as root. A process of root starts it as another user, who may not reach the programs. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Binaries } from './find-binaries.ts';

export const NOBODY = 65_534;

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The start of a command that runs as the user of the server. */
export function asUser(): readonly string[] {
  return isRoot() ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--'] : [];
}

/**
 * Copies the programs into the folder of the server if its user cannot enter the folder that they are in, for example one
 * in the home of root.
 */
export function reachable(binaries: Binaries, folder: string): Binaries {
  if (!isRoot() || canRun(binaries.initdb)) return binaries;
  const copy = join(folder, 'programs');
  cpSync(dirname(dirname(binaries.initdb)), copy, { recursive: true, verbatimSymlinks: true });
  chmodSync(copy, 0o755);
  chownSync(copy, NOBODY, NOBODY);
  return { postgres: join(copy, 'bin', 'postgres'), initdb: join(copy, 'bin', 'initdb') };
}

function canRun(path: string): boolean {
  const [program, ...args] = [...asUser(), 'test', '-x', path];
  return program !== undefined && spawnSync(program, args).status === 0;
}
