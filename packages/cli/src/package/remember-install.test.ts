import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rememberInstall } from './remember-install.ts';

let project: string;
let folder: string;
let asked: string[];
beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'gdn-install-')));
  folder = join(project, 'bundle');
  mkdirSync(folder);
  asked = [];
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

const npm = async (...args: string[]) => void asked.push(args.join(' '));
const write = (path: string, text: string) => writeFileSync(join(project, path), text);
const read = (path: string) => readFileSync(join(project, path), 'utf8');

test('unchanged files are left alone', async () => {
  write('bundle/package.json', '{}');
  mkdirSync(join(folder, 'node_modules'));
  await rememberInstall(folder).putBack(npm);
  expect(asked).toEqual([]);
});

test('files are restored byte by byte, including the lock file of a workspace above, and npm restores the rest', async () => {
  write('bundle/package.json', '{ "a": 1 }');
  write('package-lock.json', 'old');
  mkdirSync(join(folder, 'node_modules'));
  const remembered = rememberInstall(folder);
  write('bundle/package.json', '{"a":2}');
  write('bundle/package-lock.json', 'new');
  write('package-lock.json', 'new');
  await remembered.putBack(npm);
  expect([read('bundle/package.json'), read('package-lock.json')]).toEqual(['{ "a": 1 }', 'old']);
  expect(existsSync(join(folder, 'package-lock.json'))).toBe(false);
  expect(asked).toEqual(['install --ignore-scripts --no-save']);
});

test('without a package.json npm must not look for one above', async () => {
  mkdirSync(join(folder, 'node_modules'));
  const remembered = rememberInstall(folder);
  write('bundle/package.json', '{ "dependencies": { "@acme/tools": "1.0.0" } }');
  await remembered.putBack(npm);
  expect(asked).toEqual(['uninstall --ignore-scripts -- @acme/tools']);
  expect(existsSync(join(folder, 'package.json'))).toBe(false);
  expect(existsSync(join(folder, 'node_modules'))).toBe(true);
});

test('without an install nothing is left, and npm is not needed', async () => {
  const remembered = rememberInstall(folder);
  write('bundle/package.json', '{ "dependencies": { "@acme/tools": "1.0.0" } }');
  mkdirSync(join(folder, 'node_modules', 'x'), { recursive: true });
  await remembered.putBack(npm);
  expect(asked).toEqual([]);
  expect(existsSync(join(folder, 'node_modules'))).toBe(false);
});
