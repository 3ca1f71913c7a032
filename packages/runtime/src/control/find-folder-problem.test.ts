import { afterEach, beforeEach, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { currentUserId } from './control-socket-path.ts';
import { findFolderProblem } from './find-folder-problem.ts';

let root: string;
let folder: string;
const me = currentUserId();

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'folder-problem-'));
  folder = join(root, 'folder');
  mkdirSync(folder, { mode: 0o700 });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test('our own folder has no problem, even if others can read it', () => {
  expect(findFolderProblem(folder, me)).toBeUndefined();
  chmodSync(folder, 0o755);
  expect(findFolderProblem(folder, me)).toBeUndefined();
});

test('a folder that others can write to, that others own, or that is a link, has a problem', () => {
  expect(findFolderProblem(folder, me + 1)).toBe(`belongs to user ${me}`);
  symlinkSync(folder, join(root, 'link'));
  expect(findFolderProblem(join(root, 'link'), me)).toBe('is a link');
  writeFileSync(join(root, 'file'), '');
  expect(findFolderProblem(join(root, 'file'), me)).toBe('is not a folder');
  for (const mode of [0o770, 0o702]) {
    chmodSync(folder, mode);
    expect(findFolderProblem(folder, me)).toBe(`can be written by others (mode ${mode.toString(8)})`);
  }
});
