import { connectControl, type ControlClient } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';

export interface SwarmPlace {
  readonly stateRoot: string;
  readonly workspaceId: string;
}

/** The swarm that runs in a workspace, or `undefined`. **Errors** — those of `connectControl`, `E_CONTROL_CLOSED` aside. */
export async function attachSwarm({ stateRoot, workspaceId }: SwarmPlace): Promise<ControlClient | undefined> {
  try {
    return await connectControl({ stateRoot, workspaceId });
  } catch (error) {
    if (error instanceof GoondanError && error.code === 'E_CONTROL_CLOSED') return undefined;
    throw error;
  }
}
