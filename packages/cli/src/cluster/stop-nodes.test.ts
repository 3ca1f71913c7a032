import { expect, test } from 'bun:test';
import type { Terminal } from '../terminal.ts';
import type { ClusterAccess } from './cluster-access.ts';
import type { OpenedStore } from './open-store.ts';
import { stopNodes } from './stop-nodes.ts';

/** A store with one swarm, whose nodes have no control port. The function under test reads nothing else. */
function storeWith(names: readonly string[]): ClusterAccess {
  const list = async () => [{ workspaceId: 'shop', swarm: 'shop', instances: 1 }];
  const nodes = async () =>
    names.map((name) => ({ name, since: new Date(), version: '1', load: 0, instances: 0, isDraining: false }));
  const store = { swarms: { list }, nodes } as unknown as OpenedStore;
  return {
    shown: 'postgres://db/gdn',
    place: 'db:5432/gdn',
    secrets: { address: 'postgres://db/gdn', files: [] },
    token: () => 'token',
    open: async () => store,
    openAny: async () => store,
    close: async () => undefined,
  };
}

test.each([
  ['does not answer', ['one'], undefined, 'E_NODE_UNKNOWN', 'Node "one" has no control port.'],
  ['is not there', ['one'], 'two', 'E_NODE_UNKNOWN', 'No living node of swarm "shop" has the name "two".'],
  ['is the only one and has ended', [], undefined, 'E_CONTROL_CLOSED', 'No node of swarm "shop" is running.'],
])('a node that %s is an error, and does not count as stopped', async (_, names, node, code, message) => {
  const stop = { ...(node !== undefined && { node }), graceMs: undefined, stopNow: 'gdn stop --now' };
  // Safe: nothing is printed before a node is reached.
  const stopped = stopNodes(storeWith(names), stop, {} as Terminal);
  expect(await stopped.catch((error: unknown) => error)).toMatchObject({ code, message });
});
