import { spawnSync } from 'node:child_process';

/** Runs a command to its end and returns its output. **Errors** — its standard error, when it fails. */
export function run(...[program = '', ...args]: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${[program, ...args].join(' ')}: ${error?.message ?? stderr}`);
  return stdout;
}
