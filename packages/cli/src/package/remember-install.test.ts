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

test('what has not changed is left alone', async () => {
  write('bundle/package.json', '{}');
  mkdirSync(join(folder, 'node_modules'));
  await rememberInstall(folder).putBack(npm);
  expect(asked).toEqual([]);
});

test('files are as they were, byte by byte, the lock file of a workspace above too, and npm makes the rest fit', async () => {
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

test('where there was no package.json npm is not left to look for one above', async () => {
  mkdirSync(join(folder, 'node_modules'));
  const remembered = rememberInstall(folder);
  write('bundle/package.json', '{ "dependencies": { "@acme/tools": "1.0.0" } }');
  await remembered.putBack(npm);
  expect(asked).toEqual(['uninstall --ignore-scripts -- @acme/tools']);
  expect(existsSync(join(folder, 'package.json'))).toBe(false);
  expect(existsSync(join(folder, 'node_modules'))).toBe(true);
});

test('where nothing was installed nothing is left, and npm is not needed', async () => {
  const remembered = rememberInstall(folder);
  write('bundle/package.json', '{ "dependencies": { "@acme/tools": "1.0.0" } }');
  mkdirSync(join(folder, 'node_modules', 'x'), { recursive: true });
  await remembered.putBack(npm);
  expect(asked).toEqual([]);
  expect(existsSync(join(folder, 'node_modules'))).toBe(false);
});
