import { expect, test } from 'bun:test';
import type { Fs } from '../../ports/fs.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { failingFs } from '../simulation/failing-fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { listNumbers, numberedPath, SharedLog } from './shared-log.ts';

const limits = { bytes: 1_000, files: 3 };

function setUp() {
  const disk = SimulatedDisk.empty();
  const clock = manualClock();
  const calls: string[] = [];
  const full: (readonly number[])[] = [];
  const deleted: number[] = [];
  const counting = new Proxy<Fs>(disk, {
    get(target, name: keyof Fs) {
      return (...given: never[]) => {
        calls.push(name);
        return (target[name] as (...parameters: never[]) => unknown).apply(target, given);
      };
    },
  });
  const open = () =>
    new SharedLog({
      fs: counting,
      clock,
      folder: '/logs',
      stem: 'events',
      limits,
      onFull: async (numbers) => void full.push(numbers),
      onDeleted: async (number) => void deleted.push(number),
    });
  const read = async (number: number) =>
    Buffer.from((await disk.read(numberedPath('/logs', 'events', number))) ?? '').toString();
  return { disk, clock, calls, full, deleted, open, read, numbers: () => listNumbers(disk, '/logs', 'events') };
}

test('an old file that cannot be removed does not reject the append, and is removed at the next rotation', async () => {
  const disk = SimulatedDisk.empty();
  await disk.makeFolder('/logs');
  let isStuck = true;
  const fs = new Proxy<Fs>(disk, {
    get(target, name: keyof Fs) {
      if (name === 'remove' && isStuck) return () => Promise.reject(new Error('not permitted'));
      return (target[name] as (...parameters: never[]) => unknown).bind(target);
    },
  });
  const deleted: number[] = [];
  const full: (readonly number[])[] = [];
  const log = new SharedLog({
    fs,
    clock: manualClock(),
    folder: '/logs',
    stem: 'events',
    limits,
    onFull: async (numbers) => void full.push(numbers),
    onDeleted: async (number) => void deleted.push(number),
  });
  const line = new Uint8Array(1_000).fill(0x78);
  for (let count = 0; count < 4; count += 1) await log.append(line);
  expect(await listNumbers(disk, '/logs', 'events')).toEqual([1, 2, 3, 4]);
  expect(deleted).toEqual([]);
  expect(full.at(-1)).toEqual([2, 3]);
  isStuck = false;
  await log.append(line);
  expect(await listNumbers(disk, '/logs', 'events')).toEqual([3, 4, 5]);
  expect(deleted).toEqual([1, 2]);
});

async function made() {
  const given = setUp();
  await given.disk.makeFolder('/logs');
  return given;
}

const line = (text: string, length = 100) => Buffer.from(`${text.padEnd(length - 1, '.')}\n`);

test('appends of several processes follow each other in one file, each as a whole', async () => {
  const { open, read, numbers } = await made();
  const [one, other] = [open(), open()];
  await Promise.all(['a', 'b', 'c', 'd'].map((text, at) => (at % 2 === 0 ? one : other).append(line(text, 10))));
  expect(await numbers()).toEqual([1]);
  expect(
    (await read(1))
      .split('\n')
      .map((text) => text.slice(0, 1))
      .toSorted(),
  ).toEqual(['', 'a', 'b', 'c', 'd']);
});

test('an append is one write; the size is looked at only after a second or many bytes', async () => {
  const { open, clock, calls } = await made();
  const log = open();
  await log.append(line('first', 10));
  calls.splice(0);
  await log.append(line('second', 10));
  expect(calls).toEqual([]);
  await clock.advance(1_000);
  await log.append(line('third', 10));
  expect(calls).toEqual(['stat']);
  await log.append(line('long', 40));
  await log.append(line('next', 10));
  expect(calls).toEqual(['stat', 'stat']);
});

test('a full file is followed by the next number, for every process; one of them hears of it; the oldest are deleted', async () => {
  const { open, numbers, full, deleted, read } = await made();
  const [one, other] = [open(), open()];
  for (let number = 0; number < 50; number += 1) await (number % 2 === 0 ? one : other).append(line(`${number}`));
  expect(await numbers()).toEqual([3, 4, 5]);
  expect(deleted).toEqual([1, 2]);
  expect(full).toEqual([[1], [1, 2], [2, 3], [3, 4]]);
  expect((await read(5)).split('\n').map((text) => text.slice(0, 2))).toEqual([
    ...Array.from({ length: 10 }, (_, at) => `${40 + at}`),
    '',
  ]);
});

test('a process that was silent while its file was deleted writes to the newest file', async () => {
  const { open, clock, disk, read, numbers } = await made();
  const [silent, busy] = [open(), open()];
  await silent.append(line('early', 10));
  for (let number = 0; number < 45; number += 1) await busy.append(line(`${number}`));
  expect(await numbers()).toEqual([3, 4, 5]);
  await clock.advance(1_000);
  await silent.append(line('late', 10));
  expect(await read(5)).toContain('late');
  expect(await disk.list('/logs')).toHaveLength(3);
});

test('of two processes that find a full file at once, one begins the next; a file that was made anew is found', async () => {
  const { open, clock, disk, full, read } = await made();
  const [one, other] = [open(), open()];
  await open().append(line('full', 1_000));
  await Promise.all([one.append(line('one', 10)), other.append(line('other', 10))]);
  expect(full).toEqual([[1]]);
  await disk.remove(numberedPath('/logs', 'events', 2));
  await open().append(line('anew', 10));
  await clock.advance(1_000);
  await one.append(line('again', 10));
  expect(await read(2)).toBe('anew.....\nagain....\n');
});

test('after a failed append the log is opened again; closing and appending opens it, too', async () => {
  const { disk, open, read } = setUp();
  const log = open();
  // The folder is missing.
  expect(await rejectionOf(log.append(line('lost', 10)))).toBeInstanceOf(Error);
  await disk.makeFolder('/logs');
  await log.append(line('kept', 10));
  await log.close();
  await log.append(line('more', 10));
  expect(await read(1)).toBe('kept.....\nmore.....\n');
});

test('after an append that failed, the file is closed, and the next append opens it again', async () => {
  const { disk } = setUp();
  await disk.makeFolder('/logs');
  const files = { opened: 0, closed: 0, failures: 1 };
  const openFile: Fs['openFile'] = async (path) => {
    const file = await disk.openFile(path);
    files.opened += 1;
    return {
      append: (bytes) => ((files.failures -= 1) >= 0 ? Promise.reject(new Error('no space')) : file.append(bytes)),
      truncate: (size) => file.truncate(size),
      sync: () => file.sync(),
      close: () => ((files.closed += 1), file.close()),
    };
  };
  const fs: Fs = { ...failingFs(disk, () => undefined), openFile };
  const log = new SharedLog({ fs, clock: manualClock(), folder: '/logs', stem: 'events', limits });
  expect(await rejectionOf(log.append(Buffer.from('a\n')))).toMatchObject({ message: 'no space' });
  await log.append(Buffer.from('b\n'));
  expect(files).toMatchObject({ opened: 2, closed: 1 });
  await log.append(Buffer.from('c\n'));
  await log.close();
  expect(files).toMatchObject({ opened: 2, closed: 2 });
});
