/**
 * Runs a part of the suite through PgBouncer in transaction mode, with `prepare=false` in the address. NOTIFY reaches
 * nobody there, so nodes hear of each other by their scans alone.
 */
import { test } from 'bun:test';
import { sampleStep } from '../../../../test/samples.ts';
import { runPartAgain } from './run-part-again.ts';
import { hasPostgres } from './with-postgres.ts';
import { pgbouncer } from './start-pooler.ts';

if (pgbouncer === null) console.warn('PgBouncer is not installed. The test with a pooler is skipped.');
const chosen = ['store/conformance', 'cluster-source'];
const conforms = sampleStep === 1 ? '^S-01' : '^S-01.* when another node takes over';
const titles = `${conforms}|NOTIFY: false`;

test.skipIf(pgbouncer === null || !hasPostgres)(
  'S-01 S-03 the store works through a pooler that gives each statement another connection',
  () => runPartAgain(chosen, titles, { GOONDAN_TEST_POOLER: 'pgbouncer' }),
  120_000,
);
