import { expect, test } from 'bun:test';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { systemClock } from '../../ports/clock.ts';
import type { Fs } from '../../ports/fs.ts';
import type { LogLine } from '../../ports/log-line.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { makeFolders } from '../layout/make-folders.ts';
import { failingFs, systemError } from '../simulation/failing-fs.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import type { StoreWarning } from '../store-ports.ts';
import { defaultSwarmLogLimits, SwarmLog } from './swarm-log.ts';
import { readSwarmLog } from './read-swarm-log.ts';
import { until } from '../../../../../test/until.ts';

const stateRoot = temporaryFolder();
const simulated = { stateRoot: '/state', workspaceId: 'w' };
const path = '/state/workspaces/w/logs/swarm.jsonl';

function workspaceOf(workspaceId: string) {
  mkdirSync(join(stateRoot, 'workspaces', workspaceId), { recursive: true });
  return { stateRoot, workspaceId };
}

async function diskWithWorkspace(): Promise<SimulatedDisk> {
  const disk = SimulatedDisk.empty();
  await makeFolders(disk, '/state', '/state/workspaces/w');
  return disk;
}

const line = (message: string, more: Partial<LogLine> = {}): LogLine => ({
  time: '2026-01-02T03:04:05.678Z',
  level: 'info',
  message,
  agent: 'coder',
  instance: 'default',
  ...more,
});
const messages = (lines: readonly LogLine[]) => lines.map(({ message }) => message);
const everything = { last: Number.POSITIVE_INFINITY };

test('keeps lines in order across restarts, and finds the last matching ones', async () => {
  const place = workspaceOf('w');
  for (const life of [1, 2]) {
    const log = new SwarmLog(place);
    for (let index = 0; index < 4; index += 1) {
      const traceId = index % 2 === 0 ? 'even' : 'odd';
      log.write(line(`${life} ${index}`, { traceId, agent: index === 3 ? 'tester' : 'coder', instance: `${life}` }));
    }
    await log.close();
  }
  const read = async (question: Partial<Parameters<typeof readSwarmLog>[1]>) =>
    messages(await readSwarmLog(place, { ...everything, ...question }));
  expect(await read({})).toEqual(['1 0', '1 1', '1 2', '1 3', '2 0', '2 1', '2 2', '2 3']);
  expect(await read({ last: 3 })).toEqual(['2 1', '2 2', '2 3']);
  expect(await read({ last: 0 })).toEqual([]);
  expect(await read({ agent: 'tester' })).toEqual(['1 3', '2 3']);
  expect(await read({ agent: 'coder', traceId: 'even', last: 3 })).toEqual(['1 2', '2 0', '2 2']);
  expect(await read({ instance: '1', traceId: 'odd' })).toEqual(['1 1', '1 3']);
  expect(await readSwarmLog({ stateRoot, workspaceId: 'none' }, everything)).toEqual([]);
  const folder = join(stateRoot, 'workspaces/w/logs');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  // Each line is plain JSON.
  const [text = ''] = readFileSync(join(folder, 'swarm.jsonl'), 'utf8').split('\n');
  expect(JSON.parse(text)).toEqual(line('1 0', { traceId: 'even', instance: '1' }));
});

test('finds lines of the orchestrator and of connections, which name no agent', async () => {
  const place = workspaceOf('nobody');
  const log = new SwarmLog(place);
  const { agent: _, instance: __, ...own } = line('started');
  log.write(own);
  log.write({ ...own, message: 'listening', connection: 'telegram' });
  await log.close();
  expect(messages(await readSwarmLog(place, everything))).toEqual(['started', 'listening']);
  expect(await readSwarmLog(place, { ...everything, agent: 'coder' })).toEqual([]);
});

test('skips half a line that a crash left, and keeps the next line intact', async () => {
  const place = workspaceOf('torn');
  const first = new SwarmLog(place);
  first.write(line('a'));
  await first.close();
  appendFileSync(join(stateRoot, 'workspaces/torn/logs/swarm.jsonl'), '{"time":"2026-01-02T03:04:05.678Z","lev');
  const second = new SwarmLog(place);
  second.write(line('b'));
  await second.close();
  expect(messages(await readSwarmLog(place, everything))).toEqual(['a', 'b']);
});

