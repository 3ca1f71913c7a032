import { expect, test } from 'bun:test';
import { join } from 'node:path';

function run(...args: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, join(import.meta.dir, 'mutants.ts'), ...args]);
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

test('npm run mutants -- --help prints the usage with an example; an unknown folder is an error at once', () => {
  const usage = 'Usage: npm run mutants [-- FOLDER … | ID …]';
  const example = expect.stringContaining('Example: npm run mutants -- packages/');
  expect(run('--help')).toEqual({ exitCode: 0, stdout: example, stderr: '' });
  expect(run('--help').stdout).toStartWith(usage);
  const { exitCode, stdout, stderr } = run('packages/types/src', 'packages/none', '--share', '0.01');
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toStartWith(`There is no folder, module or mutant "packages/none".\n\n${usage}`);
});
