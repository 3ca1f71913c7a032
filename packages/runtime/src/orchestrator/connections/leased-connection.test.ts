// Tests connections of several nodes without processes: the test acts as the store and as the connectors.
import { afterEach, describe, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import type { FromConnector } from '../../ipc/from-connector.ts';
import type { ToConnector } from '../../ipc/to-connector.ts';
import type { ConnectionLease, ConnectionLeases } from '../../store/cluster-store.ts';
import { fakeConnection, fakeIngress } from '../../testing/fake-connection.ts';
import { fakeSpawn } from '../../testing/fake-spawn.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { temporaryBundle } from '../../testing/temporary-bundle.ts';
import { defaultSupervisionPolicy } from '../supervision/supervision-policy.ts';
import { Connections } from './connections.ts';
import { noQuestions } from '../../testing/no-questions.ts';

const folders: { [Symbol.dispose](): void }[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder[Symbol.dispose]();
});

/** The leases of all nodes, in memory. */
class MemoryLeases {
  owner: string | undefined;
  epoch = 0;
  folder: Uint8Array | undefined;
  writes = 0;

  of(node: string): ConnectionLeases {
    return {
      claim: async () => {
        if (this.owner !== undefined && this.owner !== node) return undefined;
        this.owner = node;
        this.epoch += 1;
        return this.#lease(node, this.epoch);
      },
    };
  }

  #lease(node: string, epoch: number): ConnectionLease {
    return {
      epoch,
      readFolder: async () => this.folder,
      writeFolder: async (files) => {
        if (this.epoch !== epoch) throw new GoondanError('E_FENCED', 'Another node has it.');
        this.writes += 1;
        this.folder = files;
      },
      release: async () => {
        if (this.owner === node) this.owner = undefined;
      },
    };
  }
}

function openNode(leases: MemoryLeases, node: string, over: Partial<ConnectionPlan> = {}) {
  const clock = manualClock();
  const { spawn, children } = fakeSpawn<ToConnector, FromConnector>({ clock });
  const made = temporaryBundle({});
  folders.push(made);
  const folder = join(made.folder, 'connection');
  const connections = new Connections([fakeConnection('one', over)], {
    spawn,
    clock,
    leases: leases.of(node),
    runner: '/runner.js',
    frameFolderFor: () => '/frames',
    makeWorkFolder: () => {
      mkdirSync(folder, { recursive: true });
      return folder;
    },
    ingress: fakeIngress(),
    questions: () => noQuestions,
    report: () => undefined,
    onOutput: () => undefined,
    policy: () => ({ ...defaultSupervisionPolicy, heartbeat: { everyMs: 1_000_000, missedPings: 3 } }),
  });
  return { connections, clock, children, folder };
}

/** Starts node `one`, which gets the connection. */
async function startNode() {
  const leases = new MemoryLeases();
  const one = openNode(leases, 'one');
  one.connections.start();
  await one.clock.advance(0);
  return { leases, one };
}

describe('S-07 a connection of several nodes', () => {
  test('does not run at a node that misses its values, also after a reload', async () => {
    const leases = new MemoryLeases();
    const { connections, children, clock } = openNode(leases, 'one', { missing: ['KEY (Connection/one)'] });
    connections.start();
    await clock.advance(5_000);
    connections.replace([fakeConnection('one', { missing: ['KEY'] })], new Set(['one']), 0);
    await clock.advance(5_000);
    expect([leases.owner, children.length, connections.status()]).toEqual([undefined, 0, []]);
    connections.replace([fakeConnection('one')], new Set(['one']), 0);
    await clock.advance(5_000);
    expect([leases.owner, children.length]).toEqual(['one', 1]);
    void connections.drain(0);
    await clock.advance(0);
  });

  test('runs at one of them, and its folder and its process follow the lease', async () => {
    const leases = new MemoryLeases();
    const one = openNode(leases, 'one');
    const two = openNode(leases, 'two');
    one.connections.start();
    await one.clock.advance(0);
    two.connections.start();
    await two.clock.advance(5_000);
    expect([one.children.length, two.children.length]).toEqual([1, 0]);
    expect(two.connections.status()).toEqual([]);
    expect(one.connections.fenceOf('one')).toEqual({ connection: 'one', epoch: 1 });
    writeFileSync(join(one.folder, 'schedule.json'), '{"until":7}');
    const drained = one.connections.drain(0);
    await one.clock.advance(0);
    await drained;
    expect(leases.owner).toBeUndefined();
    await two.clock.advance(1_000);
    expect(two.children).toHaveLength(1);
    expect(readFileSync(join(two.folder, 'schedule.json'), 'utf8')).toBe('{"until":7}');
    expect(two.connections.fenceOf('one')?.epoch).toBe(2);
  });

  test('is taken over when its node dies, with the files that were written last', async () => {
    const { leases, one } = await startNode();
    writeFileSync(join(one.folder, 'schedule.json'), '1');
    await one.clock.advance(10_000);
    expect(leases.writes).toBe(1);
    leases.owner = undefined;
    const two = openNode(leases, 'two');
    two.connections.start();
    await two.clock.advance(0);
    expect(readFileSync(join(two.folder, 'schedule.json'), 'utf8')).toBe('1');
    // The node before thaws. Its files are refused, and its process ends.
    writeFileSync(join(one.folder, 'schedule.json'), '12');
    await one.clock.advance(2_000);
    expect(one.children[0]?.kills).toHaveLength(1);
    expect(one.connections.fenceOf('one')).toBeUndefined();
    expect(leases.writes).toBe(1);
  });

  test('whose events are refused by the store is killed, and waits for its lease again', async () => {
    const { leases, one } = await startNode();
    leases.owner = 'two';
    one.connections.lost('one');
    expect(one.children[0]?.kills).toHaveLength(1);
    await one.clock.advance(3_000);
    expect(one.children).toHaveLength(1);
    leases.owner = undefined;
    await one.clock.advance(1_000);
    expect(one.children).toHaveLength(2);
  });

  test('that came back is not ended by the folder that it had before', async () => {
    const { leases, one } = await startNode();
    one.connections.lost('one');
    await one.clock.advance(1_000);
    expect(one.connections.fenceOf('one')?.epoch).toBe(2);
    writeFileSync(join(one.folder, 'schedule.json'), '{"until":7}');
    await one.clock.advance(10_000);
    expect([one.children.length, one.children[1]?.kills, leases.writes]).toEqual([2, [], 1]);
  });

  test('whose lease comes after its end was asked for is given back, and does not start', async () => {
    const leases = new MemoryLeases();
    const one = openNode(leases, 'one');
    one.connections.start();
    await Promise.all([one.connections.drain(0), one.clock.advance(0)]);
    expect([leases.epoch, leases.owner, one.children.length]).toEqual([1, undefined, 0]);
  });

  test('with `placement: every` runs at each node, and needs no lease', async () => {
    const leases = new MemoryLeases();
    const nodes = ['one', 'two'].map((node) => openNode(leases, node, { placement: 'every' }));
    for (const { connections } of nodes) connections.start();
    expect(nodes.map(({ children }) => children.length)).toEqual([1, 1]);
    expect(leases.epoch).toBe(0);
  });
});
