/** Tests the ledger of model calls on files: each recorded reply counts once, whatever happens to its conversation. */
import { expect, test } from 'bun:test';
import type { TurnRecord } from '../../agent/conversation/conversation-store.ts';
import type { Fs } from '../../ports/fs.ts';
import { NO_USAGE, sumUsage } from '../../ports/token-usage.ts';
import { pausedFs } from '../simulation/paused-fs.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { coder, momentsOf, openOwner, openSimulated as open } from '../simulation/simulated-journal.ts';
import { simulatedLocation, simulatedMachine } from '../simulation/simulated-machine.ts';
import { messagesOf, simpleEvent, simpleRecords } from '../simulation/simulated-turn.ts';
import { workspaceFolder } from '../layout/instance-paths.ts';
import { readDeletedSpending } from './deleted-spending.ts';
import type { Journal } from './journal.ts';

/** The record of a reply that used this many tokens. */
const reply = (key: string, inputTokens: number): TurnRecord => ({
  type: 'effect',
  key,
  kind: 'model',
  outcome: { ok: true, value: { usage: { inputTokens, outputTokens: 0, totalTokens: inputTokens } } },
  paid: { provider: 'anthropic', model: 'large' },
});

/** Appends the records of a turn with two replies; commits it unless it is interrupted. */
async function runTurn(
  journal: Journal,
  id: string,
  inputTokens: number,
  isInterrupted = false,
  at = coder,
): Promise<void> {
  await journal.accept(at, simpleEvent(id));
  const entry = (await journal.pendingEntries(at)).find(({ event }) => event.id === id);
  const turnId = `turn-${id}`;
  const { epoch } = await journal.open(at, turnId, entry);
  const records = [reply('0/model', inputTokens), ...simpleRecords(id), reply('1/model', 1)];
  await journal.append(at, epoch, 0, records);
  if (isInterrupted) {
    // Before a tool runs, everything so far is made durable.
    return journal.append(at, epoch, records.length, [{ type: 'intent', key: '2/call', kind: 'tool' }]);
  }
  const delta = { type: 'append', messages: messagesOf(records) } as const;
  await journal.commit(at, epoch, turnId, delta, {}, { turnId, finishReason: 'text_response' });
}

async function totalOf(journal: Journal): Promise<{ calls: number; tokens: number; conversations: number }> {
  const { spendings, problems } = await journal.usage();
  expect(problems).toEqual([]);
  return {
    calls: spendings.reduce((sum, { calls }) => sum + calls, 0),
    tokens: spendings.reduce((sum, { usage }) => sumUsage(sum, usage), NO_USAGE).totalTokens,
    conversations: new Set(spendings.flatMap(({ instanceKey }) => instanceKey ?? [])).size,
  };
}

test('Y-03 the ledger has committed and interrupted turns, after a checkpoint, a kill and a loss of power', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  await runTurn(journal, 'a', 100);
  expect(await totalOf(journal)).toEqual({ calls: 2, tokens: 101, conversations: 1 });
  await journal.close();
  const next = await open(disk, 2);
  await runTurn(next, 'b', 1_000);
  await runTurn(next, 'c', 10_000, true);
  expect(await totalOf(next)).toEqual({ calls: 6, tokens: 11_103, conversations: 1 });
  for (const mode of ['kill', 'power'] as const) {
    const crashed = await open(disk.crash(mode, seededRandom(1)), 3);
    expect(await totalOf(crashed)).toEqual({ calls: 6, tokens: 11_103, conversations: 1 });
  }
});

test('Y-03 a reset keeps the money of the interrupted turn that it ends, and a fork does not count it again', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  await runTurn(journal, 'a', 100);
  await journal.fork(coder, { as: 'fork' });
  expect(await totalOf(journal)).toEqual({ calls: 2, tokens: 101, conversations: 1 });
  await runTurn(journal, 'b', 1_000, true);
  await journal.close();
  const next = await open(disk, 2);
  await next.reset(coder);
  expect(await totalOf(next)).toEqual({ calls: 4, tokens: 1_102, conversations: 1 });
  // The event of the interrupted turn is still pending, and its turn makes its calls again.
  await runTurn(next, 'b', 2_000);
  expect(await totalOf(next)).toEqual({ calls: 6, tokens: 3_103, conversations: 1 });
});

test('Y-03 a turn that is dropped, because nothing will resume it, keeps its money', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  // The turn has no event in the inbox.
  const { epoch } = await journal.open(coder, 'turn-lost');
  await journal.append(coder, epoch, 0, [reply('0/model', 100), { type: 'intent', key: '0/call', kind: 'tool' }]);
  await journal.close();
  const next = await open(disk, 2);
  await runTurn(next, 'b', 1_000);
  expect(await totalOf(next)).toEqual({ calls: 3, tokens: 1_101, conversations: 1 });
});

