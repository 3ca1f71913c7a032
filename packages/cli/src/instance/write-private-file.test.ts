import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writePrivateFile } from './write-private-file.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gdn-output-'));
  path = join(folder, 'out.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function* pieces(...texts: (string | Error)[]) {
  for (const text of texts) {
    if (typeof text !== 'string') throw text;
    yield text;
  }
}

const write = (texts: (string | Error)[], { replace = false, signal = new AbortController().signal } = {}) =>
  writePrivateFile(path, pieces(...texts), { replace, signal }).then(
    () => 'written',
    (error: unknown) => error,
  );

test('the file is complete, and only its owner can read it', async () => {
  const long = 'x'.repeat(70_000);
  expect(await write(['one', long, 'two'])).toBe('written');
  expect(readFileSync(path, 'utf8')).toBe(`one${long}two`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['out.json']);
});

test('an existing file stays, even one made meanwhile, unless it may be replaced', async () => {
  writeFileSync(path, 'old', { mode: 0o644 });
  expect(await write(['new'])).toMatchObject({ code: 'E_OUTPUT_FILE', suggestion: expect.stringContaining('--force') });
  rmSync(path);
  async function* late() {
    yield 'new';
    writeFileSync(path, 'old', { mode: 0o644 });
  }
  const writing = writePrivateFile(path, late(), { replace: false, signal: new AbortController().signal });
  expect(await writing.catch((error: unknown) => error)).toMatchObject({ code: 'E_OUTPUT_FILE' });
  expect(readFileSync(path, 'utf8')).toBe('old');
  expect(await write(['new'], { replace: true })).toBe('written');
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['out.json']);
});

test('a failed or interrupted write leaves nothing', async () => {
  expect(await write(['one', new Error('damaged')])).toMatchObject({ message: 'damaged' });
  expect(await write(['one'], { signal: AbortSignal.abort() })).toMatchObject({ code: 'E_CANCELLED' });
  expect(readdirSync(folder)).toEqual([]);
});

test('a folder, and a path in a missing one, are rejected with a code', async () => {
  mkdirSync(path);
  expect(await write(['one'], { replace: true })).toMatchObject({ code: 'E_OUTPUT_FILE' });
  path = join(folder, 'missing', 'out.json');
  const message = `"${path}" cannot be written: ENOENT: no such file or directory.`;
  expect(await write(['one'])).toMatchObject({ code: 'E_OUTPUT_FILE', message });
  expect(existsSync(join(folder, 'missing'))).toBe(false);
});
