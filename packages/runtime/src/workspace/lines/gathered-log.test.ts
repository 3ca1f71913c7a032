import { expect, test } from 'bun:test';
import type { JsonObject } from '@goondan/types';
import { manualClock } from '../../testing/manual-clock.ts';
import { GatheredLog, type LineWriter } from './gathered-log.ts';

function setUp() {
  const clock = manualClock();
  const batches: (readonly JsonObject[])[] = [];
  const problems: string[] = [];
  const disk = { opened: 0, closed: 0, failsWith: undefined as string | undefined };
  const writer: LineWriter<JsonObject> = {
    async append(events) {
      if (disk.failsWith !== undefined) throw new Error(disk.failsWith);
      batches.push(events);
    },
    close: async () => void (disk.closed += 1),
  };
  const open = async () => {
    disk.opened += 1;
    return writer;
  };
  const noteOf = (count: number, time: string) => ({ time, name: 'events.dropped', payload: { count } });
  const log = new GatheredLog({ open, clock, noteOf, report: (problem) => void problems.push(problem) });
  return { clock, batches, problems, disk, log };
}

test('opens nothing before the first event; writes events together, in order', async () => {
  const { clock, batches, disk, log } = setUp();
  await log.flush();
  expect(disk.opened).toBe(0);
  log.add({ n: 1 });
  log.add({ n: 2 });
  expect(batches).toEqual([]);
  await clock.advance(1_000);
  log.add({ n: 3 });
  await clock.advance(1_000);
  expect(batches).toEqual([[{ n: 1 }, { n: 2 }], [{ n: 3 }]]);
  expect(disk.opened).toBe(1);
  expect(clock.pending).toBe(0);
});

test('lines that keep coming are written at the latest after 250 ms, and sooner when 500 wait', async () => {
  const { clock, batches, log } = setUp();
  for (let n = 0; n < 60; n++) {
    log.add({ n });
    await clock.advance(5);
  }
  expect(batches.map(({ length }) => length)).toEqual([50]);
  await clock.advance(20);
  expect(batches.map(({ length }) => length)).toEqual([50, 10]);
  for (let n = 0; n < 500; n++) log.add({ n });
  await clock.advance(0);
  expect(batches.map(({ length }) => length)).toEqual([50, 10, 500]);
  expect(clock.pending).toBe(0);
});

test('closing writes the waiting lines', async () => {
  const { batches, disk, log } = setUp();
  log.add({ n: 1 });
  await log.close();
  expect(batches).toEqual([[{ n: 1 }]]);
  expect(disk.closed).toBe(1);
});

test('a disk error is reported once and fails no caller; the lost lines are counted when the disk works again', async () => {
  const { clock, batches, problems, disk, log } = setUp();
  disk.failsWith = 'no room';
  log.add({ n: 1 });
  await clock.advance(1_000);
  log.add({ n: 2 });
  log.add({ n: 3 });
  await clock.advance(1_000);
  expect(problems).toEqual(['no room']);
  disk.failsWith = undefined;
  log.add({ n: 4 });
  await clock.advance(1_000);
  expect(batches).toEqual([[{ n: 4 }, { time: expect.any(String), name: 'events.dropped', payload: { count: 3 } }]]);
  // The file is opened again after each failure, because its state is then unknown.
  expect(disk.opened).toBe(3);
  disk.failsWith = 'again';
  log.add({ n: 5 });
  await clock.advance(1_000);
  expect(problems).toEqual(['no room', 'again']);
});

test('drops and counts the newest lines above the limit', async () => {
  const { batches, log } = setUp();
  for (let n = 0; n < 1_002; n++) log.add({ n });
  await log.flush();
  expect(batches[0]).toHaveLength(1_001);
  expect(batches[0]?.[999]).toEqual({ n: 999 });
  expect(batches[0]?.[1_000]).toMatchObject({ payload: { count: 2 } });
});
