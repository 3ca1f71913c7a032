import { type ForkedInstance, type ForkOptions, toInstanceAddress } from '@goondan/runtime/control';
import { forkStoppedInstance } from '@goondan/runtime/internal';
import type { AgentAddress } from '@goondan/types';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import { betweenSwarms } from '../swarm/between-swarms.ts';
import { nameHistory } from './name-history.ts';

/**
 * Forks a conversation through the running swarm, or on disk when no swarm runs. **Errors** — those of `InstanceAdmin.fork`,
 * of the control socket, `E_INSTANCE_KEY`.
 */
export function forkInstance(
  place: Parameters<typeof forkStoppedInstance>[0],
  from: AgentAddress,
  options: ForkOptions,
  signal: AbortSignal,
): Promise<ForkedInstance> {
  return betweenSwarms(async () => {
    const running = await attachSwarm(place);
    return nameHistory(from, () =>
      running === undefined
        ? forkStoppedInstance(place, from, options)
        : running.forkInstance({ ...toInstanceAddress(from), ...options }),
    );
  }, signal);
}
