/** The limits of the inbox: memory, size, and the work of a compaction, of readers and of a refused use. */
import { expect, test } from 'bun:test';
import type { Fs } from '../../ports/fs.ts';
import type { Journal } from '../journal/journal.ts';
import { systemError } from '../simulation/failing-fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { at, bytesOf, handleInput, openOwner, openSimulated as open } from '../simulation/simulated-journal.ts';
import { runSimpleTurn, simpleEvent } from '../simulation/simulated-turn.ts';

const folder = '/state/workspaces/simulation/inbox';
const path = `${folder}/inbox.000001.jsonl`;

/** Calls `before` with each operation and its path. */
function watched(disk: SimulatedDisk, before: (operation: string, path: string) => void): Fs {
  return new Proxy(disk, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return async (...words: unknown[]) => {
        before(String(name), String(words[0]));
        return value.apply(target, words);
      };
    },
  });
}

async function handle(journal: Journal, key: string, id: string): Promise<void> {
  await handleInput(journal, at(key), id);
  journal.handled(at(key), id);
}

test('the ids of the instances that were used last stay in memory, and those of the others are read again', async () => {
  const reads: string[] = [];
  const disk = SimulatedDisk.empty();
  const fs = watched(disk, (operation, file) => {
    if (operation === 'read' && file.includes('/instances/')) reads.push(file);
  });
  const journal = await openOwner(fs, 1, { inboxIds: 12 });
  for (const id of ['1', '2', '3']) for (const key of ['a', 'b', 'c', 'd', 'e']) await handle(journal, key, id);
  reads.length = 0;
  expect((await journal.accept(at('e'), simpleEvent('3'))).duplicate).toBe(true);
  expect(reads).toEqual([]);
  for (const id of ['1', '2', '3']) expect((await journal.accept(at('a'), simpleEvent(id))).duplicate).toBe(true);
  expect(reads.length).toBeGreaterThan(0);
});

test('the room for an event is checked without writing it', async () => {
  const disk = SimulatedDisk.empty();
  const written: string[] = [];
  const fs = watched(disk, (operation) => {
    if (!['read', 'stat', 'list', 'look'].includes(operation)) written.push(operation);
  });
  const journal = await openOwner(fs, 1, { inboxEvents: 2, inboxBytes: 10_000 });
  for (const id of ['a', 'b']) await journal.accept(at('one'), simpleEvent(id));
  written.length = 0;
  const long = { ...simpleEvent('c'), input: 'x'.repeat(10_000) };
  for (const refused of [journal.checkRoom(at('one'), simpleEvent('c')), journal.checkRoom(at('two'), long)])
    expect(await rejectionOf(refused)).toMatchObject({ code: 'E_INBOX_FULL', retryable: true });
  // A second delivery needs no room.
  await journal.checkRoom(at('one'), simpleEvent('a'));
  await journal.checkRoom(at('two'), simpleEvent('c'));
  expect(written).toEqual([]);
  await runSimpleTurn(journal, at('one'), 'a');
  await journal.checkRoom(at('one'), simpleEvent('c'));
});

test('after a deletion, the first event of a new conversation still reads nothing', async () => {
  const reads: string[] = [];
  const fs = watched(SimulatedDisk.empty(), (operation, file) => {
    if (['read', 'stat', 'list'].includes(operation)) reads.push(file);
  });
  const journal = await open(fs);
  await journal.accept(at('x'), simpleEvent('x1'));
  await journal.delete(at('x'), { force: true });
  reads.length = 0;
  await journal.accept(at('new'), simpleEvent('n1'));
  expect(reads).toEqual([]);
});

test('a compaction reads the logs of a few instances, however many have pending input', async () => {
  const reads = new Set<string>();
  const disk = SimulatedDisk.empty();
  const limits = { inboxCompactionBytes: 40_000 };
  const fs = watched(disk, (operation, file) => {
    if (operation === 'read' && file.includes('/instances/')) reads.add(file);
  });
  const journal = await open(fs, 1, limits);
  const keys = Array.from({ length: 100 }, (_, index) => `k${index}`);
  for (const key of keys) await handle(journal, key, 'first');
  reads.clear();
  const segments = (await disk.list(folder))?.length ?? 0;
  for (let round = 0; ((await disk.list(folder))?.length ?? 0) === segments; round += 1)
    for (const key of keys) await journal.accept(at(key), simpleEvent(`pending-${round}`));
  expect(reads.size).toBeLessThanOrEqual(2 * 16);
});

