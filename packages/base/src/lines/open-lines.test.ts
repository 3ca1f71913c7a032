import { afterEach, beforeEach, expect, test } from 'bun:test';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLines } from './open-lines.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'open-lines-'))));
afterEach(() => rmSync(folder, { recursive: true }));

test('a line after a truncated one is a line of its own', () => {
  const file = join(folder, 'lines.jsonl');
  expect(openLines(file)).toEqual([]);
  writeFileSync(file, '[1]\n[2');
  expect(openLines(file)).toEqual(['[1]', '[2']);
  appendFileSync(file, '[3]\n');
  expect(openLines(file)).toEqual(['[1]', '[2', '[3]', '']);
  expect(readFileSync(file, 'utf8')).toBe('[1]\n[2\n[3]\n');
});
