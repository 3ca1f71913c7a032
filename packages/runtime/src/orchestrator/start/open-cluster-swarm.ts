import type { Swarm } from '../../control/swarm.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { AgentAddress } from '@goondan/types';
import type { ClusterStore } from '../../store/cluster-store.ts';
import { readPages } from '../../store/read-pages.ts';
import { clusterSwarm } from '../control/cluster-swarm.ts';
import { nodeConnector } from '../control/other-nodes.ts';
import type { CurrentPlan } from '../plan/current-plan.ts';
import type { SwarmAgents } from '../swarm/swarm-agents.ts';
import type { JoinedCluster } from './join-cluster.ts';

export interface OpenedNode {
  readonly currentPlan: CurrentPlan;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Returns the instances of these agents with dead letters, wherever they are. */
export function findLettered(
  store: Pick<ClusterStore, 'listInstances'>,
  agents: readonly string[],
): Promise<readonly AgentAddress[]> {
  return readPages((page) => store.listInstances({ ...page, agents, hasLetters: true }));
}

/** Makes the handle that shows the swarm of all nodes. `local` is the handle of this node alone. */
export function openClusterSwarm(
  { currentPlan, clock, ids }: OpenedNode,
  { store, token }: Pick<JoinedCluster, 'store' | 'token'>,
  { owned }: Pick<SwarmAgents, 'owned'>,
  local: Swarm,
): Swarm {
  const { placement, inbox } = store;
  const { node } = placement;
  return clusterSwarm({
    ...{ local, inbox, clock, ids },
    placement: {
      node,
      nodes: () => placement.nodes(),
      ownerOf: (at) => placement.ownerOf(at),
      claim: (at) => owned.claim(at),
      release: (at) => owned.release(at),
    },
    findPending: (beginnings) => store.findPending(beginnings),
    listInstances: (page) => store.listInstances({ ...page, agents: currentPlan.value.names }),
    entryAgent: () => currentPlan.value.entryAgent,
    connect: nodeConnector(node, token, clock),
  });
}
