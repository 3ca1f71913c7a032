/**
 * The work of the guardian, without its process. It waits until the orchestrator stands it down or exits, and then ends
 * all remaining processes of the run.
 */
import type { KillReport } from './kill-tagged.ts';

/** The processes that the guardian ended; none after a clean shutdown. */
export interface GuardianReport extends KillReport {
  /** Why the guardian ended the processes. */
  readonly reason: 'stood-down' | 'orchestrator-gone';
  /** `groups`: this system has no /proc, so processes that left their process group were not found. */
  readonly method: 'tag' | 'groups';
}

/**
 * The guardian exits when it has found no new process for this time. It waits because a process that is between fork
 * and exec may have no tag yet.
 */
const QUIET_AFTER_DEATH_MS = 300;
const QUIET_AFTER_SHUTDOWN_MS = 30;

/**
 * Watches a run, and ends it when the orchestrator exits. `lines`: the orchestrator's messages; they end when the
 * orchestrator exits. `endRun` ends the remaining processes of the run; `groups`: the process groups reported so far.
 */
export async function guard(
  lines: AsyncIterable<string>,
  endRun: (groups: readonly number[], quietMs: number) => Promise<Omit<GuardianReport, 'reason'>>,
): Promise<GuardianReport> {
  const groups = new Set<number>();
  for await (const line of lines) {
    const [command = '', argument = ''] = line.split(' ');
    if (command === 'stand-down')
      return { reason: 'stood-down', ...(await endRun([...groups], QUIET_AFTER_SHUTDOWN_MS)) };
    const group = Number(argument);
    if (!Number.isSafeInteger(group) || group <= 1) continue;
    if (command === 'watch') groups.add(group);
    if (command === 'forget') groups.delete(group);
  }
  return { reason: 'orchestrator-gone', ...(await endRun([...groups], QUIET_AFTER_DEATH_MS)) };
}
