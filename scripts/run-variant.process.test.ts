import { expect, test } from 'bun:test';
import { join } from 'node:path';

const script = join(import.meta.dir, 'run-variant.mjs');

function run(...args: string[]) {
  // Without a `PATH`, no command of a variant can start.
  const { exitCode, stderr } = Bun.spawnSync([Bun.which('node') ?? 'node', script, ...args], { env: { PATH: '' } });
  return { exitCode, said: stderr.toString() };
}

test.each([
  ['pack', 'relese', 'release'],
  ['proof', 'clutser', 'cluster, conformance'],
  ['verify', 'quik', 'quick'],
])('npm run %s -- %s runs nothing, and names the variants', (name, variant, known) => {
  expect(run(name, variant)).toEqual({
    exitCode: 2,
    said: `\`npm run ${name}\` has no variant "${variant}"; there are ${known}.\n`,
  });
});

test.each(['proof conformance --list', 'proof --points 5', 'bench onion', 'pack'])('%s begins', (args) => {
  const { exitCode, said } = run(...args.split(' '));
  expect(said).toContain('cannot be started');
  expect(exitCode).toBe(1);
});