test.each([
  ['before its first line', false],
  ['after a failed write', true],
])('does not bring back a workspace that was deleted %s', async (_, hasFile) => {
  const place = workspaceOf('gone');
  const warnings: StoreWarning[] = [];
  // The second line starts another file, whose folder is gone.
  const limits = { ...defaultSwarmLogLimits, files: { bytes: 500, files: 3 } };
  const log = new SwarmLog({ ...place, warn: (warning) => warnings.push(warning) }, limits);
  if (hasFile) log.write(line('early', { data: 'x'.repeat(1_000) }));
  await until(() => existsSync(join(stateRoot, 'workspaces/gone/logs/swarm.jsonl')) === hasFile);
  rmSync(join(stateRoot, 'workspaces/gone'), { recursive: true });
  log.write(line('late'));
  await until(() => warnings.length > 0);
  await log.close();
  expect(existsSync(join(stateRoot, 'workspaces/gone'))).toBe(false);
  expect(warnings).toHaveLength(1);
});

test('leaves out lines that are not log lines', async () => {
  const place = workspaceOf('foreign');
  const known = line('known', { place: { file: 'a.ts', line: 1, column: 2 } });
  const log = new SwarmLog(place);
  log.write(known);
  await log.close();
  const foreign = [
    ...[
      { ...known, level: 'notice' },
      { ...known, place: { module: 'a.ts' } },
      { ...known, place: 'a.ts:1:2' },
    ],
    ...[{ level: 'info' }, 'no line', null],
  ];
  const file = join(stateRoot, 'workspaces/foreign/logs/swarm.jsonl');
  for (const each of foreign) appendFileSync(file, `${JSON.stringify(each)}\n`);
  expect(await readSwarmLog(place, everything)).toEqual([known]);
});

test('files are bounded in size and number, the oldest are deleted, and reading spans the rest', async () => {
  const place = workspaceOf('rotated');
  const log = new SwarmLog(place, { ...defaultSwarmLogLimits, files: { bytes: 10_000, files: 3 } });
  for (let index = 0; index < 1000; index += 1) {
    log.write(line(`${index}`));
    if (index % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await log.close();
  const folder = join(stateRoot, 'workspaces/rotated/logs');
  expect(readdirSync(folder).length).toBe(4);
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).size).toBeLessThan(21_000);
  const kept = messages(await readSwarmLog(place, everything));
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => `${1000 - kept.length + index}`));
  expect(kept.length).toBeGreaterThan(200);
  expect(messages(await readSwarmLog(place, { last: 150 }))).toEqual(kept.slice(-150));
});

test.each(['stat', 'read', 'list'] as const)(
  'a reader during a rotation sees no gap and no line twice: before each %s',
  async (operation) => {
    const disk = await diskWithWorkspace();
    const log = new SwarmLog({ ...simulated, fs: disk }, { files: { bytes: 2000, files: 1000 }, waiting: 1e6 });
    let written = 0;
    const newest = async () => (await readSwarmLog({ ...simulated, fs: disk }, { last: 1 }))[0]?.message;
    const writeOn = async () => {
      for (const end = written + 50; written < end; written += 1) log.write(line(`${written}`));
      await until(async () => (await newest()) === `${written - 1}`);
    };
    await writeOn();
    for (let at = 1; at < 8; at += 1) {
      let calls = 0;
      const fs = failingFs(disk, () => undefined);
      const busy = {
        ...fs,
        async [operation](each: string) {
          calls += 1;
          if (calls === at) await writeOn();
          return fs[operation](each);
        },
      };
      const found = messages(await readSwarmLog({ ...simulated, fs: busy }, { last: 45 })).map(Number);
      expect(found).toEqual(Array.from({ length: 45 }, (_, index) => (found[0] ?? 0) + index));
      expect(found.at(-1)).toBeGreaterThanOrEqual(written - 51);
    }
    await log.close();
    expect((await readSwarmLog({ ...simulated, fs: disk }, everything)).length).toBe(written);
  },
);

test('while the disk hangs, lines wait up to the limit; the others are dropped, and a line says how many', async () => {
  const disk = await diskWithWorkspace();
  const [begun, hanging] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const calm = failingFs(disk, () => undefined);
  const fs: Fs = {
    ...calm,
    async openFile(each) {
      const file = await calm.openFile(each);
      const append: typeof file.append = async (bytes) => {
        begun.resolve();
        await hanging.promise;
        return file.append(bytes);
      };
      return { ...file, append };
    },
  };
  const size = JSON.stringify(line('000')).length + 1;
  const log = new SwarmLog({ ...simulated, fs }, { ...defaultSwarmLogLimits, waiting: 10 * size });
  log.write(line('000'));
  await begun.promise;
  for (let index = 1; index <= 30; index += 1) log.write(line(String(index).padStart(3, '0')));
  hanging.resolve();
  await until(async () => ((await disk.stat(path))?.size ?? 0) >= 10 * size);
  log.write(line('later'));
  await log.close();
  const found = await readSwarmLog({ ...simulated, fs: disk }, everything);
  const waited = Array.from({ length: 10 }, (_, index) => String(index + 1).padStart(3, '0'));
  expect(messages(found).filter((message) => !message.includes('dropped'))).toEqual(['000', ...waited, 'later']);
  expect(found.at(-2)).toMatchObject({ level: 'warn', event: 'log.dropped', data: { lines: 20 } });
});

