import { type ForkedInstance, type ForkOptions, toInstanceAddress } from '@goondan/runtime/control';
import { forkStoppedInstance } from '@goondan/runtime/internal';
import type { AgentAddress } from '@goondan/types';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import { notRunning } from '../swarm/not-running.ts';
import type { ClusterPlace, SwarmPlace } from '../swarm/swarm-place.ts';
import { betweenSwarms } from '../swarm/between-swarms.ts';
import { nameHistory } from './name-history.ts';

/**
 * Forks a conversation through the running swarm, or on disk when no swarm runs. **Errors** — those of `InstanceAdmin.fork`,
 * of the control socket, `E_INSTANCE_KEY`; `E_CONTROL_CLOSED` when no node of a swarm in a store runs.
 */
export function forkInstance(
  place: SwarmPlace & { readonly swarm: string; readonly flock?: boolean },
  from: AgentAddress,
  options: ForkOptions,
  signal: AbortSignal,
): Promise<ForkedInstance> {
  if (place.cluster !== undefined) return nameHistory(from, () => forkAtNode(place, from, options));
  return betweenSwarms(async () => {
    const running = await attachSwarm(place);
    return nameHistory(from, () =>
      running === undefined
        ? forkStoppedInstance(place, from, options)
        : running.forkInstance({ ...toInstanceAddress(from), ...options }),
    );
  }, signal);
}

/** Nobody can take a swarm in a store by starting it, so a command does not wait for that. */
async function forkAtNode(place: ClusterPlace & { readonly swarm: string }, from: AgentAddress, options: ForkOptions) {
  const running = await attachSwarm(place);
  if (running === undefined) throw await notRunning(place, {});
  return running.forkInstance({ ...toInstanceAddress(from), ...options });
}
