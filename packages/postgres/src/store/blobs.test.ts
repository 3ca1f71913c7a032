import { describe, expect, test } from '../testing/with-postgres.ts';
import { type AgentAddress, fileReferenceOf } from '@goondan/types';
import type { Blobs } from '@goondan/runtime/history';
import type { Query } from '../driver/repeat.ts';
import { sha256 } from '@goondan/runtime/internal';
import { StoreAddress } from '../driver/address.ts';
import { codedError } from '../driver/coded-error.ts';
import { claimInstance } from '../testing/claim-instance.ts';
import { openTestDatabase } from '../testing/test-database.ts';
import { postgresBlobs } from './blobs.ts';
import { until } from '../../../../test/until.ts';

const { address, database } = await openTestDatabase();

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

  test('a use of long ago that is used again is as young as a new one', async () => {
    const swarm = 'used again';
    const blobs = postgresBlobs({ query, swarm });
    const digest = await blobs.put(at('one'), bytes);
    await blobs.named(at('one'), [digest]);
    const age = () => query(`update gdn_blob_use set since = since - interval '2 hours' where swarm = $1`, [swarm]);
    await age();
    // The conversation was deleted, and another node is accepting input for it.
    await blobs.use(at('one'), [digest]);
    await blobs.sweep();
    expect(await blobs.size(digest)).toBe(bytes.length);
    expect(await query('select named from gdn_blob_use where swarm = $1', [swarm])).toEqual([{ named: false }]);
    await age();
    await blobs.sweep();
    expect(await blobs.size(digest)).toBeUndefined();
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

  test('bytes that the database cannot read are damaged, and a lost connection is an error', async () => {
    const swarm = 'unreadable';
    let state = '';
    const statements: string[] = [];
    const blobs = postgresBlobs({
      swarm,
      async query(statement, values) {
        statements.push(statement);
        if (state !== '' && statement.includes('is_sound')) {
          const refusal = { code: 'ERR_POSTGRES_SERVER_ERROR', errno: state, message: 'no such page' };
          throw codedError(refusal, StoreAddress.parse(address));
        }
        return database.query(statement, values);
      },
    });
    const digest = await blobs.put(at('one'), bytes);
    await blobs.named(at('one'), [digest]);
    for (state of ['XX001', 'XX000', '58030']) {
      expect(await blobs.findLost()).toMatchObject([{ digest, problem: 'damaged' }]);
      statements.length = 0;
      await blobs.put(at('one'), bytes);
      expect(statements.filter((statement) => statement.includes('insert into gdn_blob_piece'))).toHaveLength(1);
      await blobs.named(at('one'), [digest]);
    }
    state = '57P01';
    expect(blobs.findLost()).rejects.toMatchObject({ code: 'E_STORE_AWAY' });
    expect(blobs.put(at('one'), bytes)).rejects.toMatchObject({ code: 'E_STORE_AWAY' });
  });

  test.each<[string, (blobs: Blobs) => Promise<unknown>]>([
    ['stored again', (blobs) => blobs.put(at('default'), bytes)],
    ['shared', (blobs) => blobs.share(at('first'), at('default'))],
  ])('bytes that are %s while their removal waits for it stay', async (how, use) => {
    const swarm = `slow ${how}`;
    const blobs = postgresBlobs({ query, swarm });
    const digest = await blobs.put(at('first'), bytes);
    // The use is written, and not committed, while the other statement looks for uses.
    await query(`create or replace function wait_for_test() returns trigger language plpgsql as $$
      begin if new.swarm like 'slow %' then perform pg_sleep(0.5); end if; return new; end $$`);
    await query(
      'create trigger wait_for_test after insert on gdn_blob_use for each row execute function wait_for_test()',
    );
    const used = use(blobs);
    const sleeping =
      "select 1 as one from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'";
    await until(async () => (await query(sleeping)).length !== 0);
    await blobs.release(at('first'));
    await used;
    await query('drop trigger wait_for_test on gdn_blob_use');
    expect(await blobs.get(digest)).toEqual(Buffer.from(bytes));
  });

  test('damaged bytes are refused, incomplete ones are not found, and pieces go with their bytes', async () => {
    const swarm = 'damage';
    const blobs = postgresBlobs({ query, swarm });
    const digest = await blobs.put({ upload: 'one' }, bytes);
    await query('update gdn_blob_piece set bytes = $2 where swarm = $1', [swarm, new Uint8Array([1])]);
    expect(blobs.get(digest)).rejects.toMatchObject({ code: 'E_STORE_CORRUPT' });
    await query('update gdn_blob set is_whole = false where swarm = $1', [swarm]);
    expect(await blobs.size(digest)).toBeUndefined();
    expect(blobs.use(at('default'), [digest])).rejects.toMatchObject({ code: 'E_FILE_UNKNOWN' });
    await blobs.release({ upload: 'one' });
    expect(await query('select part from gdn_blob_piece where swarm = $1', [swarm])).toEqual([]);
  });

  test('a sweep leaves uses that are not old, because their input is being accepted', async () => {
    const blobs = postgresBlobs({ query, swarm: 'young' });
    const digest = await blobs.put(at('new'), bytes);
    await blobs.sweep();
    expect(await blobs.size(digest)).toBe(bytes.length);
  });

  const own = 'swarm, agent, key';
  const AGAIN = `on conflict (${own}) do update set checkpoint = excluded.checkpoint`;
  test.each([
    ['pending input', `gdn_inbox (${own}, seq, event_id, attempt, event) values ($1, $2, $3, 1, 'e', 'a', $4)`],
    ['a frame of the log', `gdn_frame (${own}, seq, last, line) values ($1, $2, $3, 1, 1, $4)`],
    ['the archive', `gdn_archive (${own}, seq, last, lines) values ($1, $2, $3, 1, 1, $4)`],
    ['the base', `gdn_base (${own}, part, lines) values ($1, $2, $3, 1, $4)`],
    ['the checkpoint', `gdn_instance (${own}, checkpoint) values ($1, $2, $3, $4) ${AGAIN}`],
    ['an answer', `gdn_answer (${own}, event_id, seq, reply) values ($1, $2, $3, 'e', 1, $4)`],
  ])('a sweep keeps bytes that %s names, also if their use was lost', async (place, row) => {
    const swarm = `named by ${place}`;
    const blobs = postgresBlobs({ query, swarm, leftOverMs: 0 });
    const digest = await blobs.put(at('default'), bytes);
    const { agentName, instanceKey } = at('default');
    await claimInstance({ query }, swarm, at('default'), 'one');
    await query(`insert into ${row}`, [swarm, agentName, instanceKey, `{"data":"${fileReferenceOf(digest)}"}`]);
    await blobs.sweep();
    expect(await blobs.size(digest)).toBe(bytes.length);
    await query('delete from gdn_blob_use where swarm = $1', [swarm]);
    await blobs.put({ upload: 'other' }, new Uint8Array([1]));
    await blobs.release({ upload: 'other' });
    await blobs.sweep();
    expect(await query('select agent, key, digest, named from gdn_blob_use where swarm = $1', [swarm])).toEqual([
      { agent: agentName, key: instanceKey, digest, named: true },
    ]);
    expect(await blobs.size(digest)).toBe(bytes.length);
    expect(await query('select digest from gdn_blob where swarm = $1', [swarm])).toEqual([{ digest }]);
  });

  test('a sweep searches all conversations for lost uses, some with each statement', async () => {
    const swarm = 'many conversations';
    const searches: string[] = [];
    const blobs = postgresBlobs({
      swarm,
      leftOverMs: 0,
      async query(statement, values) {
        if (statement.includes('regexp_matches')) searches.push(statement);
        return database.query(statement, values);
      },
    });
    const named = await blobs.put(at('first'), bytes);
    const unnamed = await blobs.put({ upload: 'left' }, new Uint8Array([1]));
    await query(
      "insert into gdn_instance (swarm, agent, key) select $1, 'painter', n::text from generate_series(1, 120) n",
      [swarm],
    );
    const line = JSON.stringify({ data: fileReferenceOf(named) });
    await query(
      `insert into gdn_frame (${own}, seq, last, line) select $1, agent, key, 1, 1, $2 from gdn_instance where swarm = $1`,
      [swarm, line],
    );
    await query('delete from gdn_blob_use where swarm = $1', [swarm]);
    await blobs.sweep();
    const [found] = await query('select count(*)::int as uses from gdn_blob_use where swarm = $1', [swarm]);
    expect(found).toEqual({ uses: 120 });
    // The last one finds no other conversation.
    expect(searches).toHaveLength(4);
    expect([await blobs.size(named), await blobs.size(unnamed)]).toEqual([bytes.length, undefined]);
  });
});
