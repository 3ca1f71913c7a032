/**
 * Runs a part of the suite through PgBouncer in transaction mode, with `prepare=false` in the address. NOTIFY reaches
 * nobody there, so nodes hear of each other by their scans alone.
 */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { sampleStep } from '../../../../test/samples.ts';
import { hasPostgres } from './with-postgres.ts';
import { pgbouncer } from './start-pooler.ts';

if (pgbouncer === null) console.warn('PgBouncer is not installed. The test with a pooler is skipped.');
const chosen = ['store/conformance', 'cluster-source'];
const conforms = sampleStep === 1 ? '^S-01' : '^S-01.* when another node takes over';
const titles = `${conforms}|NOTIFY: false`;

test.skipIf(pgbouncer === null || !hasPostgres)(
  'S-01 S-03 the store works through a pooler that gives each statement another connection',
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
    const env = { ...process.env, GOONDAN_TEST_POOLER: 'pgbouncer' };
    const cwd = join(import.meta.dir, '..');
    const { stderr, exitCode } = Bun.spawnSync(command, { cwd, env, stdout: 'ignore', stderr: 'pipe' });
    expect({ exitCode, said: exitCode === 0 ? '' : stderr.toString() }).toEqual({ exitCode: 0, said: '' });
    expect(stderr.toString()).toContain(`across ${chosen.length} files`);
  },
  120_000,
);
