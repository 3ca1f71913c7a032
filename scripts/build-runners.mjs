#!/usr/bin/env node
/**
 * Runs `build-runners.ts` on the Bun that npm installed. Plain Node, because npm calls it while it installs
 * (`prepare`), when nothing but Node is certain to be on the path.
 */
import { spawnSync } from 'node:child_process';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import { findBun } from '../packages/cli/bin/find-bun.mjs';

const bun = findBun(new URL('../packages/cli/package.json', import.meta.url));
if (bun === undefined) {
  process.stderr.write('Bun is not installed. Run `npm ci` without `--omit=optional`, then `npm run build`.\n');
  process.exit(3);
}
const flags = [`--config=${devNull}`, '--no-env-file', '--no-install'];
const script = fileURLToPath(new URL('build-runners.ts', import.meta.url));
const repository = fileURLToPath(new URL('..', import.meta.url));
const { status, error } = spawnSync(bun, [...flags, script], { cwd: repository, stdio: 'inherit' });
if (error) process.stderr.write(`Bun cannot be started: ${error.message}\n`);
process.exit(status ?? 1);
