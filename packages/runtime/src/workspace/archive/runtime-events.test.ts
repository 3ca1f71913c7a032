import { expect, test } from 'bun:test';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { openRuntimeEvents } from './runtime-events.ts';

test('writes events as lines, in order, into files of bounded size and number', async () => {
  const disk = SimulatedDisk.empty();
  const writer = await openRuntimeEvents(disk, '/runtime-events.jsonl', { bytes: 1000, files: 2 });
  await Promise.all(
    Array.from({ length: 200 }, (_, index) => writer.append([{ type: 'turn.started', index }, { index }])),
  );
  await writer.close();
  const names = ((await disk.list('/')) ?? []).toSorted();
  expect(names.length).toBe(3);
  for (const name of names) expect((await disk.stat(`/${name}`))?.size).toBeLessThan(1100);
  const lines = Buffer.from((await disk.read('/runtime-events.jsonl')) ?? '')
    .toString()
    .split('\n')
    .slice(0, -1);
  const indexes = lines.map((line) => (JSON.parse(line) as { index: number }).index);
  expect(indexes.at(-1)).toBe(199);
  expect(indexes).toEqual([...indexes].toSorted((a, b) => a - b));
});
