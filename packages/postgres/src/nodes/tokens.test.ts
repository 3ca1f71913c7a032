import { afterAll, beforeAll, describe, expect, test } from '../testing/with-postgres.ts';
import { codeOf } from '../testing/code-of.ts';
import { openTestSwarms } from '../testing/test-swarm.ts';
import { addToken, listTokens, postgresTokens, removeToken } from './tokens.ts';

let swarms: Awaited<ReturnType<typeof openTestSwarms>>;
beforeAll(async () => {
  swarms = await openTestSwarms();
});
afterAll(() => swarms.end());

describe('tokens', () => {
  test('are known by their name and scope, and only while they are there', async () => {
    const { database } = swarms.make();
    const tokens = postgresTokens(database);
    const made = await addToken(database, { name: 'ann', scope: 'operate' });
    const given = 'x'.repeat(32);
    expect(await addToken(database, { name: 'bob', scope: 'read', token: given })).toBe(given);
    expect(await tokens.check(made)).toEqual({ name: 'ann', scope: 'operate' });
    expect(await tokens.check(given)).toEqual({ name: 'bob', scope: 'read' });
    expect((await listTokens(database)).map(({ name, scope }) => [name, scope])).toEqual([
      ['ann', 'operate'],
      ['bob', 'read'],
    ]);
    expect([await removeToken(database, 'ann', true), await removeToken(database, 'ann')]).toEqual([true, false]);
    expect(await tokens.check(made)).toBeUndefined();
    for (const wrong of ['', made.slice(1), `${made} `, 'x'.repeat(33), 'x'.repeat(100_000)]) {
      expect(await tokens.check(wrong)).toBeUndefined();
    }
    await removeToken(database, 'bob');
  });

  test('are random, and not in the database', async () => {
    const { database } = swarms.make();
    const made = [
      await addToken(database, { name: 'one', scope: 'read' }),
      await addToken(database, { name: 'two', scope: 'read' }),
    ];
    expect(new Set(made).size).toBe(2);
    const rows = JSON.stringify(await database.query('select * from gdn_token'));
    for (const token of made) expect(rows).not.toContain(token.slice(4));
  });

  test('are refused when they are short, when their name cannot be used, and when either is taken', async () => {
    const { database } = swarms.make();
    const token = 'y'.repeat(40);
    await addToken(database, { name: 'taken', scope: 'read', token });
    const refused = [
      { name: 'short', scope: 'read', token: 'x'.repeat(31) },
      { name: '', scope: 'read' },
      { name: 'a b', scope: 'read' },
      { name: 'taken', scope: 'read' },
      { name: 'another', scope: 'read', token },
      { name: 'taken', scope: 'operate', token },
    ] as const;
    for (const each of refused) expect(await codeOf(addToken(database, each))).toBe('E_CLUSTER_TOKEN');
    expect(await addToken(database, { name: 'taken', scope: 'read', token })).toBe(token);
  });

  test('stay while living nodes use them, unless the removal is forced', async () => {
    const made = swarms.make();
    const { database, swarm } = made;
    const token = await addToken(database, { name: 'nodes', scope: 'operate' });
    const facts = { name: 'one', start: 'start', version: '0.1.0', token };
    const node = await made.join('one', { facts });
    const refused = await removeToken(database, 'nodes').catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'E_CLUSTER_TOKEN',
      message: `Living nodes use the token "nodes": "one" of swarm "${swarm}".`,
    });
    expect(await postgresTokens(database).check(token)).toMatchObject({ name: 'nodes' });
    expect(JSON.stringify(await database.query('select * from gdn_node'))).not.toContain(token.slice(4));
    expect(await removeToken(database, 'nodes', true)).toBe(true);

    await addToken(database, { name: 'nodes', scope: 'operate', token });
    await made.endLease(node);
    await addToken(database, { name: 'another', scope: 'operate' });
    expect(await removeToken(database, 'nodes')).toBe(true);
  });

  test('keep the last one that may operate, unless the removal is forced', async () => {
    const { database } = swarms.make();
    // All tests of this file have the same table.
    await database.query('delete from gdn_token');
    await addToken(database, { name: 'looker', scope: 'read' });
    await addToken(database, { name: 'one', scope: 'operate' });
    expect(await removeToken(database, 'one').catch((error: unknown) => error)).toMatchObject({
      code: 'E_CLUSTER_TOKEN',
      message: 'The token "one" is the last one that may operate.',
    });
    for (let round = 0; round < 10; round += 1) {
      const names = (await listTokens(database)).filter(({ scope }) => scope === 'operate').map(({ name }) => name);
      const name = names.includes('one') ? 'two' : 'one';
      await addToken(database, { name, scope: 'operate' });
      const done = await Promise.allSettled(['one', 'two'].map((each) => removeToken(database, each)));
      expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    }
    const [left] = (await listTokens(database)).filter(({ scope }) => scope === 'operate');
    expect(await removeToken(database, left?.name ?? '', true)).toBe(true);
    expect(await removeToken(database, 'looker')).toBe(true);
  });
});
