import { afterEach, beforeEach, expect, test } from 'bun:test';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SeenSignatures } from './seen-signatures.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'signatures-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const isBound = (seen: SeenSignatures, signature: string, id: string) => {
  try {
    seen.bind(signature, id);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ status: 401, code: 'E_WEBHOOK_SIGNATURE' });
    return false;
  }
};

test('a signature belongs to the first id it came with, also after a restart and a cut line', () => {
  const seen = new SeenSignatures(folder);
  expect([
    isBound(seen, 's1', 'a'),
    isBound(seen, 's1', 'a'),
    isBound(seen, 's1', 'b'),
    isBound(seen, 's2', 'b'),
  ]).toEqual([true, true, false, true]);
  appendFileSync(join(folder, 'signatures.jsonl'), '["abc');
  const again = new SeenSignatures(folder);
  expect([isBound(again, 's1', 'b'), isBound(again, 's1', 'a'), isBound(again, 's2', 'a')]).toEqual([
    false,
    true,
    false,
  ]);
});

test('the newest are known, and the file does not grow', () => {
  const seen = new SeenSignatures(folder, 10);
  for (let n = 0; n < 100; n++) seen.bind(`s${n}`, `${n}`);
  const lines = readFileSync(join(folder, 'signatures.jsonl'), 'utf8').trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(20);
  expect(isBound(seen, 's99', 'x')).toBe(false);
  expect(isBound(seen, 's90', 'x')).toBe(false);
  expect(isBound(seen, 's0', 'x')).toBe(true);
  expect(isBound(new SeenSignatures(folder, 10), 's99', 'x')).toBe(false);
});

test('the stored hashes are not valid signatures', () => {
  new SeenSignatures(folder).bind('sha256=757107ea', 'delivery');
  const file = join(folder, 'signatures.jsonl');
  expect(readFileSync(file, 'utf8')).not.toMatch(/757107ea|delivery/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
