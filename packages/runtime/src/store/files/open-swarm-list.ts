import { refuseOtherFormat } from '../../workspace/layout/store-format.ts';
import { listKnownSwarms } from '../../workspace/swarms/list-known-swarms.ts';
import { listWorkspaces, workspaceIds } from '../../workspace/swarms/list-workspaces.ts';
import type { SwarmList } from '../readers.ts';

/** Opens the list of the swarms in a state root. It loads no conversation. **Errors** of `list` — `E_STORE_FORMAT`. */
export function openSwarmList({ stateRoot }: { readonly stateRoot: string }): SwarmList {
  return {
    async list() {
      await refuseOtherFormat({ stateRoot });
      return listWorkspaces(stateRoot);
    },
    ids: async () => workspaceIds(stateRoot),
    ofFolder: async (folder) => listKnownSwarms(stateRoot, folder),
  };
}