test('Y-03 a deleted conversation counts once, without its key, however its deletion was interrupted', async () => {
  const disk = SimulatedDisk.empty();
  const first = await open(disk);
  await runTurn(first, 'a', 100);
  await runTurn(first, 'b', 1_000, true);
  await first.close();
  const journal = await open(disk, 2);
  const moments = await momentsOf(disk, () => journal.delete(coder, { force: true }));
  expect(await totalOf(journal)).toEqual({ calls: 4, tokens: 1_102, conversations: 0 });
  for (const [index, moment] of moments.entries()) {
    for (const mode of ['kill', 'power'] as const) {
      const crashed = moment.crash(mode, seededRandom(index));
      expect(await totalOf(await open(crashed, 3))).toMatchObject({ calls: 4, tokens: 1_102 });
      const next = await openOwner(crashed, 4);
      await next.sweep();
      expect(await totalOf(next)).toMatchObject({ calls: 4, tokens: 1_102 });
      await next.sweep();
      expect(await totalOf(next)).toMatchObject({ calls: 4, tokens: 1_102 });
    }
  }
  // A conversation with the same key is another one.
  await runTurn(journal, 'c', 7);
  await journal.delete(coder, { force: true });
  expect(await totalOf(journal)).toEqual({ calls: 6, tokens: 1_110, conversations: 0 });
});

test('Y-03 conversations that are deleted at the same time all count', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  await runTurn(journal, 'a', 100);
  const keys = ['one', 'two', 'three'];
  for (const instanceKey of keys) await runTurn(journal, instanceKey, 10, false, { ...coder, instanceKey });
  await Promise.all(keys.map((instanceKey) => journal.delete({ ...coder, instanceKey }, { force: true })));
  expect(await totalOf(journal)).toEqual({ calls: 8, tokens: 134, conversations: 1 });
});

test('Y-03 a deletion that cannot keep its usage does not stop the next one, and both count', async () => {
  const disk = SimulatedDisk.empty();
  let failures = 1;
  const failing = pausedFs(disk, async (operation, path) => {
    if (operation === 'read' && path.endsWith('/deleted-usage.json') && failures-- > 0) throw new Error('broken');
  });
  const journal = await open(failing);
  for (const instanceKey of ['one', 'two']) {
    await runTurn(journal, instanceKey, 10, false, { ...coder, instanceKey });
    await journal.delete({ ...coder, instanceKey }, { force: true });
  }
  const left = await disk.list('/state/workspaces/simulation/instances');
  expect(left).toEqual([expect.stringContaining('.deleted-coder~one~')]);
  expect(await totalOf(journal)).toEqual({ calls: 4, tokens: 22, conversations: 0 });
});

test('Y-03 a day counts for 400 days, also before a checkpoint removes it', async () => {
  const disk = SimulatedDisk.empty();
  // Each life of the simulated machine begins on the next day.
  const journal = await open(disk);
  await runTurn(journal, 'a', 100);
  await journal.close();
  const [last, after] = [await open(disk, 401), await open(disk, 402)];
  expect(await totalOf(last)).toEqual({ calls: 2, tokens: 101, conversations: 1 });
  expect(await totalOf(after)).toEqual({ calls: 0, tokens: 0, conversations: 0 });
});

test('Y-03 the file of deleted conversations has neither days that do not count nor folders that are gone', async () => {
  const disk = SimulatedDisk.empty();
  for (const life of [1, 402]) {
    const journal = await open(disk, life);
    await runTurn(journal, `in life ${life}`, 100);
    await journal.delete(coder, { force: true });
    await journal.close();
  }
  const { stateRoot, workspaceId } = simulatedLocation;
  const machine = simulatedMachine(disk, 402);
  const { spendings, folders } = await readDeletedSpending(machine, workspaceFolder(stateRoot, workspaceId));
  expect(spendings.map(({ day, calls }) => [day, calls])).toEqual([['2027-02-07', 2]]);
  expect(folders).toHaveLength(1);
});

test('Y-03 a conversation that is deleted while the ledger is read counts once', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  await runTurn(journal, 'a', 100);
  let isFirst = true;
  const meeting: Fs = new Proxy(disk, {
    get(of, name) {
      const own: unknown = Reflect.get(of, name);
      if (typeof own !== 'function') return own;
      if (name !== 'list') return own.bind(of);
      return async (path: string) => {
        if (isFirst && path.endsWith('/instances')) {
          isFirst = false;
          await journal.delete(coder, { force: true });
        }
        return of.list(path);
      };
    },
  });
  const reader = await open(meeting, 2);
  expect(await totalOf(reader)).toEqual({ calls: 2, tokens: 101, conversations: 0 });
  expect(isFirst).toBe(false);
});
