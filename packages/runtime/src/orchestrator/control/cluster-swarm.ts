/**
 * The handle of a swarm with several nodes, at one of them. Every node offers it to its clients, so that each client sees
 * the whole swarm. Work on an instance is done by the node that owns it.
 */
import { type AgentAddress, GoondanError } from '@goondan/types';
import { toAgentAddress, toInstanceAddress } from '../../control/instance-address.ts';
import type { InstanceAddress, InstanceChoice, InstanceStatus, Swarm } from '../../control/swarm.ts';
import { plainDelivery } from '../../control/plain-delivery.ts';
import { typedAsk } from '../../control/typed-ask.ts';
import { typedWatch } from '../../control/watch-swarm.ts';
import type { Clock } from '../../ports/clock.ts';
import { eventIdOf, type Ids } from '../../ports/ids.ts';
import { splitRetries, typedTurnIds } from '../../ports/turn-ids.ts';
import type { ClusterPlacement, ClusterStore, InstancePage, StoredInstance } from '../../store/cluster-store.ts';
import type { Inbox } from '../../store/inbox.ts';
import { readPages } from '../../store/read-pages.ts';
import { newTraceId } from '../../trace/span-id.ts';
import { findEventId, findInInstances } from './find-queued-turn.ts';
import { answered, mergeInstances, mergeStatus } from './merge-status.ts';
import { isGone, OtherNodes, type OtherNodesDeps } from './other-nodes.ts';
import { relayAsk } from './relay-ask.ts';
import { relayWatch } from './relay-watch.ts';

export interface ClusterSwarmDeps {
  /** The handle of this node alone. */
  readonly local: Swarm;
  readonly placement: Pick<ClusterPlacement, 'node' | 'nodes' | 'ownerOf' | 'claim' | 'release'>;
  readonly inbox: Pick<Inbox, 'cancel'>;
  readonly findPending: ClusterStore['findPending'];
  /** Lists the instances of the store. */
  readonly listInstances: (page: Omit<InstancePage, 'agents'>) => Promise<readonly StoredInstance[]>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Returns the agent for requests that do not name one. */
  readonly entryAgent: () => string;
  /** Makes the handle of another node, from `nodeConnector`. */
  readonly connect: OtherNodesDeps['connect'];
}

/** The number of attempts to find the owner of an instance that moves between nodes. */
const MOST_ATTEMPTS = 5;
const BY_A_CLIENT = 'cancelled by a client';

/** Lists the instances of the store: asleep, or working at a node. The nodes that hold some of them know better. */
async function readStored(read: ClusterSwarmDeps['listInstances']): Promise<readonly InstanceStatus[]> {
  return (await readPages(read)).map(({ workingAt: node, ...at }) => ({
    ...{ ...toInstanceAddress(at), queued: 0, crashes: 0 },
    ...(node === undefined ? { status: 'asleep' } : { status: 'working', node }),
  }));
}

