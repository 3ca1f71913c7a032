import { describe, expect, test } from '../testing/with-postgres.ts';
import { openDatabase } from '../driver/database.ts';
import { SCHEMA_VERSION } from '../schema/make-tables.ts';
import { makeTestDatabase } from '../testing/test-database.ts';
import { openTestSwarms } from '../testing/test-swarm.ts';
import { readStatus, warningsOf } from './store-status.ts';

describe('the status of a store', () => {
  test('lists nodes, swarms and tables', async () => {
    const swarms = await openTestSwarms();
    const swarm = swarms.make();
    try {
      const node = await swarm.join('one');
      await node.claim({ agentName: 'coder', instanceKey: 'a' });
      await swarm.addInput({ agentName: 'coder', instanceKey: 'b' }, { seq: 1, eventId: 'e1' });
      const status = await readStatus(swarm.database);
      expect(status).toMatchObject({ schema: SCHEMA_VERSION, neededSchema: SCHEMA_VERSION, synchronousStandbys: 0 });
      expect(status.swarms).toMatchObject([
        { swarm: swarm.swarm, instances: 2, pendingInputs: 1, nodes: [{ name: 'one' }] },
      ]);
      expect(status.tables.map(({ name }) => name)).toContain('gdn_inbox');
      expect(status.databaseBytes).toBeGreaterThan(0);
      // The server of the tests has fsync off.
      expect(status.warnings.join('\n')).toContain('fsync is off');
      expect(status.warnings.join('\n')).toContain('No synchronous standby is configured');
    } finally {
      await swarm.end();
      await swarms.end();
    }
  });

  test('works without tables', async () => {
    const made = await makeTestDatabase({ hasTables: false });
    const database = openDatabase(made.address);
    try {
      const status = await readStatus(database);
      expect([status.schema, status.swarms, status.tables]).toEqual([0, [], []]);
      expect(status.warnings.join('\n')).toContain('gdn store init');
    } finally {
      await database.close();
      await made.drop();
    }
  });
});

describe('the warnings of a store', () => {
  const safe = {
    number: 180_000,
    commit: 'on',
    fsync: 'on',
    full_page_writes: 'on',
    standby_names: 'ANY 1 (*)',
    standbys: 1,
    is_standby: false,
  };

  test('are none for a server with a synchronous standby', () => {
    expect(warningsOf(safe, SCHEMA_VERSION)).toEqual([]);
    expect(warningsOf({ ...safe, standbys: null }, SCHEMA_VERSION)).toEqual([]);
  });

  test.each([
    ['synchronous_commit is off', { commit: 'off' }],
    ['synchronous_commit is local', { commit: 'local' }],
    ['fsync is off', { fsync: 'off' }],
    ['full_page_writes is off', { full_page_writes: 'off' }],
    ['No synchronous standby is configured', { standby_names: '', standbys: 0 }],
    ['No synchronous standby is connected', { standbys: 0 }],
    ['takes no writes', { is_standby: true }],
    ['older than PostgreSQL 15', { number: 140_009 }],
  ] as const)('say: %s', (text, change) => {
    const warnings = warningsOf({ ...safe, ...change }, SCHEMA_VERSION);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(text);
  });

  test.each([
    [0, 'gdn store init'],
    [SCHEMA_VERSION + 1, `have version ${SCHEMA_VERSION + 1}`],
  ])('name tables of version %p', (version, text) => {
    expect(warningsOf(safe, version).join('\n')).toContain(text);
  });
});
