import { expect, test } from '../testing/with-postgres.ts';
import { claimInstance } from '../testing/claim-instance.ts';
import { noBlobs } from '../testing/no-blobs.ts';
import { openTestDatabase } from '../testing/test-database.ts';
import { postgresAdmin } from './admin.ts';
import { PostgresLog } from './conversation-log.ts';
import { openDescriptions } from './describe-swarm.ts';
import { openEventSink } from './event-sink.ts';
import { listInstances } from './directory.ts';
import { PostgresInbox } from './inbox.ts';
import { openPostgresReader, openPostgresSwarms, readersOf } from './open-reader.ts';
import { unpackLines } from './pack-lines.ts';
import { openTraceSink } from './trace-sink.ts';

const { address, database } = await openTestDatabase();

const instance = (instanceKey: string) => ({ agentName: 'coder', instanceKey });
const event = (id: string) => ({ id, createdAt: new Date(7), source: { kind: 'user', name: 'cli' } }) as never;
/** Deletes an instance with its input. */
async function remove(swarm: string, key: string): Promise<void> {
  await claimInstance(database, swarm, instance(key), 'one');
  const context = { database, swarm, node: 'one', mayRepeat: () => false };
  const { history } = readersOf(database, swarm);
  await postgresAdmin(context, { log: new PostgresLog(context), blobs: noBlobs(), history }).delete(instance(key), {
    force: true,
  });
}

const report = (problem: string) => expect(problem).toBe('');

test('S-08 lists tell when they are out of date, without a node that runs', async () => {
  const { directory, close } = openPostgresReader({ address, swarm: 'listed' });
  expect(await directory.exists()).toBe(false);
  expect(await directory.changedAt()).toBe(undefined);
  expect(await directory.swarm()).toBe(undefined);
  const { describeSwarm } = openDescriptions(database, 'listed', report);
  await describeSwarm({ swarm: 'shop', folder: '/bundles/shop' });
  await describeSwarm({ swarm: 'shop' });
  expect(await directory.exists()).toBe(true);
  expect(await directory.swarm()).toEqual({ swarm: 'shop', folder: '/bundles/shop' });
  expect(await directory.changedAt()).toBe(undefined);

  const context = { database, swarm: 'listed', node: 'one', mayRepeat: () => false };
  const inbox = new PostgresInbox(context);
  const seen: (number | undefined)[] = [];
  const change = async (action: () => Promise<unknown>) => {
    await action();
    const now = await directory.changedAt();
    expect(now).toBe(await directory.changedAt());
    seen.push(now);
  };
  for (const key of ['a', 'b', 'c']) await change(() => inbox.accept(instance(key), event('one')));
  await change(() => remove('listed', 'c'));
  await change(() => remove('listed', 'a'));
  await change(() => inbox.accept(instance('c'), event('one')));
  expect(new Set(seen).size).toBe(6);
  await change(() => inbox.accept(instance('c'), event('two')));
  expect(seen[6]).toBe(seen[5] ?? 0);
  await close();
});

test('S-08 counts, dates and the last used instance come from the rows of instances', async () => {
  const { directory, close } = openPostgresReader({ address, swarm: 'counted' });
  const context = { database, swarm: 'counted', node: 'one', mayRepeat: () => false };
  const inbox = new PostgresInbox(context);
  const log = new PostgresLog(context);
  await claimInstance(database, 'counted', instance('claimed'), 'one');
  await inbox.accept(instance('waits'), event('one'));
  for (const [key, updatedAt] of [
    ['early', 1000],
    ['late', 3000],
    ['middle', 2000],
  ] as const) {
    const epoch = await claimInstance(database, 'counted', instance(key), 'one');
    const commit = { version: 1, messages: 2, deadLetters: 3, updatedAt, handled: 0 };
    await log.append(instance(key), epoch, { seq: 1, last: 1, line: '{}', isDurable: true, commit });
  }
  const all = ['claimed', 'waits', 'early', 'late', 'middle'].map(instance);
  const keys = (await directory.instances()).map(({ instanceKey }) => instanceKey).toSorted();
  expect(keys).toEqual(['early', 'late', 'middle', 'waits']);
  expect(await Promise.all(all.map((each) => directory.has(each)))).toEqual([false, true, true, true, true]);
  expect(await directory.lastUsed(all)).toEqual(instance('late'));
  expect(await directory.lastUsed([instance('early'), instance('middle')])).toEqual(instance('middle'));
  expect(await directory.lastUsed([instance('waits'), { agentName: 'other', instanceKey: 'late' }])).toBe(undefined);
  expect(await directory.lastUsed([])).toBe(undefined);
  expect(await directory.summary(instance('waits'))).toEqual({ messages: 0, pending: 1, deadLetters: 0 });
  expect(await directory.summary(instance('late'))).toEqual({
    messages: 2,
    pending: 0,
    deadLetters: 3,
    createdAt: expect.any(Date),
    updatedAt: new Date(3000),
  });
  expect(await directory.summary(instance('nothing'))).toEqual({ messages: 0, pending: 0, deadLetters: 0 });
  expect(directory.isNew(instance('nothing'))).toBe(false);
  await log.close();
  await close();
});