export function clusterSwarm(deps: ClusterSwarmDeps): Swarm {
  const { local, placement, inbox, clock, ids, entryAgent } = deps;
  const nodes = new OtherNodes(deps);

  const cancel: Swarm['cancel'] = async (turn) => {
    const { eventId: typed, reason = BY_A_CLIENT } = turn;
    const at = toAgentAddress({ agent: turn.agent ?? entryAgent(), instanceKey: turn.instanceKey ?? 'default' });
    if (typed === undefined) {
      const owner = await nodes.placeOf(at);
      return (typeof owner === 'object' ? owner.swarm : local).cancel(turn);
    }
    const found = await findTurn(typed, at, turn);
    // It rejects an unknown agent.
    if (found === undefined) return local.cancel(turn);
    const exact = { ...toInstanceAddress(found.address), eventId: found.id, reason };
    const owner = await nodes.placeOf(found.address);
    try {
      if (await (typeof owner === 'object' ? owner.swarm : local).cancel(exact)) return true;
    } catch (error) {
      if (!isGone(error)) throw error;
    }
    // The owner may be lost and not replaced yet. The next owner reads this mark.
    return inbox.cancel(found.address, found.id, reason);
  };

  /** Finds the turn that a client means, at any node. **Errors** — `E_TRACE_AMBIGUOUS`; those of the store. */
  const findTurn = async (typed: string, at: AgentAddress, choice: InstanceChoice) => {
    const pending = await deps.findPending(typedTurnIds(splitRetries(typed)[0]).map(eventIdOf));
    const byInstance = new Map<string, [address: AgentAddress, eventIds: string[]]>();
    for (const { instance, eventId } of pending) {
      const { agentName, instanceKey } = instance;
      if ((choice.agent ?? agentName) !== agentName || (choice.instanceKey ?? instanceKey) !== instanceKey) continue;
      const key = JSON.stringify([agentName, instanceKey]);
      const [, eventIds] = byInstance.get(key) ?? [];
      if (eventIds === undefined) byInstance.set(key, [instance, [eventId]]);
      else eventIds.push(eventId);
    }
    const id = findEventId(typed, byInstance.get(JSON.stringify([at.agentName, at.instanceKey]))?.[1]);
    return id === undefined ? findInInstances(typed, byInstance.values()) : { address: at, id };
  };

  const instances = async (): Promise<readonly InstanceStatus[]> => {
    const [own, others, stored] = await Promise.all([
      local.instances(),
      nodes.ask((swarm) => swarm.instances()),
      readStored(deps.listInstances),
    ]);
    return mergeInstances([
      { node: placement.node, value: own },
      ...answered(others),
      { node: placement.node, value: stored },
    ]);
  };

  /** Runs an action at the owner of an instance. If nobody owns it, this node takes it. */
  const atOwner = async <Value>(
    instance: InstanceAddress,
    action: (swarm: Swarm) => Promise<Value>,
  ): Promise<Value> => {
    const at = toAgentAddress(instance);
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const owner = await nodes.placeOf(at);
      if (typeof owner === 'object') return action(owner.swarm);
      if (owner === 'here') return action(local);
      if (await placement.claim(at)) return orRelease(at, action(local));
    }
    const message = `Conversation "${at.instanceKey}" of agent "${at.agentName}" moves between nodes.`;
    throw new GoondanError('E_LOCKED', message, { retryable: true, suggestion: 'Try again in a moment.' });
  };

  /** Gives an instance up that was taken for an action that failed, for example because it does not exist. */
  const orRelease = async <Value>(at: AgentAddress, action: Promise<Value>): Promise<Value> => {
    try {
      return await action;
    } catch (error) {
      await placement.release(at).catch(() => undefined);
      throw error;
    }
  };

  return {
    deliver: (delivery) => local.deliver(delivery),
    ask: typedAsk(async (delivery, options = {}) => {
      const { agent = entryAgent(), instanceKey = 'default', id, traceId = newTraceId() } = delivery;
      const fixed = { ...delivery, agent, instanceKey, id: id ?? ids.next('event'), traceId };
      return relayAsk({ local, nodes, clock, cancel }, fixed, id !== undefined, options);
    }, plainDelivery),
    watch: typedWatch((filter, listener) =>
      relayWatch({ node: placement.node, local, nodes, clock }, filter, listener),
    ),
    cancel,
    status: async () => {
      const [own, others, all] = await Promise.all([
        local.status(),
        nodes.ask((swarm) => swarm.status()),
        placement.nodes(),
      ]);
      return mergeStatus({ node: placement.node, value: own }, others, all);
    },
    instances,
    deleteInstance: (request) => atOwner(request, (swarm) => swarm.deleteInstance(request)),
    forkInstance: (request) => atOwner(request, (swarm) => swarm.forkInstance(request)),
    // Every node lists the dead letters of the whole swarm from the store, also those of instances that nobody owns.
    deadLetters: (choice) => local.deadLetters(choice),
    retryDeadLetter: (letter) => atOwner(letter, (swarm) => swarm.retryDeadLetter(letter)),
    dropDeadLetter: (letter) => atOwner(letter, (swarm) => swarm.dropDeadLetter(letter)),
    // Every node lists the questions of the whole swarm, and answers any of them in the store.
    questions: () => local.questions(),
    answer: (reply) => local.answer(reply),
    grants: () => local.grants(),
    revoke: (grant) => local.revoke(grant),
    restart: async ({ fresh = false, ...choice } = {}) => {
      const chosen = (await instances()).filter(
        ({ agent, instanceKey, status }) =>
          (choice.agent ?? agent) === agent &&
          (choice.instanceKey ?? instanceKey) === instanceKey &&
          (fresh || status !== 'asleep'),
      );
      // It rejects an unknown agent.
      if (chosen.length === 0) return local.restart({ ...choice, fresh });
      let restarted = 0;
      // One after the other, because a restart may start a process.
      for (const { agent, instanceKey } of chosen) {
        const one = { agent, instanceKey, ...(fresh && { fresh }) };
        restarted += await atOwner(one, (swarm) => swarm.restart(one));
      }
      return restarted;
    },
    reload: async () => {
      const message = 'A swarm with several nodes is not reloaded from a folder of one node.';
      const suggestion = 'Deploy the bundle to all nodes with `gdn deploy`.';
      throw new GoondanError('E_CONTROL_REQUEST', message, { suggestion });
    },
    stop: (options) => local.stop(options),
    get stopped() {
      return local.stopped;
    },
    get failure() {
      return local.failure;
    },
  };
}
