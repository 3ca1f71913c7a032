/** Lists every swarm of a state root, running or not, for `gdn ls`. Reads no bundle, and runs no code. */
import { existsSync } from 'node:fs';
import { type ListedWorkspace, openSwarmList, workspaceFolder } from '@goondan/runtime/internal';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import { withStore } from '../instance/with-store.ts';
import { mapAtMost } from '../map-at-most.ts';
import { openReader, type SwarmPlace } from './swarm-place.ts';
import { readState } from './read-status.ts';

/** An item of `gdn ls --json`. Fields may be added, but are never renamed. */
export interface ListedSwarm {
  /** The swarm that last ran in the workspace; `null` when it is unknown. */
  readonly swarm: string | null;
  readonly running: boolean;
  /** Present when the swarm runs, but does not answer. */
  readonly answers?: false;
  readonly pid?: number;
  readonly startedAt?: string;
  /** The agents of a running swarm; otherwise the agents that have a conversation. */
  readonly agents: readonly string[];
  /** The folder of the bundle, or of the program that started the swarm; `null` when it is unknown. */
  readonly folder: string | null;
  /** False when the folder was moved or deleted. */
  readonly folderExists: boolean;
  readonly workspaceId: string;
  /** The folder of the workspace; for a swarm in a store, the address of the store. */
  readonly workspace: string;
  /** The number of living nodes; absent for a swarm on files. */
  readonly nodes?: number;
  readonly conversations: number;
  /** The time of the newest commit; `null` before the first one. */
  readonly updatedAt: string | null;
}

/** The number of workspaces that are read at a time; each opens several files. */
const AT_ONCE = 16;

/** Lists the running swarms first, then the others; the last used one is the first. **Errors** — `E_STORE_FORMAT`. */
export async function listSwarms(stateRoot: string, readAgents = agentsIn): Promise<ListedSwarm[]> {
  const listed = await mapAtMost(AT_ONCE, await openSwarmList({ stateRoot }).list(), (each) =>
    describe(stateRoot, each, readAgents),
  );
  return listed.toSorted(byUse);
}

/** Lists the swarms of a store in the same order. **Errors** — those of the store. */
export async function listSwarmsInStore(cluster: ClusterAccess): Promise<ListedSwarm[]> {
  const store = await cluster.open();
  const listed = await mapAtMost(AT_ONCE, await store.swarms.list(), async (each) => {
    const { workspaceId, swarm, instances, updatedAt } = each;
    const { directory } = store.reader(workspaceId);
    const [nodes, folder = null] = [await store.nodes(workspaceId), (await directory.swarm())?.folder];
    return {
      swarm: swarm ?? null,
      running: nodes.length > 0,
      agents: await agentsIn({ cluster, workspaceId }),
      folder,
      folderExists: folder !== null && existsSync(folder),
      workspaceId,
      workspace: cluster.shown,
      conversations: instances,
      updatedAt: updatedAt?.toISOString() ?? null,
      nodes: nodes.length,
    } satisfies ListedSwarm;
  });
  return listed.toSorted(byUse);
}

async function describe(
  stateRoot: string,
  { workspaceId, swarm, instances, updatedAt }: ListedWorkspace,
  readAgents: typeof agentsIn,
) {
  const place = { stateRoot, workspaceId };
  const state = await readState(place);
  const status = state === 'silent' ? undefined : state;
  const folder = (await (await openReader(place)).directory.swarm())?.folder ?? null;
  return {
    swarm: status?.swarm ?? swarm ?? null,
    running: state !== undefined,
    ...(state === 'silent' && { answers: false as const }),
    ...(status && { pid: status.pid, startedAt: status.startedAt }),
    agents: status?.agents ?? (await readAgents(place)),
    folder,
    folderExists: folder !== null && existsSync(folder),
    workspaceId,
    workspace: workspaceFolder(stateRoot, workspaceId),
    conversations: instances,
    updatedAt: updatedAt?.toISOString() ?? null,
  } satisfies ListedSwarm;
}

/** Returns the agents that have a conversation; damaged conversations are not reported here. */
function agentsIn(place: SwarmPlace): Promise<readonly string[]> {
  return withStore({ ...place, warn: () => undefined }, [], async ({ directory }) =>
    [...new Set((await directory.instances()).map(({ agentName }) => agentName))].toSorted(),
  ).catch(() => []);
}

function byUse(one: ListedSwarm, other: ListedSwarm): number {
  if (one.running !== other.running) return one.running ? -1 : 1;
  const [first, second] = [one.updatedAt ?? '', other.updatedAt ?? ''];
  if (first !== second) return first > second ? -1 : 1;
  return one.workspaceId < other.workspaceId ? -1 : 1;
}
