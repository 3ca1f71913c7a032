import { connectSwarm, type Swarm } from '@goondan/runtime';
import type { ConnectOptions } from '@goondan/runtime/control';
import { GoondanError } from '@goondan/types';
import type { SwarmPlace } from './swarm-place.ts';

/**
 * Connects to the swarm that runs in a workspace, or to a node of a swarm in a store. Returns `undefined` when no swarm
 * runs there. **Errors** — those of `connectSwarm`, except `E_CONTROL_CLOSED`; for a store, those of `attachNode`.
 */
export async function attachSwarm(place: SwarmPlace, options?: ConnectOptions): Promise<Swarm | undefined> {
  if (place.cluster !== undefined) {
    const { attachNode } = await import('../cluster/attach-node.ts');
    return attachNode(place, options);
  }
  const { stateRoot, workspaceId } = place;
  try {
    return await connectSwarm({ stateRoot, workspaceId }, options);
  } catch (error) {
    if (GoondanError.is(error) && error.code === 'E_CONTROL_CLOSED') return undefined;
    throw error;
  }
}
