import { expect, test } from 'bun:test';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { simulatedMachine } from '../simulation/simulated-machine.ts';
import { DurableQueue, leaveOut, readQueue } from './durable-queue.ts';

async function emptyFile() {
  const disk = SimulatedDisk.empty();
  await disk.createNew('/queue.jsonl', new Uint8Array());
  await disk.syncFolder('/');
  return { disk, ports: simulatedMachine(disk, 1) };
}

test('keeps entries in order until they are removed, across openings', async () => {
  const { ports } = await emptyFile();
  const queue = await DurableQueue.open(ports, '/queue.jsonl', 100);
  for (const key of ['a', 'b', 'c']) await queue.add(key, { value: key });
  await queue.remove('b');
  const again = await DurableQueue.open(ports, '/queue.jsonl', 100);
  expect(again.entries).toEqual([
    { key: 'a', value: { value: 'a' } },
    { key: 'c', value: { value: 'c' } },
  ]);
  expect(await readQueue(ports, '/queue.jsonl')).toEqual(again.entries);
});

test('writes nothing for keys that do not exist', async () => {
  const { disk, ports } = await emptyFile();
  const queue = await DurableQueue.open(ports, '/queue.jsonl', 100);
  await queue.add('a', 1);
  const size = (await disk.stat('/queue.jsonl'))?.size;
  await queue.remove('b', 'c');
  expect((await disk.stat('/queue.jsonl'))?.size).toBe(size ?? 0);
});

test('leaves entries out of a file, which still knows the removed keys, and leaves out nothing of a damaged one', async () => {
  const { disk, ports } = await emptyFile();
  const queue = await DurableQueue.open(ports, '/queue.jsonl', 100);
  for (const key of ['a', 'b', 'c']) await queue.add(key, key);
  await queue.remove('c');
  const bytes = (await disk.read('/queue.jsonl')) ?? new Uint8Array();
  const { bytes: less, leftOut } = leaveOut(bytes, ({ key }) => key === 'b');
  expect(leftOut).toBe(1);
  await disk.createNew('/less.jsonl', less);
  const again = await DurableQueue.open(ports, '/less.jsonl', 100);
  await again.add('c', 'again');
  expect(again.entries).toEqual([{ key: 'a', value: 'a' }]);
  // The second line, so that the first one has an entry to leave out.
  const damaged = bytes.with(bytes.indexOf(10) + 10, 0);
  expect(leaveOut(damaged, () => true)).toEqual({ bytes: damaged, leftOut: 0 });
});

test('adding is idempotent on the key, also after a removal', async () => {
  const { ports } = await emptyFile();
  const queue = await DurableQueue.open(ports, '/queue.jsonl', 100);
  await queue.add('a', 1);
  await queue.add('a', 2);
  expect(queue.entries).toEqual([{ key: 'a', value: 1 }]);
  await queue.remove('a');
  await queue.add('a', 3);
  expect((await DurableQueue.open(ports, '/queue.jsonl', 100)).size).toBe(0);
});

test('the file stays small, and still knows the removed keys', async () => {
  const { disk, ports } = await emptyFile();
  const queue = await DurableQueue.open(ports, '/queue.jsonl', 10);
  await queue.add('keep', 'me');
  for (let index = 0; index < 500; index += 1) {
    await queue.add(`k${index}`, index);
    await queue.remove(`k${index}`);
    expect((await disk.stat('/queue.jsonl'))?.size).toBeLessThan(5000);
  }
  const again = await DurableQueue.open(ports, '/queue.jsonl', 10);
  await again.add('k499', 'again');
  expect(again.entries).toEqual([{ key: 'keep', value: 'me' }]);
});
