/** Runs a part of the suite of this package in a process of its own, with another database. */
import { expect } from 'bun:test';
import { join } from 'node:path';

/** `files`: parts of the names of test files. `titles`: a pattern for the titles of their tests. */
export function runPartAgain(files: readonly string[], titles: string, environment: Record<string, string>): void {
  const flags = ['--no-env-file', '--no-install', '--timeout=30000', '-t', titles];
  const env = { ...process.env, ...environment };
  const cwd = join(import.meta.dir, '..');
  const command = [process.execPath, 'test', ...files, ...flags];
  const { stderr, exitCode } = Bun.spawnSync(command, { cwd, env, stdout: 'ignore', stderr: 'pipe' });
  expect({ exitCode, said: exitCode === 0 ? '' : stderr.toString() }).toEqual({ exitCode: 0, said: '' });
  expect(stderr.toString()).toContain(`across ${files.length} files`);
}
