/** Measures the time from the death of a node until another node goes on with its turn. */
import { join } from 'node:path';
import { startOwnDatabase } from '../test/cluster/own-database.ts';
import { print, startNodes } from './cluster-nodes.ts';
import type { Figures } from './figures.ts';
import { medianOf } from './measure.ts';

const ROUNDS = 5;
const LEASE_SECONDS = 2;
const bundleFolder = join(import.meta.dir, '../test/cluster/bundle');

export async function measureTakeOver(): Promise<Figures> {
  await using database = await startOwnDatabase();
  await using cluster = await startNodes({
    bundleFolder,
    swarm: 'scenarios',
    address: database.address,
    nodes: 2,
    leaseSeconds: LEASE_SECONDS,
  });
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const at = { agent: 'worker', instanceKey: `take-over-${round}` };
    const began = Promise.withResolvers<void>();
    const delivery = { ...at, id: `take-over-${round}`, input: 'wait' };
    // A turn that waits for ever, accepted by the first node.
    const asked = cluster.at(0).ask(delivery, {
      onNotice: (notice) => {
        if (notice.type === 'runtime.event' && notice.name === 'tool.called') began.resolve();
      },
    });
    asked.catch(() => undefined);
    await began.promise;
    const owner = await ownerOf(cluster.nodes, at.instanceKey);
    const survivor = cluster.nodes.find((node) => node !== owner);
    if (owner === undefined || survivor === undefined) throw new Error('No node runs the turn.');
    const resumed = Promise.withResolvers<void>();
    const watch = await survivor.swarm.watch({ ...at, types: ['runtime.event'] }, ({ type }) => {
      if (type === 'runtime.event') resumed.resolve();
    });
    const killedAt = performance.now();
    await owner.kill();
    await resumed.promise;
    times.push(performance.now() - killedAt);
    watch.end();
    await survivor.swarm.cancel({ ...at, eventId: delivery.id });
    await cluster.restart(owner);
  }
  const beyond = times.map((ms) => ms - LEASE_SECONDS * 1_000);
  const shown = times.map((ms) => (ms / 1_000).toFixed(2)).join(', ');
  print(
    `take-over after a kill, lease ${LEASE_SECONDS} s`,
    `${shown} s; median beyond the lease ${medianOf(beyond).toFixed(0)} ms`,
  );
  return { 'cluster.takeover': Math.max(...beyond) };
}

async function ownerOf<
  Node extends { readonly swarm: { instances(): Promise<readonly object[]> }; readonly name: string },
>(nodes: readonly Node[], instanceKey: string): Promise<Node | undefined> {
  const [first] = nodes;
  const instances = (await first?.swarm.instances()) ?? [];
  const found = instances.find((each) => 'instanceKey' in each && each.instanceKey === instanceKey);
  return nodes.find(({ name }) => found !== undefined && 'node' in found && found.node === name);
}