test('lists the swarms of a database, and those of a folder', async () => {
  const swarms = openPostgresSwarms({ address });
  for (const [swarm, folder] of [
    ['x', '/bundles/one'],
    ['y', '/bundles/one'],
    ['z', '/bundles/two'],
  ] as const)
    await openDescriptions(database, swarm, report).describeSwarm({ swarm: `name of ${swarm}`, folder });
  await new PostgresInbox({ database, swarm: 'unnamed', node: 'one', mayRepeat: () => false }).accept(
    instance('a'),
    event('one'),
  );
  await database.query(`insert into gdn_log (swarm, node, last_at, bytes, lines) values ('y', 'one', '2026', 0, '')`);
  expect(await swarms.ids()).toEqual(expect.arrayContaining(['x', 'y', 'z', 'unnamed']));
  const listed = await swarms.list();
  expect(listed.find(({ workspaceId }) => workspaceId === 'x')).toEqual({
    workspaceId: 'x',
    swarm: 'name of x',
    instances: 0,
  });
  expect(listed.find(({ workspaceId }) => workspaceId === 'unnamed')).toEqual({ workspaceId: 'unnamed', instances: 1 });
  expect(await swarms.ofFolder('/bundles/one')).toEqual([
    { swarm: 'name of y', workspaceId: 'y' },
    { swarm: 'name of x', workspaceId: 'x' },
  ]);
  await swarms.close();
});

test('a description replaces the one before, and a failure is reported', async () => {
  const { directory, close } = openPostgresReader({ address, swarm: 'described' });
  const { describeAgent } = openDescriptions(database, 'described', report);
  expect(await directory.describe('coder')).toBe(undefined);
  await describeAgent('coder', { digest: 'old' } as never);
  await describeAgent('coder', { digest: 'ä' } as never);
  expect(await directory.describe('coder')).toEqual({ digest: 'ä' } as never);
  const problems: string[] = [];
  const away = { ...database, query: () => Promise.reject(new Error('away')) };
  await openDescriptions(away, 'described', (problem) => problems.push(problem)).describeAgent('coder', {} as never);
  expect(problems).toEqual(['the description of the agent "coder" was not stored: Error: away']);
  await close();
});

test('a deleted instance takes its traces and runtime events with it', async () => {
  const [traces, events] = [
    openTraceSink(database, 'gone', { report }),
    openEventSink(database, 'gone', { report, limits: { bytes: 300, files: 1 } }),
  ];
  const context = { database, swarm: 'gone', node: 'one', mayRepeat: () => false };
  for (const key of ['a', 'b']) {
    await new PostgresInbox(context).accept(instance(key), event('one'));
    const turn = { turnId: 'turn-one', traceId: 'trace', startedAt: new Date(0) };
    await (await traces.open(instance(key))).append([{ turn, isNeeded: true, text: () => '{}' }]);
    await (await events.open(instance(key))).append([{ type: 'first', key }, { type: 'ä' }]);
  }
  await remove('gone', 'a');
  for (const table of ['gdn_traced_turn', 'gdn_trace_chunk', 'gdn_runtime_event'])
    expect(await database.query(`select distinct key from ${table} where swarm = 'gone'`)).toEqual([{ key: 'b' }]);
  const [kept] = await database.query<{ lines: Uint8Array }>(
    `select lines from gdn_runtime_event where swarm = 'gone'`,
  );
  expect(await unpackLines(kept?.lines ?? new Uint8Array())).toBe('{"type":"first","key":"b"}\n{"type":"ä"}\n');
  // The oldest events are removed above the limit.
  for (let index = 0; index < 20; index += 1) {
    await (await events.open(instance('b'))).append([{ index, text: 'x'.repeat(80) }]);
  }
  const left = await database.query<{ bytes: number }>(`select bytes from gdn_runtime_event where swarm = 'gone'`);
  expect(left.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(300);
  expect(left.length).toBeGreaterThan(1);
  await traces.close();
  await events.close();
});

test('S-08 instances are listed page by page, in the order of agent and key, without those that were only claimed', async () => {
  const inbox = new PostgresInbox({ database, swarm: 'paged', node: 'one', mayRepeat: () => false });
  const all = ['a', 'b', 'c'].flatMap((agentName) => ['1', '2'].map((instanceKey) => ({ agentName, instanceKey })));
  for (const at of all.toReversed()) await inbox.accept(at, event('one'));
  await claimInstance(database, 'paged', { agentName: 'a', instanceKey: '3' }, 'one');
  // One node lives, and the lease of the other has ended.
  for (const [index, id] of ['alive', 'dead'].entries()) {
    await claimInstance(database, 'paged', { agentName: 'c', instanceKey: `${index + 1}` }, id);
    await database.query(
      `insert into gdn_node (swarm, id, lease_until, name, start, version)
       values ('paged', $1, clock_timestamp() + $2 * interval '1 hour', 'node ' || $1, 'm', '1')`,
      [id, index === 0 ? 1 : -1],
    );
  }
  const agents = ['a', 'c'];
  const first = await listInstances(database, 'paged', { agents, most: 3 });
  expect(first).toEqual([all[0], all[1], { ...all[4], workingAt: 'node alive' }] as never);
  expect(await listInstances(database, 'paged', { agents, most: 3, after: first.at(-1) })).toEqual([all[5]] as never);

  await database.query(`update gdn_instance set letters = 1 where swarm = 'paged' and key = '2'`);
  expect(await listInstances(database, 'paged', { agents, most: 3, hasLetters: true })).toEqual([
    all[1],
    all[5],
  ] as never);
});
