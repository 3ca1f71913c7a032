/** The orchestrator's side of the guardian. */
import { existsSync } from 'node:fs';
import { GoondanError } from '@goondan/types';
import { CHANNEL_DESCRIPTOR } from '../../ipc/channel/socket-wire.ts';
import { type Check, count, type FieldsOf, listOf, object, oneOf, text } from '../../ipc/check/shape.ts';
import { type Clock, systemClock, waitAtMost } from '../../ports/clock.ts';
import { guardianRunner } from '../../ports/runner-path.ts';
import type { GuardianReport } from './guard.ts';
import { openLine } from './line.ts';
import { checkTag } from './process-tag.ts';

export interface GuardianOptions {
  /** The tag of the run; see `newTag`. The orchestrator itself must not have it in its environment. */
  readonly tag: string;
  /** The path of the Bun that runs the guardian; the Bun of this process when absent. */
  readonly bun?: string;
  /** Receives a warning for people when this system has no /proc, so that not all processes are found. */
  readonly warn?: (message: string) => void;
  readonly clock?: Clock;
}

export interface Guardian {
  readonly pid: number;
  /** Reports a child and its process group, for systems without /proc. */
  watch(pid: number): void;
  forget(pid: number): void;
  /**
   * Stands the guardian down after a clean shutdown. The guardian scans once more, ends and reports remaining
   * processes, and exits.
   */
  standDown(): Promise<GuardianReport>;
  /** Resolves when the guardian has exited. If it was not stood down, the caller should start another one. */
  readonly exited: Promise<void>;
}

const method = oneOf('tag', 'groups');
const processes = listOf(object({ pid: count, command: text } satisfies FieldsOf<GuardianReport['ended'][number]>));
const greetingShape = object({ pid: count, method });
const reportShape: Check<GuardianReport> = object({
  reason: oneOf('stood-down', 'orchestrator-gone'),
  method,
  ended: processes,
  left: processes,
} satisfies FieldsOf<GuardianReport>);

const START_MS = 5_000;
const STAND_DOWN_MS = 7_000;

/**
 * Resolves when the guardian is watching: from then on no process of the run survives this process. Throws
 * `E_PROCESS_START`.
 */
export async function startGuardian(options: GuardianOptions): Promise<Guardian> {
  const { bun = process.execPath, warn = () => undefined, clock = systemClock } = options;
  // The guardian must not keep the orchestrator's process alive.
  const line = openLine(launch(bun, checkTag(options.tag)), false);
  const greeting = await waitAtMost(clock, START_MS, line.next(greetingShape)).catch((error: unknown) => {
    line.close();
    throw new GoondanError('E_PROCESS_START', 'The guardian started, but its greeting is malformed.', { cause: error });
  });
  if (greeting === undefined) {
    // If the guardian still starts, it finds the connection closed and exits.
    line.close();
    throw notStarted();
  }
  if (greeting.method === 'groups') warn(noProc);
  return {
    pid: greeting.pid,
    watch: (pid) => line.say(`watch ${pid}`),
    forget: (pid) => line.say(`forget ${pid}`),
    exited: line.closed,
    async standDown() {
      line.say('stand-down');
      const report = await waitAtMost(clock, STAND_DOWN_MS, line.next(reportShape)).catch((error: unknown) => {
        throw new GoondanError('E_IPC_FRAME', 'The report of the guardian is malformed.', { cause: error });
      });
      if (report !== undefined) return report;
      throw new GoondanError('E_IPC_CLOSED', 'The guardian sent no report: it has exited or hangs.');
    },
  };
}

/**
 * Starts the guardian through a shell that exits at once, and returns our end of the connection. An orchestrator under
 * `bun --no-orphans` (from a test or from the environment) ends all its children when it dies, so the guardian must not
 * be its child.
 */
function launch(bun: string, tag: string): number {
  try {
    const command = ['/bin/sh', '-c', '"$@" &', 'sh', bun, ...flags, guardianRunner, tag];
    // Empty environment: no tag and no secret. Root folder: the folder of a bundle might be removed.
    const { stdio } = Bun.spawn(command, { env: {}, cwd: '/', stdio: [...silent, 'pipe'], detached: true });
    const descriptor: unknown = stdio[CHANNEL_DESCRIPTOR];
    if (typeof descriptor === 'number') return descriptor;
    throw new Error('the system gave no descriptor for it');
  } catch (error) {
    throw new GoondanError('E_PROCESS_START', 'The guardian cannot be started.', { cause: error });
  }
}

function notStarted(): GoondanError {
  if (existsSync(guardianRunner)) {
    return new GoondanError('E_PROCESS_START', `The guardian ended early, or did not start within ${START_MS} ms.`);
  }
  return new GoondanError('E_PROCESS_START', `The program of the guardian is missing: ${guardianRunner}`, {
    suggestion: 'Install Goondan again. In a checkout of Goondan, run `npm run build`.',
  });
}

const flags = ['--config=/dev/null', '--no-env-file', '--no-install', '--smol'];
const silent: ['ignore', 'ignore', 'ignore'] = ['ignore', 'ignore', 'ignore'];
const noProc =
  'This system has no /proc: after a crash only the process groups of the swarm are ended. ' +
  'A program that a tool starts in a session of its own may be left behind.';
