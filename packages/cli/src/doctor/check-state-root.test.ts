import { expect, test } from 'bun:test';
import { tmpdir } from 'node:os';
import { checkStateRoot } from './check-state-root.ts';

const megabyte = 1024 * 1024;

test.each([
  ['missing', 0],
  ['warning', 100 * megabyte],
  ['ok', 300 * megabyte],
] as const)('%s with %d bytes free', (status, free) => {
  expect(checkStateRoot(tmpdir(), () => free).status).toBe(status);
});
