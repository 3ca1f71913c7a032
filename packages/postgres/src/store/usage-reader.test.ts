import { expect, test } from '../testing/with-postgres.ts';
import { defaultLimits } from '@goondan/runtime/internal';
import type { AgentAddress, TokenUsage } from '@goondan/types';
import { fakeEvent } from '../../../runtime/src/testing/fake-swarm.ts';
import type { Database } from '../driver/database.ts';
import { noBlobs } from '../testing/no-blobs.ts';
import { openStore } from '../testing/open-store.ts';
import { openTestDatabase } from '../testing/test-database.ts';
import { postgresAdmin } from './admin.ts';
import { openHistoryReader } from './history-reader.ts';
import { importDeletedSpending } from './import-records.ts';
import { openUsageReader } from './usage-reader.ts';

const { database } = await openTestDatabase();
const instance: AgentAddress = { agentName: 'coder', instanceKey: 'key' };

const reply = (key: string, inputTokens: number, extension?: string) =>
  ({
    type: 'effect',
    key,
    kind: 'model',
    outcome: {
      ok: true,
      value: { usage: { inputTokens, outputTokens: 1, totalTokens: inputTokens + 1, cacheWriteTokens: 3 } },
    },
    paid: { provider: 'anthropic', model: 'large', ...(extension === undefined ? {} : { extension }) },
  }) as const;

type Store = Pick<ReturnType<typeof openStore>, 'conversations' | 'inbox'>;

/** Begins a turn with these records, and returns a function that commits it. */
async function begin(
  { conversations, inbox }: Store,
  id: string,
  records: Parameters<Store['conversations']['append']>[3],
) {
  const event = fakeEvent(id, { id, instanceKey: 'key' });
  await inbox.accept(instance, event);
  // An event that was accepted before has its first number.
  const seq = (await inbox.pendingEntries(instance)).find((entry) => entry.event.id === id)?.seq ?? 0;
  const turnId = `turn-${id}`;
  const { epoch } = await conversations.open(instance, turnId, { seq, event });
  await conversations.append(instance, epoch, 0, records);
  const result = { turnId, finishReason: 'text_response' } as const;
  return () => conversations.commit(instance, epoch, turnId, { type: 'append', messages: [] }, {}, result);
}

test('Y-03 commits add to the ledger in their statement; reset, fork and deletion keep each call once', async () => {
  const swarm = 'ledger';
  const store = openStore(database, swarm, { node: 'one' });
  const { log, context, closeProcess } = store;
  const admin = postgresAdmin(context, { log, blobs: noBlobs(), history: openHistoryReader(database, swarm) });
  const usage = openUsageReader(database, swarm);
  const runTurn = async (id: string, inputTokens: number, isInterrupted = false) => {
    const commit = await begin(store, id, [
      reply('0/model', inputTokens),
      reply('0/model/0', 10, 'memory'),
      { type: 'intent', key: '0/call', kind: 'tool' },
    ]);
    if (!isInterrupted) await commit();
  };
  const total = async () => {
    const { spendings, problems } = await usage.read();
    expect(problems).toEqual([]);
    return spendings
      .map(({ instanceKey, extension, calls, usage: used }) => [
        ...[instanceKey ?? '', extension ?? '', calls, used.inputTokens, used.cacheWriteTokens],
      ])
      .toSorted((one, other) => String(one[1]).localeCompare(String(other[1])));
  };

  await runTurn('a', 100);
  await runTurn('b', 1_000, true);
  expect(await total()).toEqual([
    ['key', '', 2, 1_100, 6],
    ['key', 'memory', 2, 20, 6],
  ]);
  // The open turn counts for its days only, too.
  expect((await usage.read('2999-01-01')).spendings).toEqual([]);
  await admin.fork(instance, { as: 'fork' });
  await closeProcess();
  await admin.reset(instance);
  expect((await usage.read()).spendings.reduce((sum, { calls }) => sum + calls, 0)).toBe(4);
  await runTurn('b', 2_000, true);
  expect(await total()).toEqual([
    ['key', '', 3, 3_100, 9],
    ['key', 'memory', 3, 30, 9],
  ]);
  await closeProcess();
  await admin.delete(instance, { force: true });
  expect(await total()).toEqual([
    ['', '', 3, 3_100, 9],
    ['', 'memory', 3, 30, 9],
  ]);
  expect((await usage.read('2999-01-01')).spendings).toEqual([]);
});

