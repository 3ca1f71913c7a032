import { expect, test } from 'bun:test';
import { type Fs } from '../../ports/fs.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { RecordLogs } from '../journal/record-logs.ts';
import { defaultLimits } from '../limits.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { eraseRecords } from './erase-records.ts';
import { readTraceLines } from './read-trace-file.ts';
import { listTraces } from './trace-names.ts';

const coder = { agentName: 'coder', instanceKey: 'default' };
const other = { agentName: 'coder', instanceKey: 'default-2' };

async function record(fs: Fs) {
  const small = { bytes: 400, files: 20 };
  const limits = { ...defaultLimits, runtimeEvents: small, traces: { ...small, turnBytes: 10_000 } };
  const logs = new RecordLogs({ fs, clock: manualClock() }, '/w', limits);
  for (let second = 1; second <= 6; second += 1) {
    for (const address of [coder, other]) {
      const text = `secret of ${address.instanceKey}, second ${second}`;
      const turn = { turnId: `${address.instanceKey}-${second}`, traceId: 't', startedAt: new Date(second * 1_000) };
      const traces = await logs.openTraces(address);
      await traces.append([
        { turn, isNeeded: true, text: () => JSON.stringify({ type: 'dropped', count: second, text }) },
      ]);
      const events = await logs.openRuntimeEvents(address);
      await events.append([{ time: new Date(second * 1_000).toISOString(), name: 'turn.started', payload: { text } }]);
    }
  }
}

async function recorded(): Promise<SimulatedDisk> {
  const disk = SimulatedDisk.empty();
  await disk.makeFolder('/w');
  await record(disk);
  return disk;
}

/** Reads all files as one text. */
async function textOf(disk: SimulatedDisk): Promise<string> {
  const texts: string[] = [];
  for (const folder of ['/w/traces', '/w/logs']) {
    for (const name of (await disk.list(folder)) ?? [])
      texts.push(Buffer.from((await disk.read(`${folder}/${name}`)) ?? '').toString());
  }
  return texts.join('\n');
}

async function turnsOf(disk: SimulatedDisk): Promise<Record<string, unknown>> {
  const turns: [string, unknown][] = [];
  for (const { turn, pieces } of await listTraces(disk, '/w')) turns.push([turn, await readTraceLines(disk, pieces)]);
  return Object.fromEntries(turns.toReversed());
}

test('erases the traces and events of an instance up to a time, in every file and index, and those of no other', async () => {
  const disk = await recorded();
  const before = await turnsOf(disk);
  expect((await disk.list('/w/traces'))?.filter((name) => name.startsWith('index')).length).toBeGreaterThan(1);
  await eraseRecords(disk, '/w', 'coder~default', new Date(5_500));
  const text = await textOf(disk);
  expect([...(text.match(/secret of default, second \d/g) ?? [])]).toEqual(
    Array<string>(2).fill('secret of default, second 6'),
  );
  expect(text.match(/secret of default-2, second \d/g)).toHaveLength(12);
  expect(text).not.toContain('~default-1"');
  const { 'default-1': _1, 'default-2': _2, 'default-3': _3, 'default-4': _4, 'default-5': _5, ...left } = before;
  expect(await turnsOf(disk)).toEqual(left);
  await eraseRecords(disk, '/w', 'coder~default', new Date(5_500));
  expect(await textOf(disk)).toBe(text);
});

test('a turn and an event of the moment of the deletion are erased', async () => {
  const disk = await recorded();
  await eraseRecords(disk, '/w', 'coder~default', new Date(6_000));
  expect((await textOf(disk)).match(/secret of default, second \d/g)).toBeNull();
});

test('an erased part of the newest file takes appends as before', async () => {
  const disk = await recorded();
  await eraseRecords(disk, '/w', 'coder~default', new Date(9_000));
  const before = await turnsOf(disk);
  await record(disk);
  const after = await turnsOf(disk);
  for (const turn of Object.keys(before)) expect(after).toHaveProperty([turn]);
  expect(after).toHaveProperty(['default-6']);
});

test('an index that a rotation writes while the records are erased does not name the erased turns', async () => {
  const disk = SimulatedDisk.empty();
  await disk.makeFolder('/w');
  let erased = 0;
  const racing = new Proxy<Fs>(disk, {
    get(target, name: keyof Fs) {
      if (name !== 'createNew') return (target[name] as (...parameters: never[]) => unknown).bind(target);
      return async (path: string, bytes: Uint8Array) => {
        if (path.endsWith('index.000002.json')) {
          erased += 1;
          // The rotation has read the blocks, and has not written its index yet.
          await eraseRecords(disk, '/w', 'coder~default', new Date(60_000));
        }
        return target.createNew(path, bytes);
      };
    },
  });
  await record(racing);
  expect(erased).toBeGreaterThan(0);
  const index = Buffer.from((await disk.read('/w/traces/index.000002.json')) ?? '').toString();
  expect(index).not.toContain('"coder~default"');
  // The others are found, with the index or without it.
  const others = [1, 2, 3, 4, 5, 6].map((second) => `default-2-${second}`);
  expect(Object.keys(await turnsOf(disk))).toEqual(expect.arrayContaining(others));
});

test('the removal of an index is durable when the records are erased, and each file gives way to other work', async () => {
  const disk = await recorded();
  const calls: string[] = [];
  let turns = 0;
  const watched = new Proxy<Fs>(disk, {
    get(target, name: keyof Fs) {
      return (path: string, ...rest: never[]) => {
        if (name === 'remove' || name === 'syncFolder') calls.push(`${name} ${path.replace(/\d{6}/, 'n')}`);
        return (target[name] as (...parameters: unknown[]) => unknown).apply(target, [path, ...rest]);
      };
    },
  });
  const work = { isOver: false };
  const others = (async () => {
    while (!work.isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
  })();
  const files = ((await disk.list('/w/traces')) ?? []).length;
  await eraseRecords(watched, '/w', 'coder~default', new Date(60_000));
  work.isOver = true;
  await others;
  expect(calls).toContain('remove /w/traces/index.n.json');
  expect(calls.at(-1)).toBe('syncFolder /w/traces');
  expect(turns).toBeGreaterThan(files / 2);
});

test('erased records stay erased after a power loss', async () => {
  const disk = await recorded();
  await makeDurable(disk);
  await eraseRecords(disk, '/w', 'coder~default', new Date(60_000));
  for (let seed = 1; seed <= 20; seed += 1) {
    const text = await textOf(disk.crash('power', seededRandom(seed)));
    expect({ seed, found: text.match(/secret of default, second \d/g) }).toEqual({ seed, found: null });
    expect(text.match(/secret of default-2, second \d/g)).toHaveLength(12);
  }
});

/** Syncs everything, as the system does some seconds after a write. */
async function makeDurable(disk: SimulatedDisk): Promise<void> {
  for (const folder of ['/w/traces', '/w/logs']) {
    for (const name of (await disk.list(folder)) ?? []) await (await disk.openFile(`${folder}/${name}`)).sync();
    await disk.syncFolder(folder);
  }
  for (const folder of ['/w', '/']) await disk.syncFolder(folder);
}
