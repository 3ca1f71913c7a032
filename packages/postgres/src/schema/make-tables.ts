/** The tables of Goondan in a database: makes them, and refuses those of another version. */
import { GoondanError } from '@goondan/types';
import type { Database } from '../driver/database.ts';
import { tables } from './tables.ts';

/** The version of the tables. A program works only with its own version. */
export const SCHEMA_VERSION = 1;

/** Returns the version of the tables; 0 when there are none. */
export async function readVersion(database: Pick<Database, 'query'>): Promise<number> {
  const [found] = await database.query<{ readonly there: boolean }>(
    `select to_regclass('gdn_schema') is not null as there`,
  );
  if (found?.there !== true) return 0;
  const [row] = await database.query<{ readonly version: number }>('select version from gdn_schema');
  return row?.version ?? 0;
}

/**
 * Makes the tables, unless there are some. Two programs may do it at the same time: one waits for the other.
 *
 * **Errors** — those of `checkSchema`.
 */
export async function makeTables(database: Pick<Database, 'query'>): Promise<void> {
  // One statement block, so that all tables are made or none.
  await database.query(`do $tables$
begin
  perform pg_advisory_xact_lock(7093464);
  create table if not exists gdn_schema (version int primary key);
  if not exists (select 1 from gdn_schema) then
    ${tables}
    insert into gdn_schema (version) values (${SCHEMA_VERSION});
  end if;
end
$tables$`);
  await checkSchema(database);
}

/** Refuses a database without tables, or with those of another version. **Errors** — `E_STORE_SCHEMA`. */
export async function checkSchema(database: Pick<Database, 'query'>): Promise<void> {
  const version = await readVersion(database);
  if (version === SCHEMA_VERSION) return;
  if (version === 0) {
    const suggestion = 'Make them with `gdn store init`.';
    throw new GoondanError('E_STORE_SCHEMA', 'The database has no tables of Goondan.', { suggestion });
  }
  throw new GoondanError('E_STORE_SCHEMA', describeOther(version), { suggestion: OTHER_SCHEMA });
}

/** Describes the tables of another version. */
export function describeOther(version: number): string {
  return `The tables of the database have version ${version}, and this version of Goondan needs version ${SCHEMA_VERSION}.`;
}

export const OTHER_SCHEMA = 'Use the version of Goondan that made the tables, or another database.';
