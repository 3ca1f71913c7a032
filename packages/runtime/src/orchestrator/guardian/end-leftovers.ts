import type { Clock } from '../../ports/clock.ts';
import type { WorkspaceOwner } from '../../workspace/swarms/own-workspace.ts';
import { killTagged } from './kill-tagged.ts';
import { canReadProcesses } from './read-processes.ts';

/**
 * The time without new processes before the run counts as ended, because a process may be between fork and exec and
 * have no tag yet.
 */
const QUIET_MS = 30;

/** Ends the processes of earlier runs whose guardian was killed as well. Returns the number of processes. */
export async function endLeftovers(
  { previous, earlier }: Pick<WorkspaceOwner, 'previous' | 'earlier'>,
  clock: Clock,
): Promise<number> {
  if (!canReadProcesses()) return 0;
  const runs = [...(previous === undefined ? [] : [previous]), ...earlier];
  const reports = await Promise.all(runs.map(({ runTag }) => killTagged(runTag, QUIET_MS, clock)));
  return reports.reduce((sum, { ended }) => sum + ended.length, 0);
}
