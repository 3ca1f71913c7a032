import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDelays } from './loop-delays.ts';

function read(records: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'loop-delays-'));
  for (const [pid, text] of Object.entries(records)) writeFileSync(join(folder, `delays-${pid}.json`), text);
  const delays = readDelays(folder);
  rmSync(folder, { recursive: true });
  return delays;
}

test('the delays of all orchestrators count together, and a record that a kill cut off does not count', () => {
  const one = JSON.stringify({ all: { 0: 97, 60: 1 }, own: { 0: 98 } });
  const other = JSON.stringify({ all: { 0: 100, 40: 1, 90: 1 }, own: { 0: 100, 30: 2 } });
  // 200 ticks: the longest two are above the 99th percentile.
  expect(read({ 1: one, 2: other, 3: one.slice(0, 20) })).toEqual({
    p99: 40,
    longest: 90,
    own: { p99: 0, longest: 30 },
  });
});

test('without the time in which the thread was ready to run, only the whole delays are reported', () => {
  expect(read({ 1: JSON.stringify({ all: { 3: 10 } }) })).toEqual({ p99: 3, longest: 3 });
});
