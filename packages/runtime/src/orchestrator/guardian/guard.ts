/**
 * The work of the guardian, without its process: it listens until the orchestrator stands it down or is gone, and then
 * ends all remaining processes of the run.
 */
import type { EndedProcess } from './kill-tagged.ts';

export interface GuardianReport {
  /** The reason for its action. */
  readonly reason: 'stood-down' | 'orchestrator-gone';
  /** Processes it found and killed; none after a clean shutdown. */
  readonly ended: readonly EndedProcess[];
  readonly left: readonly EndedProcess[];
  /** `groups`: there is no /proc here, so processes that left their group were not found. */
  readonly method: 'tag' | 'groups';
}

export interface GuardDeps {
  /** Lines of the orchestrator; they end when the orchestrator does. */
  readonly lines: AsyncIterable<string>;
  /** Ends the remaining processes of the run. `groups` are the reported process groups. */
  readonly endRun: (groups: readonly number[], quietMs: number) => Promise<Omit<GuardianReport, 'reason'>>;
}

/** The quiet time before it ends: after a kill a process may still be between fork and exec. */
const QUIET_AFTER_DEATH_MS = 300;
const QUIET_AFTER_SHUTDOWN_MS = 30;

export async function guard({ lines, endRun }: GuardDeps): Promise<GuardianReport> {
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