test('a failed disk is tried again after a pause, lost lines are counted, and one warning is given', async () => {
  const disk = await diskWithWorkspace();
  const clock = manualClock();
  const warnings: StoreWarning[] = [];
  let isFailing = true;
  const fs = failingFs(disk, (operation) => {
    if (isFailing && operation === 'append') throw systemError('ENOSPC');
  });
  const log = new SwarmLog({ ...simulated, fs, clock, warn: (warning) => warnings.push(warning) });
  log.write(line('a'));
  await until(() => clock.pending > 0);
  log.write(line('b'));
  await clock.advance(1000);
  isFailing = false;
  log.write(line('c'));
  // Nothing is written during the pause.
  await Bun.sleep(1);
  expect(await readSwarmLog({ ...simulated, fs: disk }, everything)).toEqual([]);
  await clock.advance(1000);
  log.write(line('d'));
  await log.close();
  const found = await readSwarmLog({ ...simulated, fs: disk }, everything);
  expect(messages(found).slice(1)).toEqual(['c', 'd']);
  expect(found[0]).toMatchObject({ event: 'log.dropped', data: { lines: 2 } });
  expect(clock.pending).toBe(0);
  expect(warnings.map((warning) => warning.path)).toEqual([path]);
});

test('closing skips the pause and tries once more', async () => {
  const disk = await diskWithWorkspace();
  const clock = manualClock();
  let isFailing = true;
  const fs = failingFs(disk, (operation) => {
    if (isFailing && operation === 'append') throw systemError('EIO');
  });
  const log = new SwarmLog({ ...simulated, fs, clock });
  log.write(line('a'));
  await until(() => clock.pending > 0);
  log.write(line('b'));
  isFailing = false;
  await log.close();
  expect(clock.pending).toBe(0);
  expect(messages(await readSwarmLog({ ...simulated, fs: disk }, everything)).at(-1)).toBe('b');
});

test('never throws: unwritable lines are dropped, long ones cut, and lines after the end ignored', async () => {
  const disk = await diskWithWorkspace();
  const log = new SwarmLog({ ...simulated, fs: disk });
  const circular: unknown[] = [];
  circular.push(circular);
  log.write(line('circular', { data: circular as never }));
  log.write(line('x'.repeat(1e6), { data: 'y'.repeat(1e6) }));
  log.write(line('fine', { agent: 'z'.repeat(1e6) }));
  log.write(line('last'));
  await log.close();
  await log.close();
  log.write(line('after the end'));
  await Bun.sleep(1);
  const found = await readSwarmLog({ ...simulated, fs: disk }, everything);
  expect(found.map(({ event, message }) => event ?? message.slice(0, 5))).toEqual([
    'log.dropped',
    'xxxxx',
    'log.dropped',
    'last',
  ]);
  expect(found[1]?.message.length).toBe(16 * 1024);
  expect(found[1]?.data).toEqual({ cut: expect.any(Number) });
});

test('closes although the disk hangs for good', async () => {
  const clock = manualClock();
  const hang = () => new Promise<never>(() => {});
  const fs: Fs = { ...failingFs(await diskWithWorkspace(), () => undefined), openFile: hang };
  const log = new SwarmLog({ ...simulated, fs, clock });
  log.write(line('a'));
  const closing = log.close();
  await until(() => clock.pending > 0);
  await clock.advance(2000);
  await closing;
});

test('a flood of lines does not block the event loop', async () => {
  const disk = await diskWithWorkspace();
  const log = new SwarmLog({ ...simulated, fs: disk, clock: systemClock }, { ...defaultSwarmLogLimits, waiting: 1e7 });
  for (let index = 0; index < 5000; index += 1) log.write(line('x'.repeat(100)));
  const sizes = new Set<number>();
  let size = 0;
  while (size < 5000 * 180) {
    size = (await disk.stat(path))?.size ?? 0;
    sizes.add(size);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(sizes.size).toBeGreaterThan(5);
  await log.close();
  expect((await readSwarmLog({ ...simulated, fs: disk }, everything)).length).toBe(5000);
});
