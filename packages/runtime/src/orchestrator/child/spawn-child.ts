/**
 * The only place where a child of the orchestrator is started.
 *
 * 1. A child is isolated. It reads no bunfig and no `.env`, and Bun installs nothing for it. Its environment has only
 *    the variables of a short list. Its only open files are its channel and its output. It starts in the root folder,
 *    because Bun reads the `tsconfig.json` of its working folder to find its program, and agents can write to their own
 *    folders.
 * 2. A child leads its own process group and session, and carries the tag of the run and its own tag. So the child and
 *    all processes it starts can be found and ended, without affecting other processes.
 * 3. `exited` resolves last: after the child's last message, and after its remaining processes were ended.
 */
import { GoondanError } from '@goondan/types';
import { Channel } from '../../ipc/channel/channel.ts';
import { frameFolder } from '../../ipc/channel/frame-files.ts';
import { socketWire } from '../../ipc/channel/socket-wire.ts';
import { messageOf } from '../../ipc/check/frame-error.ts';
import type { Language } from '../../ipc/codec.ts';
import { type BlockedCode, makeCodeFile, readBlockedCode } from '../../ipc/running-code.ts';
import { defined } from '../../json/defined.ts';
import { type Clock, systemClock, waitAtMost } from '../../ports/clock.ts';
import type { ChildExit, ChildProcess, Spawn, SpawnRequest } from '../../ipc/spawn.ts';
import { captureOutput } from './capture-output.ts';
import { childEnvironment } from './child-environment.ts';
import { ExitSweep } from '../guardian/exit-sweep.ts';
import { CHILD_VARIABLE, tagEntry, newTag, type ProcessTag } from '../guardian/process-tag.ts';
import { canReadProcesses } from '../guardian/read-processes.ts';
import type { Guardian } from '../guardian/start-guardian.ts';

/** The settings that all children of a run share. */
export interface SpawnDeps {
  readonly runTag: ProcessTag;
  /** The guardian, which is notified of every child, for systems without /proc. */
  readonly guardian?: Pick<Guardian, 'watch' | 'forget'>;
  /** The path of the Bun that runs children; the Bun of this process when absent. */
  readonly bun?: string;
  /**
   * The operator's environment, from which children inherit the listed variables; the environment of this process when
   * absent.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The state root of the swarm. Its children find it in `GOONDAN_STATE_ROOT`. */
  readonly stateRoot?: string;
  readonly clock?: Clock;
  /** Ends the processes that children leave behind; all children of a run share it. */
  readonly sweep?: ExitSweep;
}

/** Without `--no-install`, Bun would download and run a package that is imported but not installed. */
export const childFlags: readonly string[] = ['--config=/dev/null', '--no-env-file', '--no-install', '--no-orphans'];

export function childSpawner(deps: SpawnDeps): Spawn {
  const shared = { sweep: new ExitSweep({ clock: deps.clock ?? systemClock }), ...deps };
  return (language, request) => spawnChild(shared, language, request);
}

export function spawnChild<Down, Up>(
  deps: SpawnDeps,
  language: Language<Down, Up>,
  request: SpawnRequest,
): ChildProcess<Down, Up> {
  const { clock = systemClock, sweep = new ExitSweep({ clock }) } = deps;
  const tag = newTag(CHILD_VARIABLE);
  const child = start(deps, tag, request);
  const files = frameFolder(request.frameFolder);
  const channel = new Channel({ wire: socketWire(descriptorOf(child.stdio)), codec: language.parent, files, clock });
  const { onOutput = () => undefined } = request;
  const outputOver = new AbortController();
  const outputRead = Promise.all([
    captureOutput('stdout', child.stdout, outputOver.signal, clock, onOutput),
    captureOutput('stderr', child.stderr, outputOver.signal, clock, onOutput),
  ]);
  deps.guardian?.watch(child.pid);

  let gone = false;
  let blocked: BlockedCode | undefined;
  const exited = settle();
  const hung = () => (blocked ??= readBlockedCode(request.frameFolder));
  return { pid: child.pid, channel, exited, hung, kill };

  async function settle(): Promise<ChildExit> {
    await child.exited;
    const leftBehind = canReadProcesses() ? await sweep.endRest(tag) : 0;
    signalGroup('SIGKILL');
    gone = true;
    await waitAtMost(clock, LAST_WORDS_MS, new Promise<void>((resolve) => channel.onClose(resolve)));
    channel.close();
    await waitAtMost(clock, LAST_LINES_MS, outputRead);
    outputOver.abort();
    await outputRead;
    files.remove();
    deps.guardian?.forget(child.pid);
    const signal = child.signalCode === null ? null : String(child.signalCode);
    return { code: child.exitCode, signal, leftBehind, ...defined({ blocked: blocked?.words }) };
  }

  async function kill(graceMs: number): Promise<ChildExit> {
    signalGroup(graceMs > 0 ? 'SIGTERM' : 'SIGKILL');
    const callOff = clock.after(graceMs, () => signalGroup('SIGKILL'));
    return exited.finally(callOff);
  }

  /**
   * Sends a signal to the process group. Does nothing once all processes of the group have exited, because the system
   * may give the group's number to another group.
   */
  function signalGroup(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (gone) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // The group has no processes any more.
    }
  }
}

/** The time to read messages that the child sent before it exited. */
const LAST_WORDS_MS = 2_000;
const LAST_LINES_MS = 500;

function start(deps: SpawnDeps, tag: ProcessTag, request: SpawnRequest) {
  const { bun = process.execPath, environment = process.env, runTag, stateRoot } = deps;
  const { runner, frameFolder: folder, args = [], name } = request;
  const own = stateRoot === undefined ? {} : { GOONDAN_STATE_ROOT: stateRoot };
  const tags = { ...own, ...tagEntry(runTag), ...tagEntry(tag) };
  const env = childEnvironment(environment, request.environment ?? {}, tags);
  try {
    makeCodeFile(folder);
    return Bun.spawn([bun, ...childFlags, runner, folder, ...args], {
      cwd: '/',
      env,
      // The last entry is the channel.
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
  } catch (error) {
    frameFolder(folder).remove();
    const message = `The process of ${name} cannot be started: ${messageOf(error)}`;
    throw new GoondanError('E_PROCESS_START', message, { cause: error });
  }
}

function descriptorOf([, , , descriptor]: readonly unknown[]): number {
  if (typeof descriptor === 'number') return descriptor;
  throw new GoondanError('E_PROCESS_START', 'The system gave a child no descriptor for its channel.');
}
