/**
 * The one place where a child of the orchestrator is started.
 *
 * 1. No ambient trust: no bunfig, no `.env`, no auto-install; an environment made of a short list; no file but its own
 *    channel and its output. It starts at the root of the file system, because Bun looks for the program it is told to
 *    run by the `tsconfig.json` of the folder it starts in, and agents write into theirs.
 * 2. It leads a group and a session of its own, and carries the run's tag and its own, so that it and whatever it starts
 *    can be found and ended, together and without touching anybody else.
 * 3. `exited` resolves last: after its last message, and after what it left behind was ended.
 */
import { GoondanError } from '@goondan/types';
import { openChannel } from '../../ipc/channel/channel.ts';
import { frameFolder } from '../../ipc/channel/frame-files.ts';
import { socketWire } from '../../ipc/channel/socket-wire.ts';
import type { Language } from '../../ipc/codec.ts';
import { type Clock, systemClock, waitAtMost } from '../../ports/clock.ts';
import type { ChildExit, ChildProcess, Spawn, SpawnRequest } from '../../ipc/spawn.ts';
import { OutputCapture } from './capture-output.ts';
import { childEnvironment } from './child-environment.ts';
import { killTagged } from '../guardian/kill-tagged.ts';
import { CHILD_VARIABLE, entryOf, newTag, type ProcessTag } from '../guardian/process-tag.ts';
import { canReadProcesses } from '../guardian/read-processes.ts';
import type { Guardian } from '../guardian/start-guardian.ts';

/** What every child of one run has in common. */
export interface SpawnDeps {
  readonly runTag: ProcessTag;
  /** Told of every child, for systems without /proc. */
  readonly guardian?: Pick<Guardian, 'watch' | 'forget'>;
  /** The Bun to run children on; the one that runs this when absent. */
  readonly bun?: string;
  /** The operator's environment, from which children get what is on the list; this process's own when absent. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
}

/** `--no-install`: Bun would else download and run a bare import it cannot find. */
export const childFlags: readonly string[] = ['--config=/dev/null', '--no-env-file', '--no-install', '--no-orphans'];

export function childSpawner(deps: SpawnDeps): Spawn {
  return (language, request) => spawnChild(deps, language, request);
}

export function spawnChild<Down, Up>(
  deps: SpawnDeps,
  language: Language<Down, Up>,
  request: SpawnRequest,
): ChildProcess<Down, Up> {
  const clock = deps.clock ?? systemClock;
  const tag = newTag(CHILD_VARIABLE);
  const child = start(deps, tag, request);
  const files = frameFolder(request.frameFolder);
  const channel = openChannel({ wire: socketWire(descriptorOf(child)), codec: language.parent, files, clock });
  const output = new OutputCapture(clock, request.onOutput ?? (() => undefined));
  const outputOver = new AbortController();
  const outputRead = Promise.all([
    output.read('stdout', child.stdout, outputOver.signal),
    output.read('stderr', child.stderr, outputOver.signal),
  ]);
  deps.guardian?.watch(child.pid);

  let gone = false;
  const exited = settle();
  return { pid: child.pid, channel, exited, kill, recentOutput: () => output.recent() };

  async function settle(): Promise<ChildExit> {
    await child.exited;
    const leftBehind = canReadProcesses() ? (await killTagged(tag, { clock })).ended.length : 0;
    signalGroup('SIGKILL');
    gone = true;
    await waitAtMost(clock, LAST_WORDS_MS, new Promise<void>((resolve) => void channel.onClose(resolve)));
    channel.close();
    await waitAtMost(clock, LAST_LINES_MS, outputRead);
    outputOver.abort();
    await outputRead;
    files.remove();
    deps.guardian?.forget(child.pid);
    return { code: child.exitCode, signal: child.signalCode === null ? null : String(child.signalCode), leftBehind };
  }

  async function kill(graceMs: number): Promise<ChildExit> {
    signalGroup(graceMs > 0 ? 'SIGTERM' : 'SIGKILL');
    const callOff = clock.after(graceMs, () => signalGroup('SIGKILL'));
    return exited.finally(callOff);
  }

  /** Not once it is gone with all its group: the system may give the number to somebody else. */
  function signalGroup(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (gone) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // Nobody is left in it.
    }
  }
}

/** For messages the child had sent and nobody has read yet. */
const LAST_WORDS_MS = 2_000;
const LAST_LINES_MS = 500;

type Child = Bun.Subprocess<'ignore', 'pipe', 'pipe'>;

function start(deps: SpawnDeps, tag: ProcessTag, request: SpawnRequest): Child {
  const { bun = process.execPath, environment = process.env, runTag } = deps;
  const { runner, frameFolder: folder, args = [], name } = request;
  const env = childEnvironment(environment, request.environment ?? {}, { ...entryOf(runTag), ...entryOf(tag) });
  try {
    return Bun.spawn([bun, ...childFlags, runner, folder, ...args], {
      cwd: '/',
      env,
      // The last is the channel.
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GoondanError('E_PROCESS_START', `The process of ${name} cannot be started: ${reason}`, { cause: error });
  }
}

function descriptorOf({ stdio }: Child): number {
  const descriptor: unknown = stdio[3];
  if (typeof descriptor === 'number') return descriptor;
  throw new GoondanError('E_PROCESS_START', 'The system gave a child no descriptor for its channel.');
}
