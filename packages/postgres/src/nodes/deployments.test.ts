import { beforeEach, describe, expect, test } from '../testing/with-postgres.ts';
import { codeOf } from '../testing/code-of.ts';
import { openSwarmPerTest } from '../testing/test-swarm.ts';
import { MOST_BUNDLE_BYTES, PostgresDeployments } from './deployments.ts';
import { insertNode, listNodes } from './node-rows.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const put = (digest: string, base?: string | null) => ({
  digest,
  bytes: bytes(`bundle ${digest}`),
  by: 'ann',
  ...(base !== undefined && { base }),
});

const swarm = await openSwarmPerTest();
let deployments: PostgresDeployments;
beforeEach(() => {
  deployments = new PostgresDeployments(swarm);
});

describe('deployments', () => {
  test('replace the current bundle in any case without a base', async () => {
    expect(await deployments.current()).toBeUndefined();
    expect(await deployments.put(put('a'))).toBe(true);
    expect(await deployments.put(put('b'))).toBe(true);
    expect(await deployments.current()).toMatchObject({ digest: 'b', by: 'ann' });
    expect(new TextDecoder().decode(await deployments.read('b'))).toBe('bundle b');
    expect(await codeOf(deployments.read('c'))).toBe('E_STORE_READ');
  });

  test('S-09 with a base succeed only while it is the current bundle, and change nothing otherwise', async () => {
    expect(await deployments.put(put('a', 'x'))).toBe(false);
    expect(await deployments.put(put('a', null))).toBe(true);
    expect(await deployments.put(put('b', null))).toBe(false);
    expect(await deployments.put(put('b', 'x'))).toBe(false);
    expect(await codeOf(deployments.read('b'))).toBe('E_STORE_READ');
    expect(await deployments.current()).toMatchObject({ digest: 'a' });
    expect(await deployments.put(put('b', 'a'))).toBe(true);
    expect(await deployments.current()).toMatchObject({ digest: 'b' });
  });

  test('S-09 with the same base at the same time: one succeeds', async () => {
    await deployments.put(put('0'));
    for (let round = 0; round < 20; round += 1) {
      const tries = ['left', 'right'].map((side) => deployments.put(put(`${round + 1} ${side}`, `${round}`)));
      const done = await Promise.all(tries);
      expect(done.filter(Boolean)).toHaveLength(1);
      await deployments.put(put(`${round + 1}`));
    }
  });

  test('succeed again when the answer was lost', async () => {
    await deployments.put(put('a'));
    expect(await deployments.put(put('b', 'a'))).toBe(true);
    expect(await deployments.put(put('b', 'a'))).toBe(true);
  });

  test('keep the current bundle and a few before', async () => {
    for (let number = 0; number < 15; number += 1) await deployments.put(put(`${number}`));
    await deployments.put(put('6'));
    await deployments.put(put('15'));
    await deployments.put(put('6'));
    const rows = await swarm.database.query('select digest from gdn_bundle where swarm = $1', [swarm.swarm]);
    expect(rows).toHaveLength(10);
    expect(new TextDecoder().decode(await deployments.read('6'))).toBe('bundle 6');
  });

  test('are refused above a size', async () => {
    const large = { ...put('a'), bytes: new Uint8Array(MOST_BUNDLE_BYTES + 1) };
    expect(await codeOf(deployments.put(large))).toBe('E_STORE_WRITE');
    expect(await deployments.current()).toBeUndefined();
  });

  test('show which bundle each living node has, and why one was refused', async () => {
    const facts = { name: 'one', start: 's', version: '1.0.0' };
    await insertNode(swarm, 'node-id', 60_000, facts);
    expect((await listNodes(swarm))[0]?.bundle).toBeUndefined();
    await deployments.tell('one', { digest: 'a' });
    expect((await listNodes(swarm))[0]?.bundle).toEqual({ digest: 'a' });
    const refused = { digest: 'b', problem: 'It is not valid.' };
    await deployments.tell('one', { digest: 'a', refused });
    expect((await listNodes(swarm))[0]?.bundle).toEqual({ digest: 'a', refused });
    await deployments.tell('one', { digest: 'b' });
    expect((await listNodes(swarm))[0]?.bundle).toEqual({ digest: 'b' });
  });

  test('are told once each', async () => {
    const told: string[] = [];
    const end = deployments.onChange(({ digest }) => void told.push(digest));
    await deployments.put(put('a'));
    await deployments.current();
    const a = { digest: 'a', at: new Date(), by: 'ann' };
    deployments.heard(a);
    deployments.heard({ ...a, digest: 'b' });
    deployments.heard({ ...a, digest: 'b' });
    expect(told).toEqual(['b']);
    end();
    deployments.heard(a);
    expect(told).toEqual(['b']);
  });
});
