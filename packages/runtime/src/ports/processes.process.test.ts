import { expect, test } from 'bun:test';
import { systemProcesses } from './processes.ts';

test('this process is alive, and an earlier one with its id is not', () => {
  const self = systemProcesses.self();
  expect(systemProcesses.isAlive(self)).toBe(true);
  expect(systemProcesses.isAlive({ ...self, startedAt: 'an earlier boot:1' })).toBe(false);
});

test('a process that ended is not alive', async () => {
  const child = Bun.spawn(['sleep', '60']);
  const living = { pid: child.pid, startedAt: 'unknown' };
  expect(systemProcesses.isAlive(living)).toBe(true);
  child.kill('SIGKILL');
  await child.exited;
  expect(systemProcesses.isAlive(living)).toBe(false);
});
