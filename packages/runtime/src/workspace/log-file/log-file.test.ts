import { expect, test } from 'bun:test';
import type { Clock } from '../../ports/clock.ts';
import type { Fs } from '../../ports/fs.ts';
import { failingFs, systemError } from '../simulation/failing-fs.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { defaultLimits } from '../limits.ts';
import { DiskPace } from './disk-pace.ts';
import { LogFile } from './log-file.ts';

const PATH = '/log';
const defaultRoom = { ...defaultLimits.logRoom, first: 8192 };

/** A clock on which every write takes this many milliseconds. */
function clockOf(pace: { ms: number }): Clock {
  let elapsed = 0;
  return { now: () => new Date(0), elapsed: () => (elapsed += pace.ms), after: () => () => undefined };
}

const quick = () => new DiskPace(clockOf({ ms: 0.1 }));
const slow = () => new DiskPace(clockOf({ ms: 30 }));

/** Opens a log on a disk that notes its operations. */
async function openLog(pace = quick(), room = defaultRoom) {
  const disk = SimulatedDisk.empty();
  const operations: string[] = [];
  const fs = failingFs(disk, (operation) => operations.push(operation));
  const log = await LogFile.open(fs, PATH, 0, { pace, room });
  await disk.syncFolder('/');
  const others = ['openRoom', 'stat', 'read', 'append'];
  const done = () => operations.splice(0).filter((name) => !others.includes(name));
  return { disk, fs, log, done };
}

const line = (letter: string, length = 100) => Buffer.from(`${letter.repeat(length - 1)}\n`);
const textOfLines = (...letters: readonly string[]) => letters.map((each) => String(line(each))).join('');
const textOf = async (fs: Fs, path = PATH) => Buffer.from((await fs.read(path)) ?? '').toString();
const trimmed = async (fs: Fs) => (await textOf(fs)).replace(/\0+$/, '');

test('a durable write goes through with everything since the last durable byte, in one operation', async () => {
  const { disk, log, done } = await openLog();
  expect(done()).toEqual(['extend', 'sync']);
  await log.writeDurably(line('a'));
  expect(done()).toEqual(['writeThrough']);
  await log.write(line('b'));
  await log.write(line('c'));
  await log.writeDurably(line('d'));
  expect(done()).toEqual(['write', 'write', 'writeThrough']);
  expect([log.end, log.durableEnd]).toEqual([400, 400]);
  await log.write(line('e'));
  expect([log.end, log.durableEnd]).toEqual([500, 400]);
  for (let seed = 0; seed < 20; seed += 1) {
    const text = await trimmed(disk.crash('power', seededRandom(seed)));
    expect(text.startsWith(textOfLines('a', 'b', 'c', 'd'))).toBe(true);
  }
});

test('the room is 8 KB, doubles up to 256 KB, and never costs a sync of its own', async () => {
  const { disk, log, done } = await openLog();
  const sizes = new Set<number>();
  let syncs = 0;
  done();
  const WRITES = 1000;
  for (let count = 0; count < WRITES; count += 1) {
    await log.writeDurably(line('a', 1000));
    syncs += done().filter((name) => name === 'sync' || name === 'writeThrough').length;
    sizes.add((await disk.stat(PATH))?.size ?? 0);
  }
  const KB = 1024;
  expect([...sizes]).toEqual([8, 16, 32, 64, 128, 256, 512, 768, 1024].map((size) => size * KB));
  expect(syncs).toBe(WRITES);
});

test('a write longer than the next room gets room of its length', async () => {
  const { disk, log } = await openLog();
  await log.write(line('a', 100_000));
  expect((await disk.stat(PATH))?.size).toBe(13 * 8192);
});

test('more than 64 KB at a time are synced in the background', async () => {
  const { log, done } = await openLog(quick(), { first: 1_000_000, most: 1_000_000 });
  await log.writeDurably(line('a'));
  done();
  await log.writeDurably(line('b', 65_536));
  expect(done()).toEqual(['writeThrough']);
  await log.writeDurably(line('c', 65_537));
  expect(done()).toEqual(['write', 'sync']);
  await log.write(line('d', 60_000));
  await log.writeDurably(line('e', 6_000));
  expect(done()).toEqual(['write', 'write', 'sync']);
});

test('sync does nothing when every byte is durable', async () => {
  const { log, done } = await openLog();
  await log.writeDurably(line('a'));
  await log.write(line('b'));
  done();
  await log.sync();
  await log.sync();
  expect(done()).toEqual(['writeThrough']);
  expect(log.durableEnd).toBe(log.end);
});

test('after two slow writes in a row, writes are synced in the background, and one in 64 tries whether the disk is quick', async () => {
  const pace = { ms: 30 };
  const { log, done } = await openLog(new DiskPace(clockOf(pace)));
  const writeMany = async (count: number) => {
    for (let written = 0; written < count; written += 1) await log.writeDurably(line('a', 10));
    return done().filter((name) => name === 'writeThrough').length;
  };
  expect(await writeMany(2)).toBe(2);
  expect(await writeMany(63)).toBe(0);
  expect(await writeMany(64)).toBe(1);
  pace.ms = 0.1;
  expect(await writeMany(1)).toBe(1);
  expect(await writeMany(10)).toBe(10);
});

