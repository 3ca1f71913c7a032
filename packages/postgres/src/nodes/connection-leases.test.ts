import { describe, expect, test } from '../testing/with-postgres.ts';
import { codeOf } from '../testing/code-of.ts';
import { openSwarmPerTest } from '../testing/test-swarm.ts';
import { MOST_FOLDER_BYTES, PostgresConnections } from './connection-leases.ts';

const swarm = await openSwarmPerTest();

async function join(name: string) {
  const placement = await swarm.join(name);
  return { placement, connections: new PostgresConnections(swarm, placement) };
}

describe('the lease of a connection', () => {
  test('S-07 belongs to one node of many that claim it at the same time', async () => {
    const nodes = [await join('one'), await join('two'), await join('three')];
    for (let round = 0; round < 50; round += 1) {
      const claims = await Promise.all(nodes.map(({ connections }) => connections.claim('slack')));
      const leases = claims.filter((lease) => lease !== undefined);
      expect(leases).toHaveLength(1);
      await leases[0]?.release();
    }
  });

  test('S-07 goes to another node with its folder when the node has ended, and the old lease is refused', async () => {
    const [one, two] = [await join('one'), await join('two')];
    const lease = await one.connections.claim('slack');
    expect(await lease?.readFolder()).toBeUndefined();
    await lease?.writeFolder(new Uint8Array([1, 2, 3]));
    expect(await two.connections.claim('slack')).toBeUndefined();
    await swarm.endLease(one.placement);
    const next = await two.connections.claim('slack');
    expect(next?.epoch).toBeGreaterThan(lease?.epoch ?? Infinity);
    expect([...((await next?.readFolder()) ?? [])]).toEqual([1, 2, 3]);
    expect(await codeOf(lease?.writeFolder(new Uint8Array([9])) ?? Promise.resolve())).toBe('E_FENCED');
    expect(await codeOf(lease?.readFolder() ?? Promise.resolve())).toBe('E_FENCED');
    await lease?.release();
    expect([...((await next?.readFolder()) ?? [])]).toEqual([1, 2, 3]);
    expect(await codeOf(one.connections.claim('other'))).toBe('E_FENCED');
  });

  test('S-07 is refused to the same node under an older epoch', async () => {
    const { connections } = await join('one');
    const first = await connections.claim('slack');
    expect(await connections.claim('slack')).toBe(first as never);
    await first?.release();
    const second = await connections.claim('slack');
    expect(await codeOf(first?.writeFolder(new Uint8Array([9])) ?? Promise.resolve())).toBe('E_FENCED');
    await second?.writeFolder(new Uint8Array([1]));
  });

  test('is not claimed by a draining node', async () => {
    const [one, two] = [await join('one'), await join('two')];
    await two.placement.drain('one');
    await one.placement.renew();
    expect(await one.connections.claim('slack')).toBeUndefined();
    expect(await two.connections.claim('slack')).toBeDefined();
  });

  test('is free after the node left', async () => {
    const [one, two] = [await join('one'), await join('two')];
    await one.connections.claim('slack');
    await one.placement.leave();
    expect(await two.connections.claim('slack')).toBeDefined();
    expect(await codeOf(one.connections.claim('slack'))).toBe('E_FENCED');
  });

  test('has a folder of bounded size', async () => {
    const { connections } = await join('one');
    const lease = await connections.claim('slack');
    await lease?.writeFolder(new Uint8Array([1]));
    const refused = lease?.writeFolder(new Uint8Array(MOST_FOLDER_BYTES + 1)) ?? Promise.resolve();
    expect(await codeOf(refused)).toBe('E_STORE_WRITE');
    expect([...((await lease?.readFolder()) ?? [])]).toEqual([1]);
  });
});
