import { expect, test } from 'bun:test';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryBundle } from '../../../testing/temporary-bundle.ts';
import { hashLockFiles } from './hash-lock-files.ts';

test('the hash of lock files changes with each of them, and only with them', () => {
  using bundle = temporaryBundle({ 'a.ts': '' });
  const seen = new Set([hashLockFiles(bundle.folder)]);
  mkdirSync(join(bundle.folder, 'node_modules'));
  const names = ['package-lock.json', 'npm-shrinkwrap.json', 'bun.lock', 'bun.lockb', 'yarn.lock', 'pnpm-lock.yaml'];
  for (const [index, name] of [...names, 'node_modules/.package-lock.json'].entries()) {
    writeFileSync(join(bundle.folder, name), '{}');
    expect(seen.add(hashLockFiles(bundle.folder)).size).toBe(index + 2);
  }
  writeFileSync(join(bundle.folder, 'bun.lock'), '{"changed":1}');
  expect(seen.add(hashLockFiles(bundle.folder)).size).toBe(9);
  writeFileSync(join(bundle.folder, 'a.ts'), '1');
  expect(seen.add(hashLockFiles(bundle.folder)).size).toBe(9);
});

test('a bundle without a lock file has those of the nearest folder above', () => {
  using outer = temporaryBundle({ 'yarn.lock': 'one', 'inner/a.ts': '' });
  const inner = join(outer.folder, 'inner');
  expect(hashLockFiles(inner)).toBe(hashLockFiles(outer.folder));
  expect(hashLockFiles(inner)).toBeString();
  mkdirSync(join(inner, 'package-lock.json'));
  expect(hashLockFiles(inner)).toBe(hashLockFiles(outer.folder));
  rmSync(join(outer.folder, 'yarn.lock'));
  expect(hashLockFiles(inner)).toBeUndefined();
});
