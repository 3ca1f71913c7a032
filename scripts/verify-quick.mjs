#!/usr/bin/env node
/**
 * `npm run verify -- quick`: runs formatting, lint, types and the unit tests, all at once.
 *
 * 1. A unit test starts no process and no browser. So this run leaves out the folders of `test`, the CLI's commands,
 *    and files whose names end with `.process.test.ts`, `.browser.test.ts` or `.tmux.test.ts`. It also leaves out the
 *    simulated crashes, which take longest.
 * 2. One type checker runs; `npm run types` runs a second one, too.
 * 3. Each step prints one line. A failed step prints its whole output. The exit code is 1 when a step failed.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('..', import.meta.url));
const notUnit = [
  'test/*/*.test.ts',
  'packages/cli/src/commands/*.test.ts',
  'packages/runtime/src/workspace/simulation/*.test.ts',
  '**/*.process.test.ts',
  '**/*.browser.test.ts',
  '**/*.tmux.test.ts',
];
const unitTests = [
  '--only-failures',
  '--preload=./test/no-processes.ts',
  ...notUnit.map((each) => `--path-ignore-patterns=${each}`),
];

const steps = [
  ['types', 'bun', ['check', '--no-script']],
  ['types of Studio', 'bun', ['check', '--no-script', '-p', 'packages/studio']],
  ['unit tests', 'node', ['scripts/run-bun.mjs', 'test', ...unitTests]],
  ['lint', 'npm', ['run', '--silent', 'lint']],
  ['formatting', 'bun', ['fmt', '--check']],
];

const results = await Promise.all(steps.map(run));
process.exitCode = results.every(Boolean) ? 0 : 1;

/** Runs one step. Returns true if it passed. */
async function run([name, command, args]) {
  const startedAt = performance.now();
  const env = { ...process.env, GOONDAN_SAMPLES: 'few' };
  const child = spawn(command, args, { cwd: repository, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => void said.push(piece));
  const code = await new Promise((resolve) => child.on('error', () => resolve(1)).on('close', resolve));
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  if (code !== 0) process.stdout.write(Buffer.concat(said));
  process.stdout.write(`${code === 0 ? 'passed' : 'FAILED'}  ${name}, ${seconds} s\n`);
  return code === 0;
}
