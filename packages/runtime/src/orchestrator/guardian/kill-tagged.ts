/**
 * Ends every process of a run by its tag, until none is left: the next look finds processes that were forked during the
 * kill. It uses SIGKILL only, because a drain was tried before.
 */
import { type Clock, sleep, systemClock } from '../../ports/clock.ts';
import { chooseVictims } from './choose-victims.ts';
import { checkTag } from './process-tag.ts';
import { type ProcessEntry, readProcesses } from './read-processes.ts';

/** The time after which it gives up on processes that do not die (one that waits for a broken disk cannot). */
const TIMEOUT_MS = 5_000;

export interface EndedProcess {
  readonly pid: number;
  readonly command: string;
}

export interface KillReport {
  /** Killed processes, once each. */
  readonly ended: readonly EndedProcess[];
  /** Processes that were left when time was up. */
  readonly left: readonly EndedProcess[];
}

/**
 * Ends the processes. Linux only: see `canReadProcesses`. `quietMs` is the quiet time after which it counts as done: a
 * process may be between fork and exec, without a tag yet.
 */
export async function killTagged(tag: string, quietMs = 0, clock: Clock = systemClock): Promise<KillReport> {
  const wanted = checkTag(tag);
  const startedAt = clock.elapsed();
  const ended = new Map<number, EndedProcess>();
  let lastSeen = startedAt;
  for (;;) {
    const { processes, groups } = chooseVictims(await readProcesses(wanted), process.pid);
    for (const group of groups) signal(-group);
    for (const { pid, command } of processes) {
      signal(pid);
      ended.set(pid, { pid, command });
    }
    const now = clock.elapsed();
    if (processes.length > 0) lastSeen = now;
    else if (now - lastSeen >= quietMs) return { ended: [...ended.values()], left: [] };
    if (now - startedAt >= TIMEOUT_MS) return { ended: [...ended.values()], left: processes.map(named) };
    await sleep(clock, processes.length > 0 ? AFTER_KILL_MS : BETWEEN_LOOKS_MS);
  }
}

const AFTER_KILL_MS = 5;
const BETWEEN_LOOKS_MS = 25;

function signal(target: number): void {
  try {
    process.kill(target, 'SIGKILL');
  } catch {
    // Gone meanwhile; or not ours, and then it is found again and reported as left.
  }
}

function named({ pid, command }: ProcessEntry): EndedProcess {
  return { pid, command };
}
