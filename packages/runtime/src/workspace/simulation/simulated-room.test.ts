import { expect, test } from 'bun:test';
import { rejectionOf } from './rejection-of.ts';
import { seededRandom } from './seeded-random.ts';
import { SimulatedDisk, type CrashMode } from './simulated-disk.ts';

const BLOCK = 512;
const filled = (letter: string, length = BLOCK) => Buffer.alloc(length, letter);

/** Creates a disk with the file `/file`, whose room has this many blocks and is durable. */
async function diskWithRoom(blocks: number) {
  const disk = SimulatedDisk.empty();
  const file = await disk.openRoom('/file');
  await disk.syncFolder('/');
  await file.extend(blocks * BLOCK);
  await file.sync();
  return { disk, file };
}

/** Returns the possible contents of `/file` after a crash: each block as its different characters, `.` for zeros. */
async function outcomes(disk: SimulatedDisk, mode: CrashMode = 'power'): Promise<Set<string>> {
  const seen = new Set<string>();
  for (let seed = 0; seed < 600; seed += 1) {
    const bytes = await disk.crash(mode, seededRandom(seed)).read('/file');
    seen.add(describe(bytes ?? new Uint8Array()));
  }
  return seen;
}

function describe(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString().replaceAll('\0', '.');
  const blocks = Array.from({ length: Math.ceil(text.length / BLOCK) }, (_, index) =>
    text.slice(index * BLOCK, (index + 1) * BLOCK).replaceAll(/(.)\1*/g, '$1'),
  );
  return blocks.join('|');
}

test('a power loss keeps any blocks of unsynced writes, and all of them after a sync', async () => {
  const { disk, file } = await diskWithRoom(3);
  await file.write(0, filled('a', 2 * BLOCK));
  await file.write(2 * BLOCK, filled('b'));
  expect(await outcomes(disk)).toEqual(
    new Set(['.|.|.', 'a|.|.', '.|a|.', '.|.|b', 'a|a|.', 'a|.|b', '.|a|b', 'a|a|b']),
  );
  await file.sync();
  expect(await outcomes(disk)).toEqual(new Set(['a|a|b']));
});

test('a block written twice without a sync may have its older bytes', async () => {
  const { disk, file } = await diskWithRoom(1);
  await file.write(0, filled('a'));
  await file.write(0, filled('b'));
  expect(await outcomes(disk)).toEqual(new Set(['.', 'a', 'b']));
});

test('a block that is written as a whole may have its durable bytes, the new ones, or zeros', async () => {
  const { disk, file } = await diskWithRoom(1);
  await file.write(0, filled('a'));
  await file.sync();
  await file.write(0, filled('b'));
  expect(await outcomes(disk)).toEqual(new Set(['a', 'b', '.']));
});

test('a block that is written with its durable bytes keeps them', async () => {
  const { disk, file } = await diskWithRoom(1);
  await file.write(0, filled('a'));
  await file.sync();
  await file.write(0, filled('a'));
  expect(await outcomes(disk)).toEqual(new Set(['a']));
});

test('durable bytes that a write does not cover survive in the same block', async () => {
  const { disk, file } = await diskWithRoom(2);
  await file.write(0, filled('a', 100));
  await file.sync();
  await file.write(100, filled('b', BLOCK));
  expect(await outcomes(disk)).toEqual(new Set(['a.|.', 'ab|.', 'a.|b.', 'ab|b.']));
});

test('a write that went through is durable, and makes nothing else durable', async () => {
  const { disk, file } = await diskWithRoom(2);
  await file.write(0, filled('a'));
  await file.writeThrough(BLOCK, filled('b'));
  expect(await outcomes(disk)).toEqual(new Set(['.|b', 'a|b']));
});

test('a write that goes through replaces unsynced bytes in its range and no others', async () => {
  const { disk, file } = await diskWithRoom(3);
  await file.write(0, filled('a', 3 * BLOCK));
  await file.writeThrough(BLOCK, filled('b'));
  expect(await outcomes(disk)).toEqual(new Set(['.|b|.', 'a|b|.', '.|b|a', 'a|b|a']));
});

test('a write that is going through may be torn by blocks', async () => {
  const { disk, file } = await diskWithRoom(2);
  const moments: SimulatedDisk[] = [];
  disk.afterOperation = () => moments.push(disk.copy());
  await file.writeThrough(0, filled('a', 2 * BLOCK));
  const [during, after] = moments;
  if (!during || !after) throw new Error('no moments');
  expect(await outcomes(during)).toEqual(new Set(['.|.', 'a|.', '.|a', 'a|a']));
  expect(await outcomes(after)).toEqual(new Set(['a|a']));
});

