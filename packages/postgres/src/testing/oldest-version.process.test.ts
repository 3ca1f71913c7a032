/**
 * Runs a part of the suite, in the proof, on the oldest PostgreSQL that the store works with. The rest runs there with
 * `GOONDAN_TEST_POSTGRES=15 npm test -- packages/postgres`.
 */
import { test } from 'bun:test';
import { sampleStep } from '../../../../test/samples.ts';
import { findBinaries } from '../embedded/find-binaries.ts';
import { runPartAgain } from './run-part-again.ts';

const OLDEST = 15;
const chosen = ['store/conformance', 'driver/database', 'nodes/placement', 'store/trace-rows'];
const titles = '^S-0[18]|^claims|^leases|refuses';

const testHere = sampleStep === 1 ? test.skipIf(!isInstalled()) : () => undefined;

testHere(
  `S-01 the store works on PostgreSQL ${OLDEST}`,
  () => runPartAgain(chosen, titles, { GOONDAN_TEST_POSTGRES: String(OLDEST), GOONDAN_TEST_PARTS: 'all' }),
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
