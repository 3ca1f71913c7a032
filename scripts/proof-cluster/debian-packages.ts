/** Installs the Debian packages of the proof: Patroni, etcd and PostgreSQL 15. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGES = ['patroni', 'etcd-server', 'postgresql-15', 'iproute2', 'util-linux', 'faketime'];
const PROGRAMS = ['patroni', 'etcd', 'ip', 'unshare', 'setpriv', 'faketime'];
const INSTALL = ['apt-get', 'install', '--yes', '--no-install-recommends', ...PACKAGES];

/** Ends this program with exit code 2 if it does not run as root: only root makes network namespaces. */
export function requireRoot(): void {
  if (process.getuid?.() === 0) return;
  process.stderr.write(
    `This part of the proof needs root, for network namespaces. Its packages: sudo ${INSTALL.join(' ')}\n`,
  );
  process.exit(2);
}

/** Installs missing packages. Ends this program with exit code 2, and prints the command, if that is not possible. */
export function requirePackages(): void {
  if (isInstalled()) return;
  requireRoot();
  process.stdout.write(`${INSTALL.join(' ')}\n`);
  for (const command of [['apt-get', 'update'], INSTALL]) {
    const [program = '', ...args] = command;
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    spawnSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'], env });
  }
  if (isInstalled()) return;
  process.stderr.write(`Packages are missing. Install them: ${INSTALL.join(' ')}\n`);
  process.exit(2);
}

function isInstalled(): boolean {
  return PROGRAMS.every((program) => Bun.which(program) !== null) && findPostgresPrograms() !== undefined;
}

/** Returns the folder of Debian's programs of PostgreSQL, the newest version. */
export function findPostgresPrograms(): string | undefined {
  const versions = '/usr/lib/postgresql';
  if (!existsSync(versions)) return undefined;
  const newest = readdirSync(versions)
    .toSorted((one, other) => Number(other) - Number(one))
    .find((version) => existsSync(join(versions, version, 'bin/postgres')));
  return newest === undefined ? undefined : join(versions, newest, 'bin');
}
