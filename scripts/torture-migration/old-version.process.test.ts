import { afterAll, expect, test } from 'bun:test';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeOldVersion, SetupError } from './old-version.ts';

const folder = mkdtempSync(join(tmpdir(), 'goondan-old-version-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const clone = join(folder, 'clone');
const git = (...args: string[]) => execFileSync('git', ['-C', clone, ...args], { encoding: 'utf8' }).trim();
mkdirSync(clone);
git('init', '-q');
writeFileSync(join(clone, 'package.json'), '{"name":"no-lock-file"}');
git('add', '.');
git('-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '-qm', 'test');
const commit = git('rev-parse', 'HEAD');

const problemOf = async (name: string, commitId: string) => {
  const error: unknown = await makeOldVersion(join(folder, name), () => undefined, { clone, commit: commitId }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SetupError);
  return error instanceof Error ? error.message : '';
};

test('a clone without the commit is told how to get it', async () => {
  const problem = await problemOf('made', '8e7d241f');
  expect(problem).toStartWith('This clone does not have the commit 8e7d241f. Run `git fetch --unshallow`');
  expect(existsSync(join(folder, 'made'))).toBe(false);
});

test('a failed npm ci is reported with the reason, and leaves no folder', async () => {
  const problem = await problemOf('made', commit);
  expect(problem).toStartWith('npm ci needs the network, or a cache that has the packages.\n');
  expect(problem).toContain('npm error');
  expect(existsSync(join(folder, 'made'))).toBe(false);
});

test('a folder that is something else is not touched', async () => {
  const other = join(folder, 'other');
  mkdirSync(other);
  writeFileSync(join(other, 'mine'), '');
  expect(await problemOf('other', commit)).toContain('exists and is not a built version');
  expect(existsSync(join(other, 'mine'))).toBe(true);
});
