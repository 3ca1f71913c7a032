import type { SwarmList } from '@goondan/runtime/history';
import { type ListedWorkspace, openSwarmList } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import type { SwarmPlace } from '../../swarm/swarm-place.ts';
import { readStatus } from '../../swarm/read-status.ts';
import type { WorkspaceList, WorkspaceSummary } from '../contract.ts';
import type { StudioHost } from '../studio-host.ts';

/** The maximum number of workspaces shown; the oldest are left out. */
const MOST_SHOWN = 200;

/** Lists all workspaces of the state root: running ones first, then by last use. */
export async function listAll(host: StudioHost): Promise<WorkspaceList> {
  const { opened, version } = host;
  const workspaces = await (await swarmsOf(host)).list();
  const summaries = await Promise.all(workspaces.map((listed) => summarize(host, listed)));
  return {
    workspaces: summaries.toSorted(byUse).slice(0, MOST_SHOWN),
    ...(opened && { opened: { workspaceId: opened.workspaceId, swarm: opened.swarm } }),
    version,
  };
}

/**
 * Finds a workspace among the existing ones by its id, so that no text from an address becomes a file path. **Errors**
 * — `E_WORKSPACE_UNKNOWN`.
 */
export async function findPlace(host: StudioHost, wanted: string): Promise<SwarmPlace> {
  const { opened } = host;
  const ids = await (await swarmsOf(host)).ids();
  const known = [...(opened === undefined ? [] : [opened.workspaceId]), ...ids];
  const workspaceId = known.find((each) => each === wanted);
  if (workspaceId !== undefined) return placeIn(host, workspaceId);
  throw new GoondanError('E_WORKSPACE_UNKNOWN', `There is no workspace ${JSON.stringify(wanted.slice(0, 100))}.`);
}

async function swarmsOf({ stateRoot, cluster }: StudioHost): Promise<SwarmList> {
  return cluster === undefined ? openSwarmList({ stateRoot }) : (await cluster.open()).swarms;
}

function placeIn({ stateRoot, cluster }: StudioHost, workspaceId: string): SwarmPlace {
  return cluster === undefined ? { stateRoot, workspaceId } : { cluster, workspaceId };
}

async function summarize(host: StudioHost, listed: ListedWorkspace): Promise<WorkspaceSummary> {
  const { opened } = host;
  const { workspaceId, instances, updatedAt } = listed;
  const status = await readStatus(placeIn(host, workspaceId));
  const swarm = status?.swarm ?? (opened?.workspaceId === workspaceId ? opened.swarm : listed.swarm);
  return {
    workspaceId,
    ...(swarm !== undefined && { swarm }),
    isRunning: status !== undefined,
    instances,
    ...(updatedAt && { updatedAt: updatedAt.toISOString() }),
  };
}

function byUse(one: WorkspaceSummary, other: WorkspaceSummary): number {
  if (one.isRunning !== other.isRunning) return one.isRunning ? -1 : 1;
  const [first, second] = [one.updatedAt ?? '', other.updatedAt ?? ''];
  if (first !== second) return first > second ? -1 : 1;
  return one.workspaceId < other.workspaceId ? -1 : 1;
}
