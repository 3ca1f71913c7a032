/**
 * Starts a PostgreSQL server on this machine, for `gdn cluster dev` and for tests. The server listens on 127.0.0.1 only,
 * and ends with this process, also if this process is killed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import { openDatabase } from '../driver/database.ts';
import { findBinaries } from './find-binaries.ts';
import { asUser, isRoot, NOBODY, reachable } from './reachable-programs.ts';

export interface ServerOptions {
  /** The folder of the server's data: an empty one, or that of a server that has ended. The caller removes it. */
  readonly folder: string;
  /** The major version of the server; any that is installed when absent. */
  readonly major?: number | undefined;
  /** The port; a free one when absent. */
  readonly port?: number;
  /** The password of the user `postgres`; without one, everybody on this machine may connect. */
  readonly password?: string;
  /** Settings of the server, for example `fsync`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** If true, the folder is removed after the end of this process, also if this process is killed. */
  readonly isTemporary?: boolean;
}

export interface Server {
  readonly port: number;
  readonly pid: number;
  /** Returns the address of a database of the server, with the password. */
  addressOf(database: string): string;
  /** Resolves when all processes of the server have ended. Another one can then start with its data, at its port. */
  readonly ended: Promise<void>;
  /** Ends the server, and with it all its connections. */
  stop(): Promise<void>;
}

/** A server may recover its data first, on a busy machine. One that cannot start ends before. */
const START_MS = 60_000;
const BETWEEN_MS = 50;
const STATEMENT_MS = 500;

/** **Errors** — `E_POSTGRES_MISSING`; `E_PROCESS_START` when the server does not start. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { folder, major, port: wanted, password, settings = {}, isTemporary = false } = options;
  makeFolder(folder);
  const { postgres, initdb } = reachable(findBinaries(major), folder);
  const data = join(folder, 'data');
  if (!existsSync(data)) await makeData(initdb, folder, data, password);
  const port = wanted ?? (await freePort());
  const all = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: folder, ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = start([postgres, '-D', data, ...flags]);
  endWithThisProcess(child.process.pid, isTemporary ? folder : undefined);
  const user = password === undefined ? 'postgres' : `postgres:${encodeURIComponent(password)}`;
  const addressOf = (database: string) => `postgres://${user}@127.0.0.1:${port}/${database}`;
  try {
    await untilReady(child, addressOf('postgres'));
  } catch (error) {
    await end(child);
    throw error;
  }
  return { port, pid: child.process.pid ?? 0, addressOf, ended: child.ended, stop: () => end(child) };
}

function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o700);
  if (isRoot()) chownSync(folder, NOBODY, NOBODY);
}

async function makeData(initdb: string, folder: string, data: string, password: string | undefined): Promise<void> {
  const access = password === undefined ? ['-A', 'trust'] : ['-A', 'scram-sha-256', `--pwfile=${join(folder, 'pw')}`];
  if (password !== undefined) writeFileSync(join(folder, 'pw'), password, { mode: 0o600 });
  if (isRoot() && password !== undefined) chownSync(join(folder, 'pw'), NOBODY, NOBODY);
  await run([initdb, '-D', data, '-U', 'postgres', ...access, '-N', '-E', 'UTF8', '--locale=C']);
  if (password !== undefined) rmSync(join(folder, 'pw'));
}

interface Child {
  readonly process: ChildProcess;
  readonly ended: Promise<void>;
  hasEnded: boolean;
  /** The last lines of standard error. */
  said: string;
}

const MOST_SAID = 4_000;

function start(command: readonly string[]): Child {
  const [program = '', ...args] = [...asUser(), ...command];
  // In a session of its own, so that Ctrl-C in a terminal does not end the server before its users.
  const spawned = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true, cwd: '/' });
  const ended = Promise.withResolvers<void>();
  const child: Child = { process: spawned, ended: ended.promise, hasEnded: false, said: '' };
  const onExit = () => void spawned.kill('SIGKILL');
  process.on('exit', onExit);
  const over = () => {
    child.hasEnded = true;
    process.off('exit', onExit);
    ended.resolve();
  };
  spawned.stderr?.on('data', (piece: Buffer) => {
    child.said = `${child.said}${piece.toString('utf8')}`.slice(-MOST_SAID);
  });
  // The stream closes when the last process of the server has ended: all of them hold it. They may end after the first one,
  // if that one was killed, and while one of them has the shared memory, another server with the same data refuses to start.
  spawned.once('close', over);
  spawned.once('error', (error) => {
    child.said += error.message;
    over();
  });
  return child;
}

/**
 * Starts a shell that waits for the end of this process, also if it is killed. It then ends the server and removes the
 * folder, if there is one to remove. Without a folder, it ends with the server. The shell is not a child of this process,
 * because Bun's option `--no-orphans` ends those.
 */
export function endWithThisProcess(server: number | undefined, folder = ''): void {
  if (server === undefined) return;
  // A server that ended before is not signalled: its id may be that of another process.
  const rest = '[ "$0" ] || [ -z "$gone" ] || exit';
  const wait = `while kill -0 ${process.pid}; do kill -0 ${server} || gone=1; ${rest}; sleep 0.5; done`;
  const quit = `[ "$gone" ] || for _ in $(seq 50); do kill -QUIT ${server} || break; sleep 0.1; done`;
  const script = `{ ${wait}; ${quit}; [ "$0" ] && rm -rf "$0"; } &`;
  const shell = spawn('/bin/sh', ['-c', script, folder], { stdio: 'ignore', detached: true, cwd: '/' });
  shell.once('error', () => undefined);
  shell.unref();
}

async function run(command: readonly string[]): Promise<void> {
  const child = start(command);
  await child.ended;
  if (child.process.exitCode !== 0) throw notStarted('The files of a PostgreSQL server cannot be made', child);
}

async function untilReady(child: Child, address: string): Promise<void> {
  const deadline = performance.now() + START_MS;
  for (;;) {
    const database = openDatabase(address, { connections: 1, statementMs: STATEMENT_MS });
    try {
      await database.query('select 1');
      return;
    } catch (error) {
      const isLate = performance.now() > deadline;
      if (child.hasEnded || isLate) throw notStarted('The PostgreSQL server does not start', child, error);
      await new Promise((resolve) => void setTimeout(resolve, BETWEEN_MS));
    } finally {
      await database.close();
    }
  }
}

function notStarted(what: string, { said }: Child, cause?: unknown): GoondanError {
  return new GoondanError('E_PROCESS_START', `${what}. ${said.trim() === '' ? '' : `It said:\n${said.trim()}`}`, {
    cause,
  });
}

/** SIGQUIT ends a server at once, with all its processes. */
async function end(child: Child): Promise<void> {
  if (!child.hasEnded) child.process.kill('SIGQUIT');
  await child.ended;
}

/**
 * Returns a port that nobody uses. The system gives the ports from 32768 on to connections and to listeners without a
 * port of their own, so one of them may be taken before the server listens, or while a killed server starts again.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * (PORTS_END - FIRST_PORT));
    if (await isFree(port)) return port;
  }
}

const FIRST_PORT = 20_000;
const PORTS_END = 32_768;

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    probe.listen(port, '127.0.0.1', () => void probe.close(() => resolve(true)));
  });
}
