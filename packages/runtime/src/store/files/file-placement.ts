/**
 * The placement of a swarm on files: the process that owns the workspace is its only node, and owns every instance. It
 * loses all of them together, when the folder of the workspace is removed or replaced.
 */
import { type Clock, systemClock } from '../../ports/clock.ts';
import { codedFs } from '../../ports/coded-fs.ts';
import { systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { ownerPath, workspaceFolder } from '../../workspace/layout/instance-paths.ts';
import { refuseOtherFormat, writeFormat } from '../../workspace/layout/store-format.ts';
import { readLock } from '../../workspace/lock/acquire-lock.ts';
import {
  type BrokenRun,
  decodeRecord,
  ownWorkspace,
  type SwarmRun,
  type WorkspacePlace,
} from '../../workspace/swarms/own-workspace.ts';
import { watchOwnership } from '../../workspace/swarms/watch-ownership.ts';
import type { Placement, StoreNode } from '../placement.ts';

export interface FilePlacement extends Placement {
  /** Runs that ended without releasing the workspace, and whose processes may not all have been ended. Newest first. */
  readonly broken: readonly BrokenRun[];
  readonly isLost: boolean;
}

/**
 * Takes the workspace. **Errors** — `E_SWARM_RUNNING` when another process has it, `E_STORE_FORMAT` when another
 * version wrote the state root; those of `ownWorkspace`.
 */
export async function joinFiles(
  place: WorkspacePlace & { readonly clock?: Clock },
  run: SwarmRun,
): Promise<FilePlacement> {
  await refuseOtherFormat(place);
  const owner = await ownWorkspace(place, run);
  try {
    await writeFormat(place);
  } catch (error) {
    await owner.release();
    throw error;
  }
  const ownership = watchOwnership(
    owner,
    workspaceFolder(place.stateRoot, place.workspaceId),
    place.clock ?? systemClock,
  );
  return {
    node: run.runTag,
    broken: owner.broken,
    get isLost() {
      return ownership.isLost;
    },
    async claim() {
      ownership.fence();
      return true;
    },
    release: async () => undefined,
    check: () => ownership.fence(),
    onLost: (listener) => ownership.onLost((error) => listener(error)),
    nodes: () => readNodes(place),
    async leave() {
      ownership.end();
      await owner.release();
    },
  };
}

async function readNodes({
  fs = systemFs,
  processes = systemProcesses,
  ...place
}: WorkspacePlace): Promise<StoreNode[]> {
  const { owner } = await readLock(codedFs(fs), ownerPath(workspaceFolder(place.stateRoot, place.workspaceId)));
  const record = owner && processes.isAlive(owner) ? decodeRecord(owner) : undefined;
  return record === undefined ? [] : [{ name: record.runTag, since: new Date(record.startedAt) }];
}
