/**
 * Runs one command and returns its result. Invariants:
 *
 * 1. No process of the command outlives the call. This is true after a deadline, after a cancel, for processes that the
 *    command left in the background, and when this process exits.
 * 2. A command that fails gives a result. Only a command that cannot be started gives an error.
 */
import { realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve, sep } from 'node:path';
import { GoondanError } from '@goondan/types';
import { endTree, killTreeNow } from '../../process-tree/end-tree.ts';
import { newProcessTag, type ProcessTag, type TreeRoot } from '../../process-tree/read-tree.ts';
import type { BashConfig } from './bash-config.ts';
import { OutputCollector } from './collect-output.ts';
import { commandEnvironment } from '../../process-tree/child-environment.ts';
import type { Sandbox } from './find-sandbox.ts';
import { sandboxArguments } from './sandbox-arguments.ts';
import type { SpillFolder } from './spill-folder.ts';

export interface CommandAsk {
  readonly command: string;
  readonly timeoutMs?: number;
  /** A folder inside the working folder, relative to it. */
  readonly cwd?: string;
}

export interface CommandPlace {
  readonly workdir: string;
  readonly config: BashConfig;
  /** The sandbox to use, or the reason why it does not work. */
  readonly sandbox: Sandbox;
  readonly spill: SpillFolder;
  readonly signal: AbortSignal;
  /** The environment of this process; a command gets only a few of its variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The trace context of the call, in W3C format. The command gets it as `TRACEPARENT`. */
  readonly traceparent?: string;
  /** The time between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
}

const GRACE_MS = 500;
/** How long to wait for the rest of the output after every writer has exited. */
const LAST_OUTPUT_MS = 500;

/**
 * Returns JSON for the model. `exitCode` is `null` when a signal ended the command. `stdoutFile` and `stderrFile` are
 * the files that contain a stream which was too long to show.
 */
export async function runCommand(ask: CommandAsk, place: CommandPlace) {
  const { config, signal } = place;
  signal.throwIfAborted();
  const limitMs = Math.min(ask.timeoutMs ?? config.timeoutMs, config.maxTimeoutMs);
  const tag = newProcessTag();
  const startedAt = performance.now();
  const child = await start(ask, place, tag);
  const root = { pid: child.pid, tag };
  const output = collect(child, place);
  const ending = await waitFor(child, root, limitMs, place);
  const { stdout, stderr } = await output.finish();
  signal.throwIfAborted();
  return {
    exitCode: child.exitCode,
    ...(child.signalCode === null ? {} : { signal: String(child.signalCode) }),
    ...(ending === 'late' ? { timedOut: true, limitMs } : {}),
    durationMs: Math.round(performance.now() - startedAt),
    stdout: stdout.text,
    stderr: stderr.text,
    ...(stdout.file === undefined ? {} : { stdoutFile: stdout.file }),
    ...(stderr.file === undefined ? {} : { stderrFile: stderr.file }),
    sandbox: place.sandbox.works ? 'bubblewrap' : 'none',
    ...(place.sandbox.works ? {} : { notice: `unsandboxed: ${place.sandbox.why}` }),
  };
}

type Child = Bun.Subprocess<'ignore', 'pipe', 'pipe'>;

async function start(ask: CommandAsk, place: CommandPlace, tag: ProcessTag): Promise<Child> {
  const { config, sandbox, environment, traceparent } = place;
  const workdir = await realpath(place.workdir).catch((error: unknown) => {
    throw cannotStart(`there is no working folder "${place.workdir}"`, error);
  });
  const cwd = await findFolder(workdir, ask.cwd ?? '.');
  if (ask.command.includes('\0')) throw cannotStart('a command cannot hold a NUL');
  const bash = Bun.which('bash', { PATH: environment.PATH ?? '' });
  if (bash === null) throw cannotStart('there is no bash in PATH');
  const traced = traceparent === undefined ? {} : { TRACEPARENT: traceparent };
  const env = commandEnvironment(environment, { ...traced, ...config.env }, tag);
  const command = [bash, '--noprofile', '--norc', '-c', ask.command];
  const options = { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', detached: true } as const;
  try {
    if (!sandbox.works) return Bun.spawn(command, { ...options, cwd, env });
    const home = env.HOME ?? homedir();
    const plan = { ...config, workdir, cwd, home, readable: [...config.readable, place.spill.path] };
    const { TMPDIR: _outside, ...inside } = env;
    return Bun.spawn([sandbox.program, ...sandboxArguments(plan), '--', ...command], { ...options, cwd, env: inside });
  } catch (error) {
    throw cannotStart(error instanceof Error ? error.message : String(error), error);
  }
}

/**
 * Checks that the folder is inside the working folder. This only prevents mistakes: a command without a sandbox can
 * still use any folder.
 */
async function findFolder(workdir: string, cwd: string): Promise<string> {
  const wanted = resolve(workdir, cwd);
  const found = await realpath(wanted).catch(() => undefined);
  if (found === undefined || !(await stat(found)).isDirectory()) throw cannotStart(`there is no folder "${cwd}"`);
  if (found === workdir || found.startsWith(workdir === sep ? sep : workdir + sep)) return found;
  throw cannotStart(`"${cwd}" is not inside the working folder`);
}

function cannotStart(problem: string, cause?: unknown): GoondanError {
  return new GoondanError('E_COMMAND_START', `The command cannot be started: ${problem}.`, { cause });
}

function collect(child: Child, { config, spill }: CommandPlace) {
  const over = new AbortController();
  const of = (stream: 'stdout' | 'stderr') => {
    const collector = new OutputCollector({
      shownBytes: config.outputLimit,
      spilledBytes: config.spillLimit,
      hidden: Object.values(config.env),
      newFile: () => spill.newFile(stream),
    });
    return { collector, read: collector.read(child[stream], over.signal) };
  };
  const [stdout, stderr] = [of('stdout'), of('stderr')];
  return {
    async finish() {
      const late = setTimeout(() => over.abort(), LAST_OUTPUT_MS);
      // A broken pipe ends only the output, not the command.
      await Promise.allSettled([stdout.read, stderr.read]);
      clearTimeout(late);
      return { stdout: stdout.collector.finish(), stderr: stderr.collector.finish() };
    },
  };
}

/** Waits until the command exits, reaches its time limit or is cancelled. Then ends all of its remaining processes. */
async function waitFor(
  child: Child,
  root: TreeRoot,
  limitMs: number,
  { signal, sandbox, graceMs = GRACE_MS }: CommandPlace,
): Promise<'exited' | 'late' | 'cancelled'> {
  const onExit = () => killTreeNow(root);
  process.once('exit', onExit);
  const ended = Promise.withResolvers<'late' | 'cancelled'>();
  const onAbort = () => ended.resolve('cancelled');
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => ended.resolve('late'), limitMs);
  try {
    const ending = await Promise.race([child.exited.then(() => 'exited' as const), ended.promise]);
    // bubblewrap itself gets no SIGTERM: it would exit at once and end its processes before they can react.
    const notAsked = sandbox.works ? root.pid : undefined;
    await endTree(root, { graceMs: ending === 'exited' ? 0 : graceMs, notAsked });
    await Promise.race([child.exited, Bun.sleep(LAST_OUTPUT_MS)]);
    return ending;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    process.off('exit', onExit);
  }
}
