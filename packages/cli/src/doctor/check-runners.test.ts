import { expect, test } from 'bun:test';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { checkRunners } from './check-runners.ts';

const folder = temporaryFolder();

const runner = join(folder, 'agent-runner.js');
const sources = join(folder, 'src');

function write(path: string, seconds: number): void {
  writeFileSync(path, '');
  utimesSync(path, seconds, seconds);
}

test('programs that are absent, older than their sources, and up to date', () => {
  expect(checkRunners([runner], sources).status).toBe('missing');
  write(runner, 1_000);
  expect(checkRunners([runner], sources).status).toBe('ok');
  mkdirSync(join(sources, 'deep'), { recursive: true });
  write(join(sources, 'deep', 'a.ts'), 1_000);
  write(join(sources, 'deep', 'a.test.ts'), 2_000);
  expect(checkRunners([runner], sources).status).toBe('ok');
  write(join(sources, 'deep', 'b.ts'), 2_000);
  expect(checkRunners([runner], sources)).toMatchObject({ status: 'warning', detail: expect.stringContaining('b.ts') });
});

test('file times are ignored in an installed package', () => {
  const installed = join(folder, 'node_modules', '@goondan', 'runtime', 'src');
  mkdirSync(installed, { recursive: true });
  write(runner, 1_000);
  write(join(installed, 'a.ts'), 2_000);
  expect(checkRunners([runner], installed)).toMatchObject({ status: 'ok' });
});