test('Y-03 a count that a provider does not report leaves the sum as it is', async () => {
  const swarm = 'unknown counts';
  const store = openStore(database, swarm, { node: 'one' });
  const counts: readonly Partial<TokenUsage>[] = [{ cacheWriteTokens: 3 }, {}, { cacheWriteTokens: 4 }];
  for (const [number, more] of counts.entries()) {
    const value = { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2, ...more } };
    const commit = await begin(store, `${number}`, [{ ...reply('0/model', 1), outcome: { ok: true, value } }]);
    await commit();
  }
  const { spendings } = await openUsageReader(database, swarm).read();
  expect(spendings).toMatchObject([{ calls: 3, usage: { totalTokens: 6, cacheWriteTokens: 7 } }]);
  expect(spendings[0]?.usage).not.toHaveProperty('cachedInputTokens');
});

test('Y-03 a call counts once while turns are committed between the statements of the reader', async () => {
  const swarm = 'busy';
  const store = openStore(database, swarm);
  let count = 0;
  let commit = async () => {};
  /** Commits the running turn, and begins the next one. */
  const goOn = async () => {
    await commit();
    const intent = { type: 'intent', key: '0/call', kind: 'tool' } as const;
    commit = await begin(store, `event-${++count}`, [reply('0/model', count), intent]);
  };
  await goOn();
  const busy: Database = {
    ...database,
    async query(...question) {
      const rows = await database.query(...question);
      await goOn();
      return rows as never;
    },
  };
  for (let round = 0; round < 3; round += 1) {
    const before = count;
    const { spendings } = await openUsageReader(busy, swarm).read();
    const calls = spendings.reduce((sum, each) => sum + each.calls, 0);
    expect(calls).toBeWithin(before, count + 1);
    // Each turn has used one token more than the one before it, so a missing turn in the middle is seen.
    const tokens = spendings.reduce((sum, { usage }) => sum + usage.inputTokens, 0);
    expect(tokens).toBe((calls * (calls + 1)) / 2);
  }
});

test('Y-03 days that are too old are not shown, and leave with the next checkpoint or deletion', async () => {
  const swarm = 'old';
  const { log, conversations, context, closeProcess } = openStore(database, swarm, {
    writer: { limits: { ...defaultLimits, checkpointBytes: 1 } },
  });
  const usage = openUsageReader(database, swarm);
  const days = async () => {
    const rows = await database.query<{ key: string; day: string }>(DAYS, [swarm]);
    return rows.map(({ key, day }) => [key, day]);
  };
  const today = dayBefore(0);
  await database.query(PUT_DAYS, [swarm, ['key', 'key', '', ''], [399, 402, 399, 402].map(dayBefore)]);
  expect((await usage.read()).spendings.map(({ day }) => day)).toEqual([dayBefore(399), dayBefore(399)]);

  const { epoch } = await conversations.open(instance, 'turn-a');
  await conversations.append(instance, epoch, 0, [reply('0/model', 1)]);
  const result = { turnId: 'turn-a', finishReason: 'text_response' } as const;
  await conversations.commit(instance, epoch, 'turn-a', { type: 'append', messages: [] }, {}, result);
  await closeProcess();
  expect(await days()).toEqual([
    ['', dayBefore(402)],
    ['', dayBefore(399)],
    ['key', dayBefore(399)],
    ['key', today],
  ]);
  const admin = postgresAdmin(context, {
    log,
    history: openHistoryReader(database, swarm),
    blobs: noBlobs(),
  });
  await database.query(PUT_DAYS, [swarm, ['key'], [dayBefore(401)]]);
  await admin.delete(instance, { force: true });
  expect(await days()).toEqual([
    ['', dayBefore(399)],
    ['', today],
  ]);
});

const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
const PUT_DAYS = `
insert into gdn_spending (swarm, agent, key, day, provider, model, extension, calls, input, output, total)
select $1, 'coder', key, day, 'anthropic', 'large', '', 1, 1, 1, 2 from unnest($2::text[], $3::text[]) as old (key, day)`;
const DAYS = 'select key, day from gdn_spending where swarm = $1 order by key, day';

test('Y-03 an import that runs again adds the calls of deleted conversations once', async () => {
  const swarm = 'imported';
  const usage = { inputTokens: 5, outputTokens: 1, totalTokens: 6 };
  const day = new Date().toISOString().slice(0, 10);
  const spent = [{ agentName: 'coder', provider: 'anthropic', model: 'large', day, calls: 2, usage }];
  for (let run = 0; run < 2; run += 1) await importDeletedSpending(database, swarm, spent);
  expect((await openUsageReader(database, swarm).read()).spendings).toMatchObject([{ calls: 2, usage }]);
});
