/**
 * The work of the guardian, without its process: it listens until the orchestrator stands it down or is gone, and then
 * ends all remaining processes of the run.
 */
import type { KillReport } from './kill-tagged.ts';

/** The processes that the guardian ended; none after a clean shutdown. */
export interface GuardianReport extends KillReport {
  /** The reason for its action. */
  readonly reason: 'stood-down' | 'orchestrator-gone';
  /** `groups`: there is no /proc here, so processes that left their group were not found. */
  readonly method: 'tag' | 'groups';
}

/** The quiet time before it ends: after a kill a process may still be between fork and exec. */
const QUIET_AFTER_DEATH_MS = 300;
const QUIET_AFTER_SHUTDOWN_MS = 30;

/**
 * Watches a run and ends it. `lines` are those of the orchestrator; they end when the orchestrator does. `endRun` ends
 * the remaining processes of the run; `groups` are the reported process groups.
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
