/**
 * `gdn run --detach`: starts a separate process that serves the swarm, and reports when it accepts input, or why it
 * does not.
 *
 * 1. The new process survives this process, the launcher and the terminal. It has its own session and is started
 *    through a shell that exits at once, because Bun's option `--no-orphans` ends every descendant of this process.
 * 2. The new process writes lines, `Said`, to its standard output; everything else goes to a file in the workspace.
 * 3. The new process is killed if it is not ready in time, or if this process stops waiting. The time begins again
 *    when it waits for another process.
 */
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { gracePeriodMs } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { programFile } from '../../bin/program-file.cjs';
import { absoluteSecret } from '../cluster/absolute-secret.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { interrupted } from '../interrupted.ts';
import { readVersion } from '../read-version.ts';
import { reportFailure } from '../report-error.ts';
import type { Terminal } from '../terminal.ts';
import { whenAborted, withInterrupt } from '../with-interrupt.ts';
import type { Said } from './detached-main.ts';
import { resolveTrustedPlan, type PreparedRun, type RunRequest } from './prepare-run.ts';
import { findServing, type OnWait, tellWait } from './replace-one-shot.ts';
import type { ServedSwarm } from './serve.ts';

/** The maximum time from the start of the process until it accepts input. */
const START_MS = 60_000;

/** Starts the process, unless the swarm already runs. **Errors** — those of `resolveTrustedPlan`, `E_PROCESS_START`. */
export async function detach(
  run: PreparedRun,
  terminal: Terminal,
  onReady: (served: ServedSwarm, isNew: boolean) => void,
): Promise<ExitCode> {
  // A node of a swarm in a store is started beside the others.
  const running = run.cluster === undefined ? await findServing(run.place) : undefined;
  if (running !== undefined) {
    const { pid, swarm, version } = running;
    const other = version === readVersion() ? {} : { version };
    onReady({ pid, workspace: run.workspace, swarm, ...other }, false);
    return exitCodes.ok;
  }
  const graceMs = gracePeriodMs((await resolveTrustedPlan(run, terminal)).plan);
  const onWait = tellWait(terminal);
  const said = await withInterrupt((signal) => startDetached(run, graceMs, onWait, signal));
  if ('error' in said) return reportFailure(said.error, terminal);
  onReady(said.served, true);
  return exitCodes.ok;
}

async function startDetached(
  run: PreparedRun,
  graceMs: number,
  onWait: OnWait,
  signal: AbortSignal,
): Promise<Exclude<Said, { readonly waits: string }>> {
  const logFile = join(run.workspace, 'logs', 'detached.log');
  const lines = launch(run, logFile);
  const pid = Number(await lines.next());
  const nextWithin = (ms: number) =>
    Promise.race([lines.next(), whenAborted(AbortSignal.any([signal, AbortSignal.timeout(ms)]))]);
  let line = await nextWithin(START_MS);
  while (line !== undefined && line !== '') {
    // The cast is safe: our own program wrote the line.
    const said = JSON.parse(line) as Said;
    if (!('waits' in said)) {
      lines.close();
      return said;
    }
    onWait(said.waits);
    line = await nextWithin(graceMs + START_MS);
  }
  lines.close();
  if (line === undefined) end(pid);
  if (signal.aborted) throw interrupted('The swarm was not started.');
  const why = line === undefined ? `did not accept input within ${START_MS} ms` : 'ended before it accepted input';
  throw new GoondanError('E_PROCESS_START', `The process of the swarm ${why}.${lastWords(logFile)}`);
}

function launch(run: PreparedRun, logFile: string) {
  const { bundle, swarmName, stateRoot, workdir, watch = false, flock = true } = run;
  const log = openLog(logFile);
  const { folder } = bundle;
  const request: RunRequest = {
    ...{ folder, swarm: swarmName, stateRoot, workdir, watch, flock, trust: true },
    ...nodeRequest(run),
  };
  const program = [process.execPath, ...flags, programFile('run/detached-main'), JSON.stringify(request)];
  const { BUN_FEATURE_FLAG_NO_ORPHANS: _, ...inherited } = process.env;
  const env = { ...inherited, ...absoluteSecrets(inherited) };
  try {
    const shell = Bun.spawn(['/bin/sh', '-c', '"$@" & echo $!', 'sh', ...program], {
      // Does not start in the current folder, because that folder would then be in use as long as the swarm runs.
      cwd: '/',
      env,
      stdio: ['ignore', 'pipe', log],
      detached: true,
    });
    return readLines(shell.stdout);
  } catch (error) {
    throw new GoondanError('E_PROCESS_START', 'A process for the swarm cannot be started.', { cause: error });
  } finally {
    closeSync(log);
  }
}

/** The new process has another current folder. Its argument has no secret: `readStoreAddress` refused passwords. */
function nodeRequest({ cluster, store, node, listen, tlsCert, tlsKey, lease }: PreparedRun): Partial<RunRequest> {
  if (cluster === undefined) return {};
  return {
    isNode: true,
    ...(store === undefined ? {} : { store: absoluteSecret(store) }),
    ...(node === undefined ? {} : { node }),
    ...(listen === undefined ? {} : { listen }),
    ...(tlsCert === undefined ? {} : { tlsCert: resolve(tlsCert) }),
    ...(tlsKey === undefined ? {} : { tlsKey: resolve(tlsKey) }),
    ...(lease === undefined ? {} : { lease }),
  };
}

function absoluteSecrets(env: NodeJS.ProcessEnv): Record<string, string> {
  const names = ['GOONDAN_STORE', 'GOONDAN_CLUSTER_TOKEN'];
  return Object.fromEntries(
    names.flatMap((name) => (env[name] === undefined ? [] : [[name, absoluteSecret(env[name])]])),
  );
}

/** Opens the log file so that only its owner can read it. */
function openLog(logFile: string): number {
  try {
    mkdirSync(dirname(logFile), { recursive: true, mode: 0o700 });
    return openSync(logFile, 'w', 0o600);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GoondanError('E_STORE_WRITE', `Cannot write ${logFile}: ${reason}`, { cause: error });
  }
}

const flags = ['--config=/dev/null', '--tsconfig-override=/dev/null', '--no-env-file', '--no-install'];

/** Returns one line per call; the empty string at the end of the stream. */
function readLines(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let buffered = '';
  return {
    async next(): Promise<string> {
      while (!buffered.includes('\n')) {
        const { value, done } = await reader.read();
        if (done) return '';
        buffered += decoder.decode(value, { stream: true });
      }
      const [line = '', ...rest] = buffered.split('\n');
      buffered = rest.join('\n');
      return line;
    },
    /** Stops reading. Otherwise this process would wait as long as the other process lives. */
    close: () => void reader.cancel(),
  };
}

/** Kills the process; the processes that it started end with it. */
function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already exited.
  }
}

const MOST_WORDS = 2_000;

function lastWords(logFile: string): string {
  const text = readFileSync(logFile, 'utf8').trim().slice(-MOST_WORDS);
  return text === '' ? '' : ` It said:\n${text}`;
}
