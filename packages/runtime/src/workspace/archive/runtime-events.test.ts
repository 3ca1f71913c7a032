import { expect, test } from 'bun:test';
import { manualClock } from '../../testing/manual-clock.ts';
import { RecordLogs } from '../journal/record-logs.ts';
import { defaultLimits } from '../limits.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';

test('writes events as lines with their instance, in order, into files of bounded size and number', async () => {
  const disk = SimulatedDisk.empty();
  await disk.makeFolder('/w');
  const limits = { ...defaultLimits, runtimeEvents: { bytes: 1000, files: 2 } };
  const logs = new RecordLogs({ fs: disk, clock: manualClock() }, '/w', limits);
  const writer = await logs.openRuntimeEvents({ agentName: 'coder', instanceKey: 'default' });
  const time = new Date(0).toISOString();
  await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      writer.append([
        { time, name: 'turn.started', index },
        { time, index },
      ]),
    ),
  );
  await writer.close();
  const names = ((await disk.list('/w/logs')) ?? []).toSorted();
  expect(names).toHaveLength(2);
  for (const name of names) expect((await disk.stat(`/w/logs/${name}`))?.size).toBeLessThan(1200);
  const text = Buffer.from((await disk.read(`/w/logs/${names[1]}`)) ?? '').toString();
  const lines = text.split('\n').filter((line) => line !== '');
  const events = lines.map((line) => JSON.parse(line) as { instance: string; time: string; index: number });
  const indexes = events.map(({ index }) => index);
  expect(indexes.at(-1)).toBe(199);
  expect(indexes).toEqual([...indexes].toSorted((a, b) => a - b));
  expect(events[0]).toMatchObject({ instance: 'coder~default', time });
});
