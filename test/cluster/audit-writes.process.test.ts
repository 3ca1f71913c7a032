import { expect, test } from '../../packages/postgres/src/testing/with-postgres.ts';
import { type Database, openDatabase } from '../../packages/postgres/src/driver/database.ts';
import { makeTestDatabase } from '../../packages/postgres/src/testing/test-database.ts';
import { auditWrites } from './audit-writes.ts';

const join = (database: Database, name: string) =>
  database.query(
    `insert into gdn_node (swarm, id, name, start, lease_until, version)
      values ('s', $1 || '-id', $1, 'm', clock_timestamp() + interval '1 minute', '1')`,
    [name],
  );
const write = (database: Database, seq: number) =>
  database.query(`insert into gdn_frame (swarm, agent, key, seq, last, line) values ('s', 'a', 'k', $1, $1, '{}')`, [
    seq,
  ]);

test('S-02 the audit finds a write of a node that is not the owner, and a claim from a living owner', async () => {
  const made = await makeTestDatabase();
  const audit = await auditWrites(made.address, ['audited-1', 'audited-2']);
  const open = async (name: string) => {
    const first = openDatabase(audit.addressOf(made.address, name), { connections: 1 });
    await join(first, name);
    await first.close();
    // The connections of a place are newer than the place.
    return openDatabase(audit.addressOf(made.address, name), { connections: 1 });
  };
  const [owner, other] = [await open('audited-1'), await open('audited-2')];
  try {
    await owner.query(`insert into gdn_instance (swarm, agent, key, owner, epoch) values ('s', 'a', 'k', $1, 1)`, [
      'audited-1-id',
    ]);
    await write(owner, 1);
    expect(await audit.read()).toMatchObject({ writes: 1, violations: [] });
    await write(other, 2);
    expect((await audit.read()).violations).toEqual(['a/k: gdn_frame written by audited-2-id, owned by audited-1-id']);
    await other.query(`update gdn_instance set owner = 'audited-2-id'`);
    expect((await audit.read()).violations.slice(1)).toEqual([
      'a/k: a claim did not raise the epoch 1',
      'a/k: taken from a living owner by audited-2-id',
    ]);
  } finally {
    for (const database of [owner, other]) await database.close();
    await audit[Symbol.asyncDispose]();
    await made.drop();
  }
});
