/** The orchestrator's side of the guardian. */
import { GoondanError } from '@goondan/types';
import { CHANNEL_DESCRIPTOR } from '../../ipc/channel/socket-wire.ts';
import { type Clock, systemClock } from '../../ports/clock.ts';
import type { GuardianReport } from './guard.ts';
import { openLine } from './line.ts';
import { checkTag } from './process-tag.ts';

export interface GuardianOptions {
  /** The run's tag; see `newTag`. The orchestrator itself must not carry it. */
  readonly tag: string;
  /** The Bun to run it on; the one that runs this when absent. */
  readonly bun?: string;
  /** What to tell people: that this system has no /proc, so that less is found. */
  readonly warn?: (message: string) => void;
  readonly clock?: Clock;
}

export interface Guardian {
  readonly pid: number;
  /** A child and its process group, for systems without /proc. */
  watch(pid: number): void;
  forget(pid: number): void;
  /** After a clean shutdown: it looks once more, ends what is left, says what that was, and goes. */
  standDown(): Promise<GuardianReport>;
  /** When it is gone; `expected` is false when nobody had stood it down: then start another one. */
  readonly exited: Promise<{ readonly expected: boolean }>;
}

const START_MS = 5_000;
const STAND_DOWN_MS = 7_000;

/** Resolves when it watches: from then on nothing of the run survives this process. Throws `E_PROCESS_START`. */
export async function startGuardian(options: GuardianOptions): Promise<Guardian> {
  const { bun = process.execPath, warn = () => undefined, clock = systemClock } = options;
  // It must never be what keeps the orchestrator alive.
  const line = openLine(launch(bun, checkTag(options.tag)), { keepsAlive: false });
  const greeting = await within(clock, START_MS, line.next());
  if (!isGreeting(greeting)) {
    // Should it still come up, it finds nobody there and goes.
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
      const report = await within(clock, STAND_DOWN_MS, line.next());
      // Our own program's own words.
      if (report !== undefined) return report as GuardianReport;
      throw new GoondanError('E_IPC_CLOSED', 'The guardian gave no report: it is gone, or it hangs.');
    },
  };
}

/**
 * Starts it through a shell that is gone at once, and returns this end of its line. An orchestrator that runs under
 * `bun --no-orphans` (a test does, and whoever has that in the environment) takes every child of its own with it when it
 * dies; the guardian must not be one.
 */
function launch(bun: string, tag: string): number {
  try {
    const command = ['/bin/sh', '-c', '"$@" &', 'sh', bun, ...flags, Bun.resolveSync('./main', import.meta.dir), tag];
    // No environment: no tag, no secret. Not the folder of a project, which may want to be removed.
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

interface Greeting {
  readonly pid: number;
  readonly method: GuardianReport['method'];
}

function isGreeting(value: unknown): value is Greeting {
  return typeof value === 'object' && value !== null && 'pid' in value && 'method' in value;
}

async function within<Value>(clock: Clock, ms: number, work: Promise<Value>): Promise<Value | undefined> {
  const late = Promise.withResolvers<undefined>();
  const callOff = clock.after(ms, () => late.resolve(undefined));
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    callOff();
  }
}
