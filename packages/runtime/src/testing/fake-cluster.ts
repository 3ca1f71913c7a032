/**
 * Several nodes of one swarm in one process, over real TLS, for tests of the relay between nodes. The swarm of each node is
 * fake, and the test says which node owns an instance.
 */
import { GoondanError } from '@goondan/types';
import type { Swarm } from '../control/swarm.ts';
import { clusterSwarm } from '../orchestrator/control/cluster-swarm.ts';
import { type ControlPort, openControlPort } from '../orchestrator/control/open-control-port.ts';
import { nodeConnector } from '../orchestrator/control/other-nodes.ts';
import { systemClock } from '../ports/clock.ts';
import { randomIds } from '../ports/ids.ts';
import type { ClusterNode, StoredInstance } from '../store/cluster-store.ts';
import { type FakeControl, fakeControl } from './fake-control.ts';

export interface FakeClusterNode {
  readonly name: string;
  /** The handle of this node alone. */
  readonly local: FakeControl;
  /** The handle for clients. */
  readonly swarm: Swarm;
  readonly port: ControlPort;
  /** The names of instances that this node claimed and released, in order. */
  readonly claimed: readonly string[];
  readonly released: readonly string[];
}

export interface FakeCluster {
  /** Adds a living node. */
  join(name: string): FakeClusterNode;
  /** Ends the list entry of a node; with `kill`, its port too. Its instances have no owner then. */
  lose(name: string, options?: { readonly kill?: boolean }): Promise<void>;
  /** Makes a node the owner of the instance with this key. */
  own(instanceKey: string, name: string): void;
  /** The events that were marked as cancelled in the inbox. */
  readonly marked: readonly string[];
  /** Adds a pending event of the instance with this key; `k` when absent. A mark of it succeeds once. */
  pend(eventId: string, instanceKey?: string): void;
  /** Adds an instance to those of the store. */
  store(at: StoredInstance): void;
  /** Makes lookups of owners fail while it is true. */
  setAway(isAway: boolean): void;
  close(): Promise<void>;
}

const TOKEN = 'token-of-the-nodes';

export function fakeCluster(): FakeCluster {
  const owners = new Map<string, string>();
  const living = new Map<string, ClusterNode>();
  const nodes = new Map<string, FakeClusterNode>();
  const marked: string[] = [];
  const pending = new Map<string, string>();
  const stored: StoredInstance[] = [];
  let isAway = false;
  /** Running turns are pending events, too: of the instance `k`, because all tests ask it. */
  const running = () => [...nodes.values()].flatMap(({ local }) => local.running.map((id) => [id, 'k'] as const));

  return {
    marked,
    store: (at) => void stored.push(at),
    join(name) {
      const local = fakeControl();
      const port = openControlPort({ node: name });
      const claimed: string[] = [];
      const released: string[] = [];
      const swarm = clusterSwarm({
        local,
        clock: systemClock,
        ids: randomIds,
        entryAgent: () => 'entry',
        connect: nodeConnector(name, TOKEN, systemClock),
        findPending: async (beginnings) =>
          [...running(), ...pending]
            .filter(([eventId]) => beginnings.some((start) => eventId.startsWith(start)))
            .map(([eventId, instanceKey]) => ({ instance: { agentName: 'entry', instanceKey }, eventId })),
        inbox: {
          cancel: async (_at, eventId) => {
            if (!pending.delete(eventId)) return false;
            marked.push(eventId);
            return true;
          },
        },
        listInstances: async ({ most, after }) => {
          const begin = after === undefined ? 0 : stored.findIndex((at) => at.instanceKey === after.instanceKey) + 1;
          return stored.slice(begin, begin + most);
        },
        placement: {
          node: name,
          nodes: async () => [...living.values()],
          ownerOf: async ({ instanceKey }) => {
            if (isAway) throw new GoondanError('E_STORE_AWAY', 'The store is away.', { retryable: true });
            return living.get(owners.get(instanceKey) ?? '');
          },
          claim: async ({ instanceKey }) => {
            if (owners.has(instanceKey)) return owners.get(instanceKey) === name;
            owners.set(instanceKey, name);
            claimed.push(instanceKey);
            return true;
          },
          release: async ({ instanceKey }) => {
            owners.delete(instanceKey);
            released.push(instanceKey);
          },
        },
      });
      const check = async (token: string) =>
        token === TOKEN ? ({ name: 'nodes', scope: 'operate' } as const) : undefined;
      port.serve({ swarm, local, tokens: { check } });
      const { address, certificate } = port;
      const facts = { version: '1.0.0', load: 1, instances: 2, isDraining: false };
      living.set(name, { name, since: new Date(0), control: { address, certificate }, ...facts });
      const node = { name, local, swarm, port, claimed, released };
      nodes.set(name, node);
      return node;
    },
    async lose(name, { kill = true } = {}) {
      living.delete(name);
      for (const [key, owner] of owners) if (owner === name) owners.delete(key);
      if (kill) await nodes.get(name)?.port.close();
    },
    own: (instanceKey, name) => void owners.set(instanceKey, name),
    pend: (eventId, instanceKey = 'k') => void pending.set(eventId, instanceKey),
    setAway: (now) => void (isAway = now),
    async close() {
      await Promise.all([...nodes.values()].map(({ port }) => port.close()));
    },
  };
}
