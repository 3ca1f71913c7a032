import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { LogLine } from '../../ports/log-line.ts';
import { openSwarmLog, swarmLogPath } from './swarm-log.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function place() {
  const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-log-'));
  folders.push(stateRoot);
  return { stateRoot, workspaceId: 'shop' };
}

const line = (message: string): LogLine => ({ time: 't', level: 'info', message, agent: 'clerk', instance: 'default' });

test('lines are in logs/swarm.jsonl, in their order, for the owner alone', async () => {
  const where = place();
  const log = openSwarmLog(where, (problem) => expect(problem).toBe('none'));
  for (let count = 0; count < 100; count++) log.write(line(String(count)));
  await log.close();
  const path = swarmLogPath(where);
  expect(path).toBe(join(where.stateRoot, 'workspaces', 'shop', 'logs', 'swarm.jsonl'));
  const written = readFileSync(path, 'utf8').trim().split('\n');
  expect(written).toEqual(Array.from({ length: 100 }, (_, count) => JSON.stringify(line(String(count)))));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
});

test('files are bounded in size and number', async () => {
  const where = place();
  const log = openSwarmLog({ ...where, limits: { bytes: 1_000, files: 2 } }, () => undefined);
  for (let round = 0; round < 20; round++) {
    for (let count = 0; count < 10; count++) log.write(line('x'.repeat(50)));
    await Bun.sleep(25);
  }
  await log.close();
  const names = readdirSync(dirname(swarmLogPath(where)));
  expect(names.length).toBe(3);
});

test('a log that cannot be written is reported, and stops nobody', async () => {
  const where = place();
  // A file where the folder should be.
  writeFileSync(join(where.stateRoot, 'workspaces'), '');
  const problems: string[] = [];
  const log = openSwarmLog(where, (problem) => void problems.push(problem));
  log.write(line('lost'));
  await log.close();
  expect(problems).toHaveLength(1);
});
