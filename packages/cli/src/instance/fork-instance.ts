import { type ForkedInstance, type ForkOptions, toInstanceAddress } from '@goondan/runtime/control';
import { forkStoppedInstance } from '@goondan/runtime/internal';
import type { AgentAddress } from '@goondan/types';
import { attachSwarm, type SwarmPlace } from '../swarm/attach-swarm.ts';
import { betweenSwarms } from '../swarm/between-swarms.ts';

export interface Fork extends ForkOptions {
  readonly place: SwarmPlace & { readonly swarm: string; readonly flock?: boolean };
  readonly from: AgentAddress;
  readonly signal: AbortSignal;
}

/**
 * Forks a conversation through the running swarm, or on disk when no swarm runs. **Errors** — those of `Journal.fork`,
 * of the control socket, `E_INSTANCE_KEY`.
 */
export function forkInstance({ place, from, signal, ...options }: Fork): Promise<ForkedInstance> {
  return betweenSwarms(async () => {
    const running = await attachSwarm(place);
    if (running === undefined) return forkStoppedInstance(place, from, options);
    return running.forkInstance({ ...toInstanceAddress(from), ...options });
  }, signal);
}
