/**
 * Starts a Bun process beside a Node program, for everything that needs Bun: scanning modules, running a swarm,
 * replaying a turn.
 *
 * 1. Calls are sent to the standard input of the process, one per line. The process answers them in order on its
 *    standard output.
 * 2. The process exits when its standard input is closed. So it also exits when the Node program ends in any way.
 *    Signals that a terminal sends to a process group do not reach it, so that the Node program decides when it ends.
 */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GoondanError } from '@goondan/types';
import { findBun, programFlags } from '../../bin/find-bun.cjs';
import type { LogLine } from '../ports/log-line.ts';
import { checkPlatform } from '../ports/platform.ts';
import { unlessThrows } from '../ports/unless-throws.ts';
import { type FrameError, fromFrameError } from './check/frame-error.ts';
import { readLines, toLine } from './json-lines.ts';

/** The time that the process has to exit by itself, before it is killed. */
const END_MS = 2_000;

/** One line sent to the process. */
export interface BesideCall {
  readonly name: 'replayRecording' | 'scanModule' | 'startSwarm';
  readonly argument: object;
}

/** One line from the process. `answer` and `error` answer a call; the other lines may come at any time. */
export type BesideSaid =
  | { readonly answer: unknown }
  | { readonly error: FrameError }
  | { readonly log: LogLine }
  /** The reason if the swarm stopped without a request. */
  | { readonly failure: FrameError };

/** Starts the process. `hear` receives lines that are not answers. **Errors** — `E_PLATFORM`, `E_BUN_MISSING`. */
export async function startBunBeside(hear: (said: BesideSaid) => void = () => undefined) {
  const { stdin, stdout, closed, kill } = await spawnBun();
  const waiting: { resolve: (answer: unknown) => void; reject: (error: GoondanError) => void }[] = [];
  // A process whose output cannot be parsed is useless, so it is ended.
  const heardAll = listen().catch(() => stdin.end());
  const ended = heardAll.then(() => closed);
  return {
    /**
     * Calls a function of the process. **Errors** — those of the call; `E_PROCESS_START` when the process exits before
     * it has answered.
     */
    call: <Answer>(name: BesideCall['name'], argument: object) =>
      new Promise<Answer>((resolve, reject) => {
        // An argument that is not JSON throws here, before the call waits for an answer.
        const line = toLine({ name, argument } satisfies BesideCall);
        // Safe: the answer of a call has its type, because both programs are of one package.
        waiting.push({ resolve: resolve as (answer: unknown) => void, reject });
        stdin.write(line);
        // This has no effect if the call was already answered.
        void ended.then(() => reject(gone()));
      }),
    /**
     * Resolves when the process has exited. If the process failed, the value is the signal or the exit code, as text.
     */
    ended,
    async end() {
      stdin.end();
      // A process that is stopped or blocked does not notice the end of its input.
      const timer = setTimeout(kill, END_MS);
      await ended.finally(() => clearTimeout(timer));
    },
  };

  async function listen(): Promise<void> {
    for await (const said of readLines<BesideSaid>(stdout)) {
      if ('answer' in said) waiting.shift()?.resolve(said.answer);
      else if ('error' in said) waiting.shift()?.reject(fromFrameError(said.error));
      // An error that the listener throws is a mistake of the Node program and must not end the Bun process.
      else queueMicrotask(() => hear(said));
    }
  }
}

async function spawnBun() {
  checkPlatform(process.platform);
  const bun = findBun();
  if (bun === undefined) throw missing(`is not installed for ${process.platform}-${process.arch}`);
  const { spawn } = await import('node:child_process');
  const program = fileURLToPath(new URL(`../beside-main${extname(import.meta.url)}`, import.meta.url));
  // The working folder of the Node program, or the root folder if the working folder was deleted.
  const folder = unlessThrows(() => process.cwd()) ?? '/';
  const child = spawn(bun, [...programFlags, program, folder], {
    // Bun does not start in the program's working folder, because files there could change how Bun runs.
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  // Errors of writing are ignored, because pending calls are rejected when the process exits.
  child.stdin.on('error', () => undefined);
  const closed = new Promise<string | undefined>((resolve) => {
    child.on('close', (code, signal) => resolve(code === 0 ? undefined : (signal ?? `exit code ${code}`)));
  });
  await new Promise<void>((resolve, reject) => {
    child.on('spawn', resolve);
    child.on('error', (error) => reject(missing(`cannot be started: ${error.message}`)));
  });
  return { stdin: child.stdin, stdout: child.stdout, closed, kill: () => void child.kill('SIGKILL') };
}

function gone(): GoondanError {
  return new GoondanError('E_PROCESS_START', 'The Bun process of this program ended before it answered.');
}

function missing(why: string): GoondanError {
  return new GoondanError('E_BUN_MISSING', `Bun, which runs the agents of this program, ${why}.`);
}
