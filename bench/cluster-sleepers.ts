/**
 * Measures what a conversation costs while it sleeps: its bytes in tables and indexes, and the time to wake it. A real
 * conversation is copied row by row, so that the copies are as large as real ones.
 */
import { openDatabase } from '../packages/postgres/src/driver/database.ts';
import { startOwnDatabase } from '../test/cluster/own-database.ts';
import { print, startNodes } from './cluster-nodes.ts';
import type { Figures } from './figures.ts';
import { medianOf } from './measure.ts';
import { SWARM } from './swarm-bundle.ts';

const SLEEPERS = 10_000;
const TURNS = 10;
const WOKEN = 30;
const MILLION = 1_000_000;

export async function measureSleepers(bundleFolder: string): Promise<Figures> {
  await using database = await startOwnDatabase();
  {
    await using cluster = await startNodes({ bundleFolder, swarm: SWARM, address: database.address, nodes: 1 });
    for (let turn = 0; turn < TURNS; turn++)
      await cluster.at(0).ask({ instanceKey: 'pattern', input: `Hello ${turn}` });
  }
  const sql = openDatabase(database.address, { connections: 1 });
  const tables = await sql.query<{ name: string; columns: string }>(
    `select table_name as name, string_agg(column_name, ', ') filter (where column_name <> 'key') as columns
      from information_schema.columns where table_name like 'gdn\\_%' and is_identity = 'NO'
      group by table_name having bool_or(column_name = 'key') and bool_or(column_name = 'agent')`,
  );
  const sizes = () =>
    sql.query<{ name: string; tables: number; indexes: number }>(
      `select relname as name, pg_table_size(oid)::bigint as tables, pg_indexes_size(oid)::bigint as indexes
        from pg_class where relkind = 'r' and relname like 'gdn\\_%' order by relname`,
    );
  const before = new Map((await sizes()).map((size) => [size.name, size]));
  for (const { name, columns } of tables)
    await sql.query(
      `insert into ${name} (key, ${columns}) select 'sleeper-' || number, ${columns}
        from ${name}, generate_series(1, ${SLEEPERS}) number where key = 'pattern'`,
    );
  await sql.query('analyze');
  let [bytes, indexes] = [0, 0];
  for (const { name, tables: rows, indexes: own } of await sizes()) {
    const grown = rows - (before.get(name)?.tables ?? 0);
    const ordered = own - (before.get(name)?.indexes ?? 0);
    bytes += grown;
    indexes += ordered;
    if (grown + ordered > SLEEPERS)
      print(`  ${name}, bytes of a conversation`, `${each(grown)} in the table, ${each(ordered)} in its indexes`);
  }
  await sql.close();
  print(
    `a sleeping conversation of ${TURNS} turns (${SLEEPERS} measured)`,
    `${each(bytes)} bytes, ${each(indexes)} in indexes`,
  );
  const gigabytes = (total: number) => ((total / SLEEPERS) * MILLION) / 2 ** 30;
  print('a million of them', `${gigabytes(bytes).toFixed(1)} GB, ${gigabytes(indexes).toFixed(1)} GB in indexes`);
  await using cluster = await startNodes({ bundleFolder, swarm: SWARM, address: database.address, nodes: 1 });
  const times: number[] = [];
  for (let woken = 1; woken <= WOKEN; woken++) {
    const startedAt = performance.now();
    await cluster.at(0).ask({ instanceKey: `sleeper-${woken * 300}`, input: 'Good morning' });
    times.push(performance.now() - startedAt);
  }
  print('time from an input to the answer of a sleeping conversation, p50', `${medianOf(times).toFixed(0)} ms`);
  return { 'cluster.sleeper': (bytes + indexes) / SLEEPERS };
}

function each(bytes: number): string {
  return (bytes / SLEEPERS).toFixed(0);
}
