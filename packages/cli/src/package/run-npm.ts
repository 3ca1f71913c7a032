/**
 * Runs npm in a folder and waits for its exit. At a terminal npm shows its own progress and errors; otherwise its
 * output is shown only when it fails.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { GoondanError } from '@goondan/types';
import { interrupted } from '../interrupted.ts';
import type { Terminal } from '../terminal.ts';
import { npmEnvironment } from './npm-environment.ts';
import { withoutNpmrc } from './without-npmrc.ts';

export interface NpmRun {
  /** The folder in which npm runs, as a path without symbolic links. */
  readonly folder: string;
  /** If true, npm uses the `.npmrc` of the folder, or of its npm workspace. */
  readonly isTrusted: boolean;
  readonly terminal: Terminal;
  /** Aborts on Ctrl-C: then npm is asked to stop, and it undoes its change. */
  readonly signal: AbortSignal;
}

/** How long npm may take to undo its change after Ctrl-C. */
const GRACE_MS = 10_000;
/** The maximum number of characters of npm's output that are kept: the last ones. */
const MOST_KEPT = 200_000;
/** Settings that a folder's `.npmrc` must not change: the git program, and where packages are installed. */
const DECIDED_HERE = ['--git=git', '--global=false', '--location=project'];

/** **Errors** — `E_NPM_FAILED`; `E_CANCELLED`; `E_PACKAGE_FILE`. */
export async function runNpm(args: readonly string[], run: NpmRun): Promise<void> {
  if (run.signal.aborted) throw interrupted('npm was interrupted.');
  if (run.isTrusted) return execute(args, run);
  // Disables workspaces, because a parent folder could declare this folder as its workspace and bring its own `.npmrc`.
  await withoutNpmrc(run.folder, () => execute([...args.slice(0, 1), '--workspaces=false', ...args.slice(1)], run));
}

async function execute(args: readonly string[], { folder, terminal, signal }: NpmRun): Promise<void> {
  // npm gets its own process group, so that this code decides what Ctrl-C does. Its output goes to stderr, because it
  // is not the result of the command.
  const stdio = terminal.showsProgress ? (['ignore', 2, 2] as const) : (['ignore', 'pipe', 'pipe'] as const);
  const env = npmEnvironment(process.env);
  const child = spawn('npm', [...DECIDED_HERE, ...args], { cwd: folder, env, stdio: [...stdio], detached: true });
  const said = keepOutput(child);
  const stopListening = interruptOn(signal, child);
  const ended = await endOf(child);
  stopListening();
  if (signal.aborted) throw interrupted('npm was interrupted.');
  if (ended === 0) return;
  if (said() !== '') terminal.printError(`${said().trimEnd()}\n`);
  throw failed(args, ended);
}

/** Resolves with the exit code, or with the reason why there is none. */
function endOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, by) => resolve(code ?? `it was ended by ${by}`));
  });
}

function keepOutput(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (piece: string) => {
      text = (text + piece).slice(-MOST_KEPT);
    });
  }
  return () => text;
}

function interruptOn(signal: AbortSignal, child: ChildProcess): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    killGroup(child, 'SIGINT');
    timer = setTimeout(() => killGroup(child, 'SIGKILL'), GRACE_MS);
  };
  signal.addEventListener('abort', stop, { once: true });
  return () => {
    signal.removeEventListener('abort', stop);
    clearTimeout(timer);
  };
}

function killGroup({ pid }: ChildProcess, signal: 'SIGINT' | 'SIGKILL'): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The process has already exited.
  }
}

function failed([command = '']: readonly string[], ended: number | string): GoondanError {
  if (typeof ended === 'number') return new GoondanError('E_NPM_FAILED', `\`npm ${command}\` ended with ${ended}.`);
  const suggestion = 'npm comes with Node: see whether `npm --version` works here. `gdn doctor` looks at more.';
  return new GoondanError('E_NPM_FAILED', `\`npm ${command}\` could not be run: ${ended}.`, { suggestion });
}
