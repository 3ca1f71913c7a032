/** Runs the test that must fail on a mutant, in a process that loads the patched file. The sources stay unchanged. */
import { join } from 'node:path';
import type { RuleMutant } from './rule-mutants.ts';

export interface RuleMutantOutcome {
  /** True if the named test ran and failed. A run without this test does not count. */
  readonly isCaught: boolean;
  readonly output: string;
}

export async function tryRuleMutant({ name, testFile, title }: RuleMutant): Promise<RuleMutantOutcome> {
  const flags = ['--no-env-file', '--no-install', '--preload', join(import.meta.dir, 'load-mutant.ts')];
  const child = Bun.spawn([process.execPath, 'test', ...flags, `./${testFile}`, '-t', RegExp.escape(title)], {
    cwd: join(import.meta.dir, '../..'),
    env: { ...process.env, RULE_MUTANT: name, NO_COLOR: '1', FORCE_COLOR: '0' },
    stdout: 'ignore',
    stderr: 'pipe',
  });
  const output = await child.stderr.text();
  await child.exited;
  return { isCaught: output.split('\n').some((line) => line.startsWith('(fail)') && line.includes(title)), output };
}
