import { expect, test } from 'bun:test';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRepository } from '../../../../test/read-repository.ts';
import { systemFlock } from './flock.ts';

test('only one of two openings of a file gets its lock; the other gets it when the first closes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'goondan-flock-'));
  const [first, second] = [openSync(join(folder, 'file'), 'a'), openSync(join(folder, 'file'), 'a')];
  try {
    expect(await systemFlock(first)).toEqual({ answer: 'locked' });
    expect(await systemFlock(second)).toEqual({ answer: 'taken' });
    closeSync(first);
    expect(await systemFlock(second)).toEqual({ answer: 'locked' });
  } finally {
    closeSync(second);
    rmSync(folder, { recursive: true });
  }
});

test('any other answer of the system is reported with its number', async () => {
  expect(await systemFlock(1_000_000)).toEqual({ answer: 'unsupported', why: 'flock fails with errno 9' });
});

test('only one file calls C', () => {
  const callers = readRepository('packages/*/src/**/*.ts').filter(({ text }) =>
    /import\('bun:ffi'\)|from 'bun:ffi'/.test(text),
  );
  expect(callers.map(({ path }) => path).filter((path) => !path.endsWith('.test.ts'))).toEqual([
    'packages/runtime/src/ports/flock.ts',
  ]);
});
