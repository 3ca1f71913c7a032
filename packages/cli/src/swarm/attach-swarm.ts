import { connectControl, type ControlClient, type ControlClientOptions } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';

export interface SwarmPlace {
  readonly stateRoot: string;
  readonly workspaceId: string;
}

/** The swarm that runs in a workspace, or `undefined`. **Errors** — those of `connectControl`, `E_CONTROL_CLOSED` aside. */
export async function attachSwarm(
  { stateRoot, workspaceId }: SwarmPlace,
  options?: ControlClientOptions,
): Promise<ControlClient | undefined> {
  try {
    return await connectControl({ stateRoot, workspaceId }, options);
  } catch (error) {
    if (error instanceof GoondanError && error.code === 'E_CONTROL_CLOSED') return undefined;
    throw error;
  }
}
