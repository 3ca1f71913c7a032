import { expect, test } from 'bun:test';
import { systemClock } from '@goondan/runtime/internal';
import { sweepHourly } from './sweep-hourly.ts';

test('Y-02 files that nobody uses are removed at the start and every hour, until the node closes', async () => {
  const waiting: { readonly ms: number; readonly action: () => void }[] = [];
  const clock = {
    ...systemClock,
    after: (ms: number, action: () => void) => {
      waiting.push({ ms, action });
      return () => void waiting.splice(0);
    },
  };
  let sweeps = 0;
  const problems: string[] = [];
  const blobs = {
    async sweep() {
      sweeps += 1;
      if (sweeps === 2) throw new Error('the store is away');
    },
  };
  const pass = async () => {
    await Bun.sleep(0);
    return waiting.splice(0);
  };
  const hourly = sweepHourly(blobs, { clock, report: (problem) => void problems.push(problem) });
  for (const expected of [1, 2, 3]) {
    const [next, ...others] = await pass();
    expect([sweeps, next?.ms, others]).toEqual([expected, 3_600_000, []]);
    next?.action();
  }
  await Bun.sleep(0);
  hourly.close();
  expect([sweeps, waiting, problems]).toEqual([
    4,
    [],
    ['Files that nobody uses could not be removed: Error: the store is away'],
  ]);
});
