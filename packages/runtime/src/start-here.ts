import { checkSwarmPlan } from './config/check-swarm-plan.ts';
import type { Swarm } from './control/swarm.ts';
import { defined } from './json/defined.ts';
import { startOrchestrator } from './orchestrator/start-orchestrator.ts';
import { realFolder } from './real-folder.ts';
import { readFolderPlan, readPlanAgain, type SwarmFolder } from './read-folder-plan.ts';
import { chooseStateRoot, type PlanToStart, type StartSwarmOptions } from './start-swarm.ts';
import { workspaceId } from './workspace/layout/workspace-id.ts';

/** Starts a swarm with this Bun process as its orchestrator. */
export async function startHere({ stateRoot, flock, onLog, ...what }: StartSwarmOptions): Promise<Swarm> {
  const known = 'agents' in what ? readPlan(what) : await readFolder(what);
  return startOrchestrator({
    ...known,
    stateRoot: chooseStateRoot(stateRoot),
    ...defined({ flock, onLog }),
  });
}

function readPlan({ workspace, bundleFolder = process.cwd(), readPlan: read, ...given }: PlanToStart) {
  const plan = checkSwarmPlan(given);
  const folder = realFolder(bundleFolder);
  return {
    plan,
    bundleFolder: folder,
    workspaceId: workspaceId(defined({ swarmName: plan.name, bundleRealPath: folder, workspace })),
    ...defined({ readPlan: read }),
  };
}

async function readFolder(folder: SwarmFolder) {
  const { plan, workspaceId: id } = await readFolderPlan(folder);
  const bundleFolder = realFolder(folder.bundleFolder);
  return { plan, bundleFolder, workspaceId: id, readPlan: () => readPlanAgain({ ...folder, bundleFolder }, id) };
}
