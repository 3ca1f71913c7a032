/** Ends the reported process groups, on systems without /proc. Processes that left their group are not found. */
import { type Clock, sleep, systemClock } from '../../ports/clock.ts';
import type { KillReport } from './kill-tagged.ts';

/** Kills the groups repeatedly, until they are empty or the time is over. */
export async function killGroups(
  groups: readonly number[],
  timeoutMs = 2_000,
  clock: Clock = systemClock,
): Promise<KillReport> {
  const startedAt = clock.elapsed();
  const found = groups.filter(isKilled);
  let left = found;
  while (left.length > 0 && clock.elapsed() - startedAt < timeoutMs) {
    await sleep(clock, 20);
    left = left.filter(isKilled);
  }
  const named = (pid: number) => ({ pid, command: 'process group' });
  return { ended: found.map(named), left: left.map(named) };
}

/** Kills the group. Returns false when the group has no processes any more. */
function isKilled(group: number): boolean {
  try {
    process.kill(-group, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}
