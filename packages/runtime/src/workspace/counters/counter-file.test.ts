import { expect, test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import type { CounterState } from '../../counters/counter-state.ts';
import { systemClock } from '../../ports/clock.ts';
import { type Fs, systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { countersPath, workspaceFolder } from '../layout/instance-paths.ts';
import { CounterFile, findCounterDamage } from './counter-file.ts';

const stateRoot = temporaryFolder();

const stateOf = (used: number): CounterState => ({ window: 'ever', spent: used, held: {} });

async function open(workspaceId: string, fs: Fs = systemFs) {
  const warnings: string[] = [];
  const warn = ({ message }: { message: string }) => void warnings.push(message);
  const ports = { fs, clock: systemClock, processes: systemProcesses, warn };
  const { file, states } = await CounterFile.open(ports, { stateRoot, workspaceId });
  return { file, warnings, used: Object.fromEntries(Array.from(states, ([name, { spent }]) => [name, spent])) };
}

test.each([
  [1, { calls: 2, tokens: 30 }],
  [2, { calls: 2 }],
  [3, { calls: 1, tokens: 30 }],
])('Y-04 a damaged line %p of counters loses only its own state, and is named', async (place, left) => {
  const at = { stateRoot, workspaceId: `line-${place}` };
  const path = countersPath(workspaceFolder(stateRoot, at.workspaceId));
  mkdirSync(dirname(path), { recursive: true });
  const { file } = await open(at.workspaceId);
  for (const [name, used] of [
    ['calls', 1],
    ['tokens', 30],
    ['calls', 2],
  ] as const) {
    await file.save([[name, stateOf(used)]]);
  }
  await file.close();
  expect(await findCounterDamage(at)).toBeUndefined();
  const lines = readFileSync(path, 'utf8').split('\n');
  writeFileSync(
    path,
    lines.map((line, index) => (index === place - 1 ? line.replace('ever', 'evil') : line)).join('\n'),
  );
  expect(await findCounterDamage(at)).toMatch(new RegExp(`^${path} is damaged: .*line ${place} is left out`));
  const damaged = await open(at.workspaceId);
  expect([damaged.used, damaged.warnings.length]).toEqual([left, 1]);
  expect(damaged.warnings[0]).toContain(`; line ${place} is left out`);
  await damaged.file.save([['money', stateOf(5)]]);
  await damaged.file.close();
  const { file: mended, used, warnings } = await open(at.workspaceId);
  expect([used, warnings]).toEqual([{ ...left, money: 5 }, []]);
  await mended.close();
});

test('Y-04 states whose file could not be opened are written with the next ones', async () => {
  mkdirSync(workspaceFolder(stateRoot, 'unopened'), { recursive: true });
  let isFull = false;
  const stat: Fs['stat'] = (path) => (isFull ? Promise.reject(new Error('The disk is away.')) : systemFs.stat(path));
  const { file } = await open('unopened', { ...systemFs, stat });
  isFull = true;
  expect(await file.save([['calls', stateOf(1)]]).catch(() => 'failed')).toBe('failed');
  isFull = false;
  await file.save([['tokens', stateOf(2)]]);
  await file.close();
  const { file: again, used } = await open('unopened');
  expect(used).toEqual({ calls: 1, tokens: 2 });
  await again.close();
});
