/** Takes a committed changeset back: in the files, and in every running swarm of the bundle. */
import type { Swarm } from '@goondan/runtime';
import type { ReloadResult } from '@goondan/runtime/control';
import { type ChangesetRecord, type Changesets, openSwarmList } from '@goondan/runtime/internal';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import { showReloadProgress } from '../swarm/show-reload-progress.ts';
import type { Terminal } from '../terminal.ts';

export interface Undone {
  readonly record: ChangesetRecord;
  /** The reload of each running swarm of the bundle. */
  readonly reloads: readonly { readonly swarm: string; readonly result: ReloadResult }[];
}

/**
 * Restores the files and reloads the running swarms. If one of them refuses, the files and the swarms are again as they
 * were. **Errors** — those of `Changesets.undo` and of the reload.
 */
export async function undoChangeset(
  changesets: Changesets,
  { id, by, stateRoot }: { readonly id: string; readonly by: string; readonly stateRoot: string },
  terminal: Pick<Terminal, 'printError' | 'showsProgress'>,
): Promise<Undone> {
  const running = await runningSwarms(stateRoot, changesets.bundleFolder);
  const reloads: { swarm: string; client: Swarm; result: ReloadResult }[] = [];
  const reloadAll = async () => {
    for (const { swarm, client } of running) {
      const result = await showReloadProgress(client, terminal, () => client.reload());
      reloads.push({ swarm, client, result });
    }
  };
  try {
    const record = await changesets.undo(id, by, reloadAll);
    return { record, reloads: reloads.map(({ swarm, result }) => ({ swarm, result })) };
  } catch (error) {
    // The files are back, so these swarms get the plan back that they had. A failure is in their log.
    for (const { client } of reloads) await client.reload().catch(() => undefined);
    throw error;
  }
}

/** Returns the running swarms of a bundle. Two of them may have the same name, in different workspaces. */
async function runningSwarms(
  stateRoot: string,
  folder: string,
): Promise<readonly { readonly swarm: string; readonly client: Swarm }[]> {
  const swarms = await openSwarmList({ stateRoot }).ofFolder(folder);
  const known = new Map(swarms.map((each) => [each.workspaceId, each.swarm]));
  const running: { swarm: string; client: Swarm }[] = [];
  for (const [workspaceId, swarm] of known) {
    const client = await attachSwarm({ stateRoot, workspaceId });
    if (client !== undefined) running.push({ swarm, client });
  }
  return running;
}
