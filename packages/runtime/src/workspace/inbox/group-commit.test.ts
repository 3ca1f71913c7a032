/** Counts the work of accepting, and checks what a failed write and a deletion leave. */
import { expect, test } from 'bun:test';
import type { Fs } from '../../ports/fs.ts';
import { failingFs, systemError } from '../simulation/failing-fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { handleInput, openOwner, openSimulated as open } from '../simulation/simulated-journal.ts';
import { simpleEvent } from '../simulation/simulated-turn.ts';

const at = (key: number) => ({ agentName: 'coder', instanceKey: `k${key}` });
const keys = Array.from({ length: 20 }, (_, index) => index);

/** Counts the reads and the durable writes. */
function countedFs(disk: SimulatedDisk) {
  const operations: string[] = [];
  const isCounted = (operation: string) => ['sync', 'writeThrough', 'read', 'stat', 'list'].includes(operation);
  const fs = failingFs(disk, (operation) => {
    if (isCounted(operation)) operations.push(operation);
  });
  return { operations, fs };
}

test('all events of one tick are one durable write, and accepting reads nothing', async () => {
  const { operations, fs } = countedFs(SimulatedDisk.empty());
  const journal = await openOwner(fs);
  operations.length = 0;
  await Promise.all(keys.map((key) => journal.accept(at(key), simpleEvent(`a${key}`))));
  expect(operations).toHaveLength(1);
  operations.length = 0;
  await journal.accept(at(3), simpleEvent('b'));
  expect(operations).toHaveLength(1);
  expect(await journal.pending(at(3))).toHaveLength(2);
});

test('the first input of a workspace survives a loss of power', async () => {
  for (let seed = 0; seed < 20; seed += 1) {
    const disk = SimulatedDisk.empty();
    const journal = await open(disk);
    await journal.accept(at(1), simpleEvent('a'));
    const next = await open(disk.crash('power', seededRandom(seed)), 2);
    expect((await next.pending(at(1))).map(({ id }) => id)).toEqual(['a']);
  }
});

test('events that come while a write is under way are the next write', async () => {
  const disk = SimulatedDisk.empty();
  const { operations, fs } = countedFs(disk);
  const journal = await openOwner(fs);
  disk.syncTicks = () => 50;
  operations.length = 0;
  const first = journal.accept(at(0), simpleEvent('a0'));
  for (let tick = 0; tick < 10; tick += 1) await Promise.resolve();
  const rest = keys.slice(1).map((key) => journal.accept(at(key), simpleEvent(`a${key}`)));
  await Promise.all([first, ...rest]);
  expect(operations).toHaveLength(2);
});

test('if a write fails, none of its events is accepted, and the next ones are', async () => {
  let fails = false;
  const fs = failingFs(SimulatedDisk.empty(), () => {
    if (fails) throw systemError('ENOSPC');
  });
  const journal = await openOwner(fs);
  await journal.accept(at(0), simpleEvent('first'));
  fails = true;
  const rejected = await Promise.all(keys.map((key) => rejectionOf(journal.accept(at(key), simpleEvent(`a${key}`)))));
  for (const error of rejected) expect(error).toMatchObject({ code: 'E_DISK_FULL' });
  fails = false;
  expect((await journal.accept(at(0), simpleEvent('a0'))).duplicate).toBe(false);
  expect((await journal.pending(at(0))).map(({ id }) => id)).toEqual(['first', 'a0']);
  expect(await journal.pending(at(1))).toEqual([]);
});

test('accepting makes no folder of the instance, and the instance is listed', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  await journal.accept(at(1), simpleEvent('a'));
  expect(await disk.list('/state/workspaces/simulation/instances')).toEqual([]);
  expect(await journal.instances()).toEqual([at(1)]);
  expect(await (await open(disk, 2)).instances()).toEqual([at(1)]);
  expect(await journal.delete(at(1), { force: true })).toEqual({ inputs: 1 });
  expect(await journal.instances()).toEqual([]);
  expect(await (await open(disk, 3)).instances()).toEqual([]);
});

test('reading the pending input of many instances reads the log once', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  for (const key of keys) await journal.accept(at(key), simpleEvent('a'));
  await journal.close();
  let whole = 0;
  const calm = failingFs(disk, () => undefined);
  const read: Fs['read'] = (path, from, length) => {
    if (path.includes('/inbox/inbox.') && from === undefined) whole += 1;
    return calm.read(path, from, length);
  };
  const reader = await open({ ...calm, read }, 2);
  for (const key of keys) expect(await reader.pending(at(key))).toHaveLength(1);
  expect(whole).toBe(1);
});

test('numbers are not used again after a deletion, and the deleted input does not come back', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  await handleInput(journal, at(1), 'a');
  const { seq: before = 0 } = await journal.accept(at(1), simpleEvent('b'));
  await journal.delete(at(1), { force: true });
  const { seq: after = 0 } = await journal.accept(at(1), simpleEvent('b'));
  expect(after).toBeGreaterThan(before);
  const next = await open(disk, 2);
  expect((await next.pendingEntries(at(1))).map(({ seq }) => seq)).toEqual([after]);
});
