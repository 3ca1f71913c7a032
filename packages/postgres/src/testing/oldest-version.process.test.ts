/**
 * Runs a part of the suite, in the proof, on the oldest PostgreSQL that the store works with. The rest runs there with
 * `GOONDAN_TEST_POSTGRES=15 npm test -- packages/postgres`.
 */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { sampleStep } from '../../../../test/samples.ts';
import { findBinaries } from '../embedded/find-binaries.ts';

const OLDEST = 15;
const chosen = ['store/conformance', 'driver/database', 'nodes/placement', 'store/trace-rows'];
const titles = '^S-0[18]|^claims|^leases|refuses';

const testHere = sampleStep === 1 ? test.skipIf(!isInstalled()) : () => undefined;

testHere(
  `S-01 the store works on PostgreSQL ${OLDEST}`,
  () => {
    const command = [
      process.execPath,
      'test',
      ...chosen,
      '--no-env-file',
      '--no-install',
      '--timeout=30000',
      '-t',
      titles,
    ];
    const env = { ...process.env, GOONDAN_TEST_POSTGRES: String(OLDEST), GOONDAN_TEST_PARTS: 'all' };
    const cwd = join(import.meta.dir, '..');
    const { stderr, exitCode } = Bun.spawnSync(command, { cwd, env, stdout: 'ignore', stderr: 'pipe' });
    expect({ exitCode, said: exitCode === 0 ? '' : stderr.toString() }).toEqual({ exitCode: 0, said: '' });
    expect(stderr.toString()).toContain(`across ${chosen.length} files`);
  },
  120_000,
);

/** A release of Debian has one version, and the version of the npm package is newer. So it may be missing, also in CI. */
function isInstalled(): boolean {
  try {
    findBinaries(OLDEST);
    return true;
  } catch {
    console.warn(`PostgreSQL ${OLDEST} is not installed. The test of the oldest version is skipped.`);
    return false;
  }
}
