import { listKnownSwarms } from '../../workspace/swarms/list-known-swarms.ts';
import { listWorkspaces, workspaceIds } from '../../workspace/swarms/list-workspaces.ts';
import type { SwarmList } from '../readers.ts';

/** Opens the list of the swarms in a state root. It loads no conversation. */
export function openSwarmList({ stateRoot }: { readonly stateRoot: string }): SwarmList {
  return {
    list: async () => listWorkspaces(stateRoot),
    ids: async () => workspaceIds(stateRoot),
    ofFolder: async (folder) => listKnownSwarms(stateRoot, folder),
  };
}
