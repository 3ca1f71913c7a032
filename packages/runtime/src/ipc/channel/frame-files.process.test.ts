import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryFrameFiles } from '../../testing/memory-frame-files.ts';
import { frameFolder } from './frame-files.ts';

const ours = '01234567-89ab-cdef-0123-456789abcdef.json';
let base: string;
let folder: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'frame-files-'));
  folder = join(base, 'frames');
  mkdirSync(folder);
});
afterEach(() => rmSync(base, { recursive: true }));

describe.each([
  ['in a folder', () => frameFolder(folder)],
  ['in memory', () => memoryFrameFiles()],
])('a message by file, %s', (_, open) => {
  test('is read once', () => {
    const files = open();
    const name = files.store(Buffer.from('hello'));
    expect(Buffer.from(files.take(name, 5)).toString()).toBe('hello');
    expect(() => files.take(name, 5)).toThrow(expect.objectContaining({ code: 'E_IPC_FRAME' }));
  });

  test('is rejected and removed when it is too long', () => {
    const files = open();
    const name = files.store(Buffer.from('hello!'));
    expect(() => files.take(name, 5)).toThrow(expect.objectContaining({ code: 'E_IPC_SIZE' }));
    expect(() => files.take(name, 6)).toThrow(expect.objectContaining({ code: 'E_IPC_FRAME' }));
  });
});

describe('the folder', () => {
  test('is made on demand, for its owner only, and removed with its contents', () => {
    const files = frameFolder(join(folder, 'deeper'));
    const name = files.store(Buffer.from('secret'));
    expect(statSync(join(folder, 'deeper')).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'deeper', name)).mode & 0o777).toBe(0o600);
    files.remove();
    expect(existsSync(join(folder, 'deeper'))).toBe(false);
    files.remove();
  });

  test('cannot be left by a name', () => {
    writeFileSync(join(base, ours), 'outside');
    for (const name of [`../${ours}`, join(base, ours), `./${ours}`, `${ours}\0`, '', '..', `${ours}/x`, 'a.json']) {
      expect(() => frameFolder(folder).take(name, 100)).toThrow(expect.objectContaining({ code: 'E_IPC_FRAME' }));
    }
    expect(readdirSync(base).toSorted()).toEqual([ours, 'frames']);
  });

  test('cannot be left by a link', () => {
    writeFileSync(join(base, 'outside'), 'outside');
    symlinkSync(join(base, 'outside'), join(folder, ours));
    expect(() => frameFolder(folder).take(ours, 100)).toThrow(expect.objectContaining({ code: 'E_IPC_FRAME' }));
    expect(existsSync(join(base, 'outside'))).toBe(true);
  });

  test('may contain a pipe, a folder or a huge file, which are rejected at once', () => {
    Bun.spawnSync(['mkfifo', join(folder, ours)]);
    expect(() => frameFolder(folder).take(ours, 100)).toThrow('something that is not a file');
    mkdirSync(join(folder, ours));
    expect(() => frameFolder(folder).take(ours, 100)).toThrow('something that is not a file');
    rmSync(join(folder, ours), { recursive: true });
    writeFileSync(join(folder, ours), '');
    truncateSync(join(folder, ours), 2 ** 40);
    expect(() => frameFolder(folder).take(ours, 100)).toThrow(expect.objectContaining({ code: 'E_IPC_SIZE' }));
  });

  test('removes a second name of a file, and keeps the first', () => {
    writeFileSync(join(base, 'first'), 'kept');
    linkSync(join(base, 'first'), join(folder, ours));
    frameFolder(folder).take(ours, 100);
    expect(existsSync(join(base, 'first'))).toBe(true);
  });
});