test('the limit in bytes counts metadata, and events that are being written', async () => {
  const journal = await open(SimulatedDisk.empty(), 1, { inboxBytes: 100_000 });
  const metadata = { big: 'z'.repeat(200_000) };
  expect(await rejectionOf(journal.accept(at('x'), simpleEvent('x1', { metadata })))).toMatchObject({
    code: 'E_INBOX_FULL',
  });
  const events = Array.from({ length: 30 }, (_, index) => simpleEvent(`y${index}`, { input: 'z'.repeat(12_000) }));
  const ends = await Promise.allSettled(events.map((event) => journal.accept(at('y'), event)));
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
  expect(await journal.pending(at('y'))).toHaveLength(8);
});

async function damagedLog(): Promise<SimulatedDisk> {
  const disk = SimulatedDisk.empty();
  const journal = await open(disk);
  for (const key of ['a', 'b', 'c']) await journal.accept(at(key), simpleEvent(`${key}1`));
  await journal.close();
  const file = await disk.openRoom(path);
  await file.write((await bytesOf(disk, path)).indexOf('input of b1'), Uint8Array.of(0x7e));
  await file.sync();
  await file.close();
  return disk;
}

test('a damaged log is read once, for any number of questions, and again when a file was changed', async () => {
  const disk = await damagedLog();
  const owner = await openOwner(disk, 2);
  await owner.accept(at('c'), simpleEvent('c2'));
  let whole = 0;
  const fs = watched(disk, (operation, file) => {
    if (operation === 'read' && file.endsWith('inbox.000002.jsonl')) whole += 1;
  });
  const reader = await open(fs, 3);
  await Promise.all(['a', 'c', 'a', 'c', 'a', 'c'].map((key) => reader.pending(at(key))));
  // The first question, and one that all others share. Damage is read twice, because a writer may be at work.
  expect(whole).toBeLessThanOrEqual(4);
  whole = 0;
  for (let index = 0; index < 10; index += 1) expect(await reader.pending(at('a'))).toHaveLength(1);
  expect(whole).toBe(10);
  expect(await rejectionOf(reader.pending(at('b')))).toMatchObject({ code: 'E_STORE_CORRUPT' });
  await owner.accept(at('c'), simpleEvent('c3'));
  expect(await reader.pending(at('c'))).toHaveLength(3);
  const file = await disk.openRoom(path);
  await file.write((await bytesOf(disk, path)).indexOf('~nput of b1'), Buffer.from('i'));
  await file.close();
  expect(await reader.pending(at('b'))).toHaveLength(1);
  expect((await owner.accept(at('b'), simpleEvent('b2'))).duplicate).toBe(false);
});

test('a damaged newest segment is synced before a new one begins', async () => {
  const disk = await damagedLog();
  const opened: string[] = [];
  const fs = watched(disk, (operation, file) => {
    if (operation === 'openRoom') opened.push(file);
  });
  await (await open(fs, 2)).openInbox();
  expect(opened[0]).toBe(path);
});

test('events of others are accepted while a deletion fails and the log is opened again', async () => {
  const disk = SimulatedDisk.empty();
  const keys = ['a', 'b', 'c'];
  const first = await open(disk);
  for (const key of ['x', ...keys]) await handle(first, key, 'first');
  await first.close();
  const accepting: Promise<unknown>[] = [];
  const fs = watched(disk, (operation, file) => {
    if (operation !== 'rename' || !file.endsWith('~x')) return;
    // The first use of an instance reads its log, so these calls write after the failed deletion has closed the inbox.
    for (const key of keys) accepting.push(journal.accept(at(key), simpleEvent('second')));
    throw systemError('EIO');
  });
  const journal = await openOwner(fs, 2);
  await rejectionOf(journal.delete(at('x'), { force: true }));
  await Promise.all(accepting);
  const next = await open(disk, 3);
  for (const key of keys) expect(await next.pending(at(key))).toHaveLength(1);
});

test('a deletion that ended is not begun again by a copy of its first line', async () => {
  const { InstanceInbox } = await import('./instance-inbox.ts');
  const inbox = new InstanceInbox(at('x'));
  inbox.add(1, { payload: { event: simpleEvent('a') }, segment: 1, bytes: 10 });
  inbox.add(3, { payload: { kept: true }, segment: 2, bytes: 10 });
  inbox.add(2, { payload: { deleting: true }, segment: 3, bytes: 10 });
  inbox.add(4, { payload: { cancels: 1, reason: 'enough' }, segment: 3, bytes: 10 });
  expect(inbox.deleting).toBeUndefined();
  expect(inbox.problem({ handled: 0, taken: [] })).toBeUndefined();
  // The marks go with the event they follow.
  expect(inbox.take(1)).toEqual(['a']);
  expect(inbox).toMatchObject({ isEmpty: true, handled: 4, bytes: 0, events: 0 });
});