test('other work runs while a write goes through', async () => {
  const { disk, file } = await diskWithRoom(2);
  disk.syncTicks = () => 5;
  const order: string[] = [];
  const going = file.writeThrough(0, filled('a')).then(() => order.push('through'));
  await file.write(BLOCK, filled('b')).then(() => order.push('write'));
  await going;
  expect(order).toEqual(['write', 'through']);
  expect(await outcomes(disk)).toEqual(new Set(['a|.', 'a|b']));
});

test('unsynced room may be missing, together with what was written through into it', async () => {
  const { disk, file } = await diskWithRoom(1);
  await file.extend(3 * BLOCK);
  expect(await outcomes(disk)).toEqual(new Set(['.', '.|.|.']));
  await file.writeThrough(0, filled('a', 2 * BLOCK));
  expect(await outcomes(disk)).toEqual(new Set(['a', 'a|.|.', 'a|a|.']));
});

test('room that was cut and extended without a sync does not make a write through durable', async () => {
  const { disk, file } = await diskWithRoom(2);
  await file.write(0, filled('a', 2 * BLOCK));
  await file.sync();
  await file.truncate(BLOCK);
  await file.extend(2 * BLOCK);
  expect(await outcomes(disk)).toEqual(new Set(['a|a', 'a', 'a|.']));
  await file.writeThrough(BLOCK, filled('b'));
  const seen = await outcomes(disk);
  for (const text of ['a|a', 'a', 'a|b', 'a|.']) expect(seen).toContain(text);
  await file.sync();
  expect(await outcomes(disk)).toEqual(new Set(['a|b']));
});

test('a kill keeps all completed writes and may tear the last one at any byte', async () => {
  const { disk, file } = await diskWithRoom(1);
  await file.write(0, filled('a', 2));
  await file.write(2, filled('b', 2));
  const seen = new Set<string>();
  for (let seed = 0; seed < 100; seed += 1) {
    const bytes = await disk.crash('kill', seededRandom(seed)).read('/file', 0, 5);
    seen.add(describe(bytes ?? new Uint8Array()) + String(bytes?.filter((byte) => byte !== 0).length));
  }
  expect(seen).toEqual(new Set(['a.2', 'ab.3', 'ab.4']));
});

test('a killed extend leaves a part of its room, and no bytes are lost', async () => {
  const { disk, file } = await diskWithRoom(1);
  await file.write(0, filled('a'));
  await file.extend(BLOCK + 2);
  const sizes = new Set<number>();
  for (let seed = 0; seed < 100; seed += 1) {
    const bytes = await disk.crash('kill', seededRandom(seed)).read('/file');
    expect(bytes && describe(bytes)[0]).toBe('a');
    sizes.add(bytes?.length ?? 0);
  }
  expect(sizes).toEqual(new Set([BLOCK, BLOCK + 1, BLOCK + 2]));
});

test('a write through that completed cannot be torn by a kill', async () => {
  const { disk, file } = await diskWithRoom(1);
  await file.writeThrough(0, filled('a'));
  expect(await outcomes(disk, 'kill')).toEqual(new Set(['a']));
});

test('bytes of a failed sync are shown, but no later sync stores them until they are written again', async () => {
  const { disk, file } = await diskWithRoom(2);
  await file.write(0, filled('a', 2 * BLOCK));
  file.failToSync();
  await file.sync();
  expect(describe((await disk.read('/file')) ?? new Uint8Array())).toBe('a|a');
  expect(await outcomes(disk)).toEqual(new Set(['.|.', 'a|.', '.|a', 'a|a']));
  await file.write(BLOCK, filled('a'));
  await file.sync();
  expect(await outcomes(disk)).toEqual(new Set(['.|a', 'a|a']));
  await file.writeThrough(0, filled('a'));
  expect(await outcomes(disk)).toEqual(new Set(['a|a']));
});

test('a write behind the room is refused', async () => {
  const { file } = await diskWithRoom(1);
  expect(await rejectionOf(file.write(BLOCK, filled('a', 1)))).toMatchObject({
    message: expect.stringContaining('the room ends at 512'),
  });
  expect(await rejectionOf(file.writeThrough(BLOCK, filled('a', 1)))).toBeInstanceOf(Error);
});

test('a held file is replaced once another file gets its name, or the name is removed', async () => {
  const disk = SimulatedDisk.empty();
  await disk.createNew('/lock', Buffer.from('one'));
  const held = await disk.openLock('/lock');
  await disk.createNew('/lock.2', Buffer.from('two'));
  expect(held.isReplaced()).toBe(false);
  await disk.rename('/lock.2', '/lock');
  expect(held.isReplaced()).toBe(true);
  const next = await disk.openLock('/lock');
  expect(next.isReplaced()).toBe(false);
  await disk.remove('/lock');
  expect(next.isReplaced()).toBe(true);
  expect(await rejectionOf(disk.openLock('/lock'))).toMatchObject({ code: 'ENOENT' });
});
