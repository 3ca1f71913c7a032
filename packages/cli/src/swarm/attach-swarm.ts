import { connectSwarm, type Swarm } from '@goondan/runtime';
import type { ConnectOptions } from '@goondan/runtime/control';
import { GoondanError } from '@goondan/types';

export interface SwarmPlace {
  readonly stateRoot: string;
  readonly workspaceId: string;
}

/**
 * Connects to the swarm that runs in a workspace. Returns `undefined` when no swarm runs there. **Errors** — those of
 * `connectSwarm`, except `E_CONTROL_CLOSED`.
 */
export async function attachSwarm(
  { stateRoot, workspaceId }: SwarmPlace,
  options?: ConnectOptions,
): Promise<Swarm | undefined> {
  try {
    return await connectSwarm({ stateRoot, workspaceId }, options);
  } catch (error) {
    if (GoondanError.is(error) && error.code === 'E_CONTROL_CLOSED') return undefined;
    throw error;
  }
}
