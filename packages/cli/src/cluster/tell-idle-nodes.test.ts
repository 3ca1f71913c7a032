import { expect, test } from 'bun:test';
import type { ClusterAccess } from './cluster-access.ts';
import { areAllDraining, NO_NODE_TAKES_WORK, tellingIdleNodes } from './tell-idle-nodes.ts';

function clusterOf(...draining: boolean[]): { readonly cluster: ClusterAccess; readonly swarm: string } {
  const nodes = draining.map((isDraining) => ({ isDraining }));
  const store = { nodes: async () => nodes, swarms: { list: async () => [{ workspaceId: 'night', instances: 0 }] } };
  // The cast is safe: the function uses nothing else.
  return { cluster: { open: async () => store } as unknown as ClusterAccess, swarm: 'night' };
}

/** Returns the printed text of a request that ends a while after the warning, if there is one. */
async function printed(options: Partial<ReturnType<typeof clusterOf>>, isWarned: boolean): Promise<string> {
  let text = '';
  const warned = Promise.withResolvers<void>();
  const terminal = {
    printError(line: string) {
      text += line;
      warned.resolve();
    },
  };
  const request = async () => {
    if (isWarned) await warned.promise;
    // Another warning would come in this time.
    await Bun.sleep(50);
    return 'answer';
  };
  expect(await tellingIdleNodes(options, terminal, request, 1)).toBe('answer');
  return text;
}

test('a request that waits for nodes that all drain says so once', async () => {
  expect(await printed(clusterOf(true, true), true)).toBe(`warn: ${NO_NODE_TAKES_WORK}\n`);
});

test('a request to a node that takes work, and one on files, says nothing', async () => {
  expect(await printed(clusterOf(true, false), false)).toBe('');
  expect(await printed({}, false)).toBe('');
  expect(areAllDraining([])).toBe(false);
});
