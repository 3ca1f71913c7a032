/** The orchestrator's side of the guardian. */
import { GoondanError } from '@goondan/types';
import { CHANNEL_DESCRIPTOR } from '../../ipc/channel/socket-wire.ts';
import { type Clock, systemClock, waitAtMost } from '../../ports/clock.ts';
import type { GuardianReport } from './guard.ts';
import { openLine } from './line.ts';
import { checkTag } from './process-tag.ts';

export interface GuardianOptions {
  /** The tag of the run; see `newTag`. The orchestrator itself must not carry it. */
  readonly tag: string;
  /** The Bun that runs it; the one of this process when absent. */
  readonly bun?: string;
  /** Receives a warning for people when this system has no /proc, so that fewer processes are found. */
  readonly warn?: (message: string) => void;
  readonly clock?: Clock;
}

export interface Guardian {
  readonly pid: number;
  /** Reports a child and its process group, for systems without /proc. */
  watch(pid: number): void;
  forget(pid: number): void;
  /**
   * Stands the guardian down after a clean shutdown: it looks once more, ends and reports remaining processes, and
   * exits.
   */
  standDown(): Promise<GuardianReport>;
  /** Resolves when it is gone; `expected` is false when it was not stood down: then start another one. */
  readonly exited: Promise<{ readonly expected: boolean }>;
}

const START_MS = 5_000;
const STAND_DOWN_MS = 7_000;

/** Resolves when it watches: from then on no process of the run survives this process. Throws `E_PROCESS_START`. */
export async function startGuardian(options: GuardianOptions): Promise<Guardian> {
  const { bun = process.execPath, warn = () => undefined, clock = systemClock } = options;
  // The guardian must never keep the orchestrator alive.
  const line = openLine(launch(bun, checkTag(options.tag)), false);
  // Safe: our own program sent it.
  const greeting = (await waitAtMost(clock, START_MS, line.next())) as
    (Pick<Guardian, 'pid'> & Pick<GuardianReport, 'method'>) | undefined;
  if (greeting === undefined) {
    // If the guardian still starts, it finds the line cut and exits.
    line.close();
    throw new GoondanError('E_PROCESS_START', `The guardian did not start within ${START_MS} ms.`);
  }
  if (greeting.method === 'groups') warn(noProc);
  let stoodDown = false;
  return {
    pid: greeting.pid,
    watch: (pid) => line.say(`watch ${pid}`),
    forget: (pid) => line.say(`forget ${pid}`),
    exited: line.closed.then(() => ({ expected: stoodDown })),
    async standDown() {
      stoodDown = true;
      line.say('stand-down');
      const report = await waitAtMost(clock, STAND_DOWN_MS, line.next());
      // Safe: our own program sent it.
      if (report !== undefined) return report as GuardianReport;
      throw new GoondanError('E_IPC_CLOSED', 'The guardian gave no report: it is gone, or it hangs.');
    },
  };
}

/**
 * Starts it through a shell that exits at once, and returns our end of its line. An orchestrator under `bun
 * --no-orphans` (from a test or from the environment) ends all its children when it dies; the guardian must not be one
 * of them.
 */
function launch(bun: string, tag: string): number {
  try {
    const command = ['/bin/sh', '-c', '"$@" &', 'sh', bun, ...flags, Bun.resolveSync('./main', import.meta.dir), tag];
    // No environment: no tag, no secret. Not in the folder of a bundle, which might be removed.
    const { stdio } = Bun.spawn(command, { env: {}, cwd: '/', stdio: [...silent, 'pipe'], detached: true });
    const descriptor: unknown = stdio[CHANNEL_DESCRIPTOR];
    if (typeof descriptor === 'number') return descriptor;
    throw new Error('the system gave no descriptor for it');
  } catch (error) {
    throw new GoondanError('E_PROCESS_START', 'The guardian cannot be started.', { cause: error });
  }
}

const flags = ['--config=/dev/null', '--no-env-file', '--no-install', '--smol'];
const silent: ['ignore', 'ignore', 'ignore'] = ['ignore', 'ignore', 'ignore'];
const noProc =
  'This system has no /proc: after a crash only the process groups of the swarm are ended. ' +
  'A program that a tool starts in a session of its own may be left behind.';
