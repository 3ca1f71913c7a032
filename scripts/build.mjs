#!/usr/bin/env node
/**
 * `npm run build`: runs `build-runners.ts`, `build-cli.ts` and `build-studio.ts`, or those that are named (`node
 * scripts/build.mjs studio`), on the Bun that npm installed. This script needs only Node, because npm runs it during an
 * install (`prepare`), when nothing else is certain to be on the path.
 */
import { spawnSync } from 'node:child_process';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import { findBun } from '../packages/runtime/bin/find-bun.cjs';

const parts = process.argv.length > 2 ? process.argv.slice(2) : ['runners', 'cli', 'studio'];

const bun = findBun();
if (bun === undefined) {
  process.stderr.write('Bun is not installed. Run `npm ci` without `--omit=optional`, then `npm run build`.\n');
  process.exit(3);
}
const flags = [`--config=${devNull}`, '--no-env-file', '--no-install'];
const repository = fileURLToPath(new URL('..', import.meta.url));
for (const part of parts) {
  const script = fileURLToPath(new URL(`build-${part}.ts`, import.meta.url));
  const { status, error } = spawnSync(bun, [...flags, script], { cwd: repository, stdio: 'inherit' });
  if (error) process.stderr.write(`Bun cannot be started: ${error.message}\n`);
  if (status !== 0) process.exit(status ?? 1);
}
