import { checkSwarmPlan } from './config/check-swarm-plan.ts';
import type { Swarm } from './control/swarm.ts';
import { defined } from './json/defined.ts';
import { startOrchestrator } from './orchestrator/start-orchestrator.ts';
import { realFolder } from './real-folder.ts';
import { type BundleSource, bundleSource, readFolderPlan, type SwarmFolder } from './read-folder-plan.ts';
import { chooseStateRoot, type PlanToStart, type StartSwarmOptions } from './start-swarm.ts';
import { openChangesets } from './workspace/changesets/open-changesets.ts';
import { workspaceId } from './workspace/layout/workspace-id.ts';

/** A swarm to start. `examine`: see `BundleSource`; only our own packages pass it, with the plan of a bundle. */
type SwarmToStart = StartSwarmOptions & Partial<Pick<BundleSource, 'examine'>>;

/** Starts a swarm with this Bun process as its orchestrator. */
export async function startHere({ stateRoot: root, flock, onLog, ...what }: SwarmToStart): Promise<Swarm> {
  const stateRoot = chooseStateRoot(root);
  const known = 'agents' in what ? readPlan(what) : await readFolder(what, stateRoot, flock);
  return startOrchestrator({ ...known, stateRoot, ...defined({ flock, onLog }) });
}

function readPlan({
  workspace,
  bundleFolder = process.cwd(),
  readPlan: read,
  examine,
  ...given
}: PlanToStart & Pick<SwarmToStart, 'examine'>) {
  const plan = checkSwarmPlan(given);
  const folder = realFolder(bundleFolder);
  return {
    plan,
    bundleFolder: folder,
    workspaceId: workspaceId(defined({ swarmName: plan.name, bundleRealPath: folder, workspace })),
    ...defined({ readPlan: read, examine }),
  };
}

async function readFolder(folder: SwarmFolder, stateRoot: string, flock: boolean | undefined) {
  // A killed process may have left half of a change, so this comes before the bundle is read.
  const place = { stateRoot, bundleFolder: folder.bundleFolder, ...(flock === false ? { flock } : {}) };
  const recoveries = await openChangesets(place).recover();
  const { plan, workspaceId: id } = await readFolderPlan(folder);
  const bundleFolder = realFolder(folder.bundleFolder);
  const source = bundleSource({ ...folder, bundleFolder }, { stateRoot, workspaceId: id });
  return { plan, bundleFolder, workspaceId: id, recoveries, ...source };
}
