import { expect, test } from 'bun:test';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { simulatedMachine } from '../simulation/simulated-machine.ts';
import { DurableQueue, readQueue } from './durable-queue.ts';

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
