/**
 * The server that all test processes of one `npm test` share. The first one that needs it starts it, in a process of its
 * own, which waits for the end of the run. So the server ends with the run, also if the run is killed.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serverFolders } from './server-folders.ts';

const ATTEMPTS = 1_200;
const BETWEEN_MS = 50;

/** Returns the port of the server. `run` is the value of `GOONDAN_TEST_RUN`: the process of the run, and a random word. */
export async function findSharedServer(run: string, major: number | undefined): Promise<number> {
  const folder = join(serverFolders(), `gdn-pg-${run}-${major ?? 'any'}`);
  if (isFirst(folder)) startShared(folder, run, major);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const failure = readIfThere(failureFile(folder));
    if (failure !== undefined) throw new Error(`The server of the test run does not start. ${failure}`);
    const port = readIfThere(portFile(folder));
    if (port !== undefined) return Number(port);
    await Bun.sleep(BETWEEN_MS);
  }
  throw new Error(`The server of the test run is not ready after ${(ATTEMPTS * BETWEEN_MS) / 1_000} s: ${folder}`);
}

export const portFile = (folder: string) => join(folder, 'port.txt');
export const failureFile = (folder: string) => join(folder, 'failure.txt');

function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if (existsSync(folder)) return false;
    throw error;
  }
}

/**
 * The shell ends at once, so that the server is no child of a test process: Bun's option `--no-orphans` ends those. The
 * option is inherited in a variable. With it, Bun dies with the process that started it, here the shell, unless the shell
 * has ended before Bun asks for that: 27 of 2,500 servers never began on a busy machine, and 0 of 1,000 without it.
 */
function startShared(folder: string, run: string, major: number | undefined): void {
  const program = join(import.meta.dir, 'run-shared-server.ts');
  const args = [process.execPath, program, folder, String(Number.parseInt(run, 10)), String(major ?? '')];
  const { BUN_FEATURE_FLAG_NO_ORPHANS: _, ...env } = process.env;
  const shell = spawn('/bin/sh', ['-c', '"$@" &', 'sh', ...args], { env, stdio: 'ignore', detached: true, cwd: '/' });
  shell.unref();
}

function readIfThere(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
