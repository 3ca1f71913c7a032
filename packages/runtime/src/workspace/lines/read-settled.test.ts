import { expect, test } from 'bun:test';
import { instancePaths } from '../layout/instance-paths.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { simulatedMachine } from '../simulation/simulated-machine.ts';
import { corruptStore } from './corrupt-store.ts';
import { readSettled, yieldSettled } from './read-settled.ts';

async function makePlace() {
  const disk = SimulatedDisk.empty();
  const paths = instancePaths('/w', { agentName: 'coder', instanceKey: 'default' });
  await disk.createNew('/file', Buffer.from('bytes'));
  /** Replaces the file, as an owner does. */
  const replace = async () => {
    await disk.createNew('/file.next', Buffer.from('bytes'));
    await disk.rename('/file.next', '/file');
  };
  return { disk, replace, place: { ...simulatedMachine(disk, 1), paths } };
}

test('damage counts when a second read finds it; only then the file is copied aside', async () => {
  const { disk, place } = await makePlace();
  const copies: number[] = [];
  const reading = readSettled(place, async (settled) => {
    copies.push((await disk.list('/'))?.length ?? 0);
    throw await corruptStore(settled, '/file', 'it is old');
  });
  expect(await rejectionOf(reading)).toMatchObject({ code: 'E_STORE_CORRUPT' });
  expect(copies).toEqual([1, 1]);
  expect(await disk.list('/')).toHaveLength(2);
});

test('damage of a file that is replaced meanwhile does not count, and of other damage the second read decides', async () => {
  const { replace, place } = await makePlace();
  const problems = ['a', 'a', 'b', 'a', 'c'];
  const found: string[] = [];
  const reading = readSettled(place, async (settled) => {
    const problem = problems[found.length] ?? 'c';
    found.push(problem);
    if (found.length === 2 || found.length === 4) await replace();
    throw await corruptStore(settled, '/file', problem);
  });
  expect(await rejectionOf(reading)).toMatchObject({ message: expect.stringContaining('/file is damaged: c') });
  expect(found).toEqual(['a', 'a', 'b', 'a', 'c', 'c']);
});

test('damage does not count while a part of the instance, or the folder of the damaged file, comes', async () => {
  const { place } = await makePlace();
  const { folder, messages, metadata } = place.paths;
  for (const path of ['/w', '/w/instances', folder, messages, metadata, '/inbox']) {
    let reads = 0;
    const reading = readSettled(place, async (settled) => {
      if ((reads += 1) === 2) await place.fs.makeFolder(path);
      throw await corruptStore(settled, '/inbox/log', 'it is missing');
    });
    expect(await rejectionOf(reading)).toMatchObject({ code: 'E_STORE_CORRUPT' });
    expect([path, reads]).toEqual([path, path.startsWith('/w/instances/') || path === '/inbox' ? 3 : 2]);
  }
});

test('damage of a file that never stays the same counts in the end', async () => {
  const { replace, place } = await makePlace();
  let reads = 0;
  const reading = readSettled(place, async (settled) => {
    reads += 1;
    await replace();
    throw await corruptStore(settled, '/file', 'it is old');
  });
  expect(await rejectionOf(reading)).toMatchObject({ code: 'E_STORE_CORRUPT' });
  expect(reads).toBe(20);
});

test('a read inside another one is repeated with it, and other errors are passed on at once', async () => {
  const { place } = await makePlace();
  let reads = 0;
  const value = await readSettled(place, (settled) =>
    readSettled(settled, async (inner) => {
      if ((reads += 1) === 1) throw await corruptStore(inner, '/file', 'it is old');
      return reads;
    }),
  );
  expect(value).toBe(2);
  const failing = readSettled(place, () => Promise.reject(new Error('another error')));
  expect(await rejectionOf(failing)).toMatchObject({ message: 'another error' });
});

test('a read that yields values goes on where it was', async () => {
  const { place } = await makePlace();
  const values: number[] = [];
  const reading = yieldSettled(place, async function* (settled) {
    const before = values.length;
    while (values.length < 4) {
      if (values.length === 2 && before === 0) throw await corruptStore(settled, '/file', 'it is old');
      yield values.length;
    }
  });
  for await (const value of reading) values.push(value);
  expect(values).toEqual([0, 1, 2, 3]);
});
