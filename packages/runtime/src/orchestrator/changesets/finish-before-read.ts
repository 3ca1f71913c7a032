import { type Clock, sleep } from '../../ports/clock.ts';
import { changesetLimits } from '../../workspace/changesets/changeset-store.ts';
import type { Changesets } from '../../workspace/changesets/changesets.ts';
import { isBusy } from '../../workspace/changesets/lock-bundle.ts';
import type { SwarmAgents } from '../swarm/swarm-agents.ts';
import { reportRecoveries } from './report-recoveries.ts';

const PAUSE_MS = 50;

/**
 * Finishes changes of the bundle that a killed process left, before the bundle is read for a reload. Waits for a living
 * commit of another swarm of the bundle, so that no half of it is read, but at most as long as for the lock. Never waits
 * for `gdn changes undo`, which itself waits for this reload. **Errors** — those of `Changesets.recover`, except
 * `E_CHANGESET_BUSY`.
 */
export async function finishBeforeRead(
  store: Pick<Changesets, 'recover' | 'list'>,
  clock: Clock,
  report: SwarmAgents['report'],
): Promise<void> {
  const until = clock.elapsed() + changesetLimits.lockWaitMs;
  for (;;) {
    try {
      return reportRecoveries(await store.recover({ waitMs: 0 }), report);
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    const isUndone = (await store.list()).some(({ state }) => state === 'undoing');
    if (isUndone || clock.elapsed() >= until) return;
    await sleep(clock, PAUSE_MS);
  }
}
