import { checkSwarmPlan } from './config/check-swarm-plan.ts';
import type { BundleSource } from './config/examination.ts';
import type { Swarm } from './control/swarm.ts';
import { defined } from './json/defined.ts';
import { type OrchestratorOptions, startOrchestrator } from './orchestrator/start-orchestrator.ts';
import type { ClusterOptions } from './orchestrator/start/join-cluster.ts';
import { rejoiningSwarm } from './orchestrator/start/rejoining-swarm.ts';
import { writeStandardError } from './ports/write-standard-error.ts';
import { realFolder } from './real-folder.ts';
import { bundleSource, readFolderPlan, type SwarmFolder } from './read-folder-plan.ts';
import { chooseStateRoot, type PlanToStart, type StartSwarmOptions } from './start-swarm.ts';
import { openChangesets } from './workspace/changesets/open-changesets.ts';
import { nodeWorkspaceId, workspaceId } from './workspace/layout/workspace-id.ts';

/** A swarm to start. `examine`: see `BundleSource`; only our own packages pass it, with the plan of a bundle. */
type SwarmToStart = StartSwarmOptions &
  Partial<Pick<BundleSource, 'examine'>> &
  NodeToStart &
  Pick<OrchestratorOptions, 'oneShot'>;

/** The options of a node; only our own packages pass them. */
export interface NodeToStart {
  readonly cluster?: ClusterOptions;
  /** Reads the bundle from another folder, with a plan; see `OrchestratorOptions`. */
  readonly bundleAt?: (folder: string) => BundleSource;
}

/**
 * Starts a swarm with this Bun process as its orchestrator. With \`cluster\`, it becomes a node, which joins again when it has
 * lost its place.
 */
export async function startHere(given: SwarmToStart): Promise<Swarm> {
  const { stateRoot: root, flock, onLog, cluster, oneShot, ...what } = given;
  const stateRoot = chooseStateRoot(root);
  const known = 'agents' in what ? readPlan(what) : await readFolder(what, stateRoot, flock, cluster);
  const options: OrchestratorOptions = { ...known, stateRoot, ...defined({ flock, onLog, oneShot }) };
  if (cluster === undefined) return startOrchestrator(options);
  const { source, node } = cluster;
  const id = cluster.workspaceId ?? nodeWorkspaceId(source.swarm, node);
  return rejoiningSwarm({
    start: () => startOrchestrator({ ...options, workspaceId: id, cluster }),
    warn: (message) => {
      if (onLog === undefined) return writeStandardError(`${message}\n`);
      onLog({ time: new Date().toISOString(), level: 'warn', event: 'node.rejoins', message });
    },
  });
}

function readPlan({
  workspace,
  bundleFolder = process.cwd(),
  readPlan: read,
  examine,
  bundleAt,
  ...given
}: PlanToStart & Pick<SwarmToStart, 'examine' | 'bundleAt'>) {
  const plan = checkSwarmPlan(given);
  const folder = realFolder(bundleFolder);
  return {
    plan,
    bundleFolder: folder,
    workspaceId: workspaceId(defined({ swarmName: plan.name, bundleRealPath: folder, workspace })),
    ...defined({ readPlan: read, examine, bundleAt }),
  };
}

async function readFolder(
  { bundleAt: _, ...given }: SwarmFolder & Pick<NodeToStart, 'bundleAt'>,
  stateRoot: string,
  flock: boolean | undefined,
  cluster: ClusterOptions | undefined,
) {
  const folder = { ...given, isNode: cluster !== undefined };
  // A killed process may have left half of a change, so this comes before the bundle is read.
  const place = { stateRoot, bundleFolder: folder.bundleFolder, ...(flock === false ? { flock } : {}) };
  const recoveries = await openChangesets(place).recover();
  const { plan, workspaceId: id } = await readFolderPlan(folder);
  const bundleFolder = realFolder(folder.bundleFolder);
  const source = bundleSource({ ...folder, bundleFolder }, { stateRoot, workspaceId: id });
  // Tools work in the folder that the operator named, wherever the bundle is copied to.
  const workdir = folder.workdir ?? bundleFolder;
  const bundleAt =
    cluster &&
    ((at: string) =>
      bundleSource({ ...folder, workdir, bundleFolder: at }, { stateRoot, swarm: cluster.source.swarm }));
  return { plan, bundleFolder, workspaceId: id, recoveries, ...source, ...defined({ bundleAt }) };
}
