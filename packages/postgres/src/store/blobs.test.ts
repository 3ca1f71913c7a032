import { afterAll, describe, expect, test } from '../testing/with-postgres.ts';
import type { AgentAddress } from '@goondan/types';
import type { Query } from '../driver/repeat.ts';
import { sha256 } from '@goondan/runtime/internal';
import { openDatabase } from '../driver/database.ts';
import { claimInstance } from '../testing/claim-instance.ts';
import { makeTestDatabase } from '../testing/test-database.ts';
import { postgresBlobs } from './blobs.ts';

const made = await makeTestDatabase();
const database = openDatabase(made.address);
afterAll(async () => {
  await database.close();
  await made.drop();
});

const bytes = new TextEncoder().encode('the bytes of a cat');
const at = (instanceKey: string): AgentAddress => ({ agentName: 'painter', instanceKey });
const query: Query = (statement, values) => database.query(statement, values);

describe('Y-02 files in PostgreSQL', () => {
  test('bytes that were removed and stored again between two statements of another node stay', async () => {
    const swarm = 'two nodes';
    const one = postgresBlobs({ query, swarm });
    let isSlow = true;
    const slow = postgresBlobs({
      swarm,
      async query(statement, values) {
        if (isSlow && statement.includes('delete from gdn_blob as')) {
          isSlow = false;
          // This node has seen that nobody uses the bytes.
          await one.release({ upload: 'second' });
          await one.put(at('default'), bytes);
        }
        return database.query(statement, values);
      },
    });
    const digest = await slow.put({ upload: 'first' }, bytes);
    await slow.release({ upload: 'first' });
    expect([isSlow, await one.get(digest)]).toEqual([false, Buffer.from(bytes)]);
  });

  test('a use that was marked after the deletion of its conversation is swept', async () => {
    const swarm = 'late mark';
    const blobs = postgresBlobs({ query, swarm, leftOverMs: 0 });
    await claimInstance({ query }, swarm, at('alive'), 'one');
    const digest = await blobs.put(at('alive'), bytes);
    await blobs.named(at('alive'), [digest]);
    const other = await blobs.put(at('deleted'), new TextEncoder().encode('a dog'));
    await blobs.named(at('deleted'), [other]);
    await blobs.sweep();
    expect([await blobs.size(digest), await blobs.size(other)]).toEqual([bytes.length, undefined]);
  });

  test.each([
    ['a changed piece', `update gdn_blob_piece set bytes = set_byte(bytes, 3, 1) where swarm = $1 and part = 1`],
    ['a lost piece', `delete from gdn_blob_piece where swarm = $1 and part = 0`],
    ['another size', `update gdn_blob set size = 7 where swarm = $1`],
  ])('bytes with %s are replaced when they are stored again', async (name, damage) => {
    const long = Buffer.alloc(1_500_000, 'the bytes of a cow ');
    const blobs = postgresBlobs({ query, swarm: name });
    const digest = await blobs.put(at('default'), long);
    await database.query(`${damage} and digest = $2`, [name, digest]);
    await blobs.put(at('other'), long);
    expect([await blobs.size(digest), long.equals((await blobs.get(digest)) ?? Buffer.alloc(0))]).toEqual([
      long.length,
      true,
    ]);
  });

  test('bytes that are missing or damaged are found, with the conversations that name them', async () => {
    const swarm = 'lost';
    const blobs = postgresBlobs({ query, swarm });
    const [cat, dog, cow] = ['cat', 'dog', 'cow'].map((name) => new TextEncoder().encode(name)) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    const kept = await blobs.put(at('one'), cat);
    const gone = await blobs.put(at('one'), dog);
    const changed = await blobs.put(at('two'), cow);
    await blobs.named(at('one'), [kept, gone]);
    await blobs.named(at('two'), [changed]);
    // Nothing names these yet.
    await blobs.put(at('two'), bytes);
    expect(await blobs.findLost()).toEqual([]);
    await database.query(`delete from gdn_blob where swarm = $1 and digest = any ($2::text[])`, [
      swarm,
      [gone, sha256(bytes)],
    ]);
    await database.query(`update gdn_blob_piece set bytes = 'x' where swarm = $1 and digest = $2`, [swarm, changed]);
    expect(await blobs.findLost()).toEqual([
      { conversation: 'painter~one', digest: gone, problem: 'missing', place: `gdn_blob ${gone}` },
      { conversation: 'painter~two', digest: changed, problem: 'damaged', place: `gdn_blob ${changed}` },
    ]);
    await blobs.put(at('three'), cow);
    expect((await blobs.findLost()).map(({ digest }) => digest)).toEqual([gone]);
  });
});
