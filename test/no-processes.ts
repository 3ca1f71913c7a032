/**
 * Preloaded for the unit tests of `npm run verify -- quick`, which must not start a process. The file of a test that
 * starts a process is named `*.process.test.ts`, and only `npm test` runs it.
 */
import { mock } from 'bun:test';
import * as childProcess from 'node:child_process';

const refuse = () => {
  throw new Error('A unit test starts no process. Name its file `*.process.test.ts`.');
};
const starters = ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'];

Object.assign(Bun, { spawn: refuse, spawnSync: refuse });
await mock.module('node:child_process', () => ({
  ...childProcess,
  ...Object.fromEntries(starters.map((name) => [name, refuse])),
}));
