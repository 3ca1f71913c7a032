import type { Database } from '../driver/database.ts';
import { type Migration, migrations } from './migrations.ts';

/** Returns the version of the tables; 0 when there are none. */
export async function readVersion(database: Pick<Database, 'query'>): Promise<number> {
  const [found] = await database.query<{ readonly there: boolean }>(
    `select to_regclass('gdn_schema') is not null as there`,
  );
  if (found?.there !== true) return 0;
  const [row] = await database.query<{ readonly version: number }>(
    'select coalesce(max(version), 0) as version from gdn_schema',
  );
  return row?.version ?? 0;
}

/**
 * Brings the tables to the newest version. Two programs may do it at the same time: one waits for the other. Returns the
 * version before.
 */
export async function migrate(database: Database): Promise<number> {
  const before = await readVersion(database);
  for (const migration of migrations) if (migration.version > before) await apply(database, migration);
  return before;
}

/** One statement block, so that a version is applied completely or not at all. */
async function apply(database: Database, { version, statements }: Migration): Promise<void> {
  await database.query(`do $migration$
begin
  perform pg_advisory_xact_lock(7093464);
  create table if not exists gdn_schema (version int primary key, applied_at timestamptz not null default clock_timestamp());
  if not exists (select 1 from gdn_schema where version = ${version}) then
    ${statements}
    insert into gdn_schema (version) values (${version});
  end if;
end
$migration$`);
}