test('one slow write between quick ones changes nothing', async () => {
  const pace = { ms: 0.1 };
  const { log, done } = await openLog(new DiskPace(clockOf(pace)));
  await log.writeDurably(line('a'));
  done();
  for (const ms of [30, 0.1, 30, 0.1]) {
    pace.ms = ms;
    await log.writeDurably(line('a'));
  }
  expect(done()).toEqual(['writeThrough', 'writeThrough', 'writeThrough', 'writeThrough']);
});

test('opening makes the bytes of a killed process durable, and the room goes on to be used', async () => {
  const { disk, log } = await openLog();
  await log.writeDurably(line('a'));
  await log.write(line('b'));
  const next = await LogFile.open(disk, PATH, 200, { pace: quick(), room: defaultRoom });
  await log.close();
  for (let seed = 0; seed < 20; seed += 1) {
    expect(await trimmed(disk.crash('power', seededRandom(seed)))).toBe(textOfLines('a', 'b'));
  }
  await next.writeDurably(line('c'));
  expect(await trimmed(disk)).toBe(textOfLines('a', 'b', 'c'));
  expect((await disk.stat(PATH))?.size).toBe(8192);
});

test('opening removes everything behind the end durably', async () => {
  const { disk, log } = await openLog(slow());
  await log.writeDurably(line('a'));
  await log.writeDurably(line('b', 1000));
  await log.close();
  const next = await LogFile.open(disk, PATH, 100, { pace: quick(), room: defaultRoom });
  await next.writeDurably(line('c', 10));
  for (let seed = 0; seed < 50; seed += 1) {
    expect(await trimmed(disk.crash('power', seededRandom(seed)))).toBe(`${textOfLines('a')}${String(line('c', 10))}`);
  }
});

test('an end behind the last byte of the file is refused', async () => {
  const { fs } = await openLog();
  expect(await rejectionOf(LogFile.open(fs, PATH, 8193, { pace: quick(), room: defaultRoom }))).toMatchObject({
    message: expect.stringContaining('/log has 8192 bytes'),
  });
});

test('bytes longer than the rest of the room wait for durable room', async () => {
  const { log, done } = await openLog();
  done();
  await log.write(line('a', 8000));
  await log.write(line('b', 192));
  expect(done()).toEqual(['write', 'extend', 'sync', 'write']);
  expect(log.durableEnd).toBe(8000);
});

test('a zero follows the bytes after any crash, and a space after a trim', async () => {
  const { disk, log } = await openLog(quick(), { first: 512, most: 512 });
  const check = async (mode: 'kill' | 'power') => {
    for (let seed = 0; seed < 20; seed += 1) {
      const bytes = await disk.crash(mode, seededRandom(seed)).read(PATH);
      expect([0, 0x20]).toContain(bytes?.at(-1) ?? -1);
    }
  };
  for (const length of [100, 300, 111, 1, 512, 511, 1023, 20]) {
    await log.write(line('a', length));
    await check('kill');
    await check('power');
  }
  await log.sync();
  await log.trim();
  await check('power');
  expect((await disk.stat(PATH))?.size).toBe(log.end + 1);
  await log.writeDurably(line('b'));
  await check('power');
});

test.each([
  ['write', 'quick', 6000],
  ['writeThrough', 'quick', 100],
  ['sync', 'slow', 100],
] as const)(
  'a durable write that fails at %s on a %s disk ends the log before its bytes, and the bytes before it stay',
  async (failing, pace, length) => {
    const disk = SimulatedDisk.empty();
    let isFailing = false;
    const fs = failingFs(disk, (operation) => {
      if (!isFailing || operation !== failing) return;
      isFailing = false;
      throw systemError('EIO');
    });
    const log = await LogFile.open(fs, PATH, 0, { pace: pace === 'quick' ? quick() : slow(), room: defaultRoom });
    await disk.syncFolder('/');
    await log.writeDurably(line('a'));
    await log.writeDurably(line('a'));
    await log.write(line('b', length));
    const before = await trimmed(disk);
    isFailing = true;
    expect(await rejectionOf(log.writeDurably(line('c', 1000)))).toMatchObject({ code: 'EIO' });
    expect(isFailing).toBe(false);
    const text = await textOf(disk);
    expect(text.startsWith(`${before}\0`)).toBe(true);
    // The bytes before it were written again, so that a sync can store them.
    const next = await LogFile.open(disk, PATH, before.length, { pace: quick(), room: defaultRoom });
    await next.close();
    for (let seed = 0; seed < 20; seed += 1)
      expect(await trimmed(disk.crash('power', seededRandom(seed)))).toBe(before);
  },
);

test('without space for more room, nothing is written, and the bytes before stay', async () => {
  const disk = SimulatedDisk.empty();
  let isFull = false;
  const fs = failingFs(disk, (operation) => {
    if (isFull && operation === 'extend') throw systemError('ENOSPC');
  });
  const log = await LogFile.open(fs, PATH, 0, { pace: quick(), room: defaultRoom });
  await log.writeDurably(line('a', 4000));
  isFull = true;
  expect(await rejectionOf(log.write(line('b', 8000)))).toMatchObject({ code: 'ENOSPC' });
  expect(await rejectionOf(log.writeDurably(line('b', 8000)))).toMatchObject({ code: 'ENOSPC' });
  expect(await trimmed(disk)).toBe(String(line('a', 4000)));
});
