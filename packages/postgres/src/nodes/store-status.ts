/** The state of a database for people: versions, durability, sizes and nodes, with warnings where commits could be lost. */
import type { ClusterNode } from '@goondan/runtime/history';
import type { Database, Row } from '../driver/database.ts';
import { describeOther, OTHER_SCHEMA, readVersion, SCHEMA_VERSION } from '../schema/make-tables.ts';
import { findDamage } from './find-damage.ts';
import { listNodes } from './node-rows.ts';

export interface StoreStatus {
  /** The version of the server, such as `18.0`. */
  readonly server: string;
  /** The version of the tables; 0 when there are none. */
  readonly schema: number;
  /** The version of the tables that this program needs. */
  readonly neededSchema: number;
  readonly synchronousCommit: string;
  /** The standbys that confirm a commit before it is acknowledged; `undefined` when the role may not see them. */
  readonly synchronousStandbys: number | undefined;
  readonly databaseBytes: number;
  /** The tables of Goondan, largest first. Rows are estimates of the server. */
  readonly tables: readonly { readonly name: string; readonly bytes: number; readonly rows: number }[];
  readonly swarms: readonly SwarmStatus[];
  readonly warnings: readonly string[];
}

export interface SwarmStatus {
  readonly swarm: string;
  readonly instances: number;
  readonly pendingInputs: number;
  readonly nodes: readonly ClusterNode[];
}

/** Reads the status. It works for a database without tables, too. **Errors** — `E_STORE_AWAY`, `E_STORE_ADDRESS`. */
export async function readStatus(database: Pick<Database, 'query'>): Promise<StoreStatus> {
  const schema = await readVersion(database);
  const server = await readServer(database);
  const isUsable = schema === SCHEMA_VERSION;
  const facts = {
    server: server.version,
    schema,
    neededSchema: SCHEMA_VERSION,
    synchronousCommit: server.commit,
    synchronousStandbys: server.standbys ?? undefined,
    databaseBytes: server.bytes,
  };
  return {
    ...facts,
    tables: await readTables(database),
    swarms: isUsable ? await readSwarms(database) : [],
    warnings: [...warningsOf(server, schema), ...(isUsable ? await findDamage(database, server.number) : [])],
  };
}

interface ServerRow extends Row, ServerSettings {
  readonly version: string;
  readonly bytes: number;
}

interface ServerSettings {
  readonly number: number;
  readonly commit: string;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly standby_names: string;
  /** The standbys in the state that synchronous replication waits for; null without the right to see it. */
  readonly standbys: number | null;
  readonly is_standby: boolean;
}

const SERVER = `select current_setting('server_version') as version,
  current_setting('server_version_num')::int as number,
  current_setting('synchronous_commit') as commit, current_setting('fsync') as fsync,
  current_setting('full_page_writes') as full_page_writes,
  current_setting('synchronous_standby_names') as standby_names,
  (select case when count(*) > count(sync_state) then null
     else count(*) filter (where sync_state in ('sync', 'quorum')) end from pg_stat_replication) as standbys,
  pg_is_in_recovery() as is_standby, pg_database_size(current_database()) as bytes`;

async function readServer(database: Pick<Database, 'query'>): Promise<ServerRow> {
  const [row] = await database.query<ServerRow>(SERVER);
  if (row === undefined) throw new Error('PostgreSQL returned no row for a query of its settings.');
  return row;
}

/** The oldest server that the tests run with. */
const OLDEST_SERVER = 150_000;

/** Returns a sentence for everything that could lose an acknowledged commit, or keep the store from working. */
export function warningsOf(server: ServerSettings, schema: number): readonly string[] {
  const { number, commit, fsync, full_page_writes: pages, standby_names: names, standbys, is_standby } = server;
  const found: (string | false)[] = [
    number < OLDEST_SERVER && 'The server is older than PostgreSQL 15, which is the oldest tested version.',
    schema === 0 && 'The database has no tables of Goondan. Run `gdn store init`.',
    schema > 0 && schema !== SCHEMA_VERSION && `${describeOther(schema)} ${OTHER_SCHEMA}`,
    is_standby && 'The server is a standby and takes no writes.',
    commit === 'off' && 'synchronous_commit is off: the server can lose acknowledged commits when it crashes.',
    fsync === 'off' && 'fsync is off: the server can lose everything when its machine crashes.',
    pages === 'off' && 'full_page_writes is off: a crash of the machine can damage the database.',
    names === '' &&
      'No synchronous standby is configured: a failover to a standby can lose the last acknowledged commits.',
    names !== '' &&
      commit === 'local' &&
      'synchronous_commit is local: commits do not wait for the synchronous standby.',
    names !== '' && standbys === 0 && 'No synchronous standby is connected, so commits wait for one.',
  ];
  return found.filter((warning) => warning !== false);
}

async function readTables(database: Pick<Database, 'query'>): Promise<StoreStatus['tables']> {
  return database.query(
    `select c.relname::text as name, pg_total_relation_size(c.oid) as bytes, greatest(c.reltuples, 0)::bigint as rows
from pg_class c where c.relkind = 'r' and c.relname like 'gdn\\_%' and pg_table_is_visible(c.oid) order by 2 desc, 1`,
  );
}

async function readSwarms(database: Pick<Database, 'query'>): Promise<readonly SwarmStatus[]> {
  const rows = await database.query<{
    readonly swarm: string;
    readonly instances: number;
    readonly pending: number;
  }>(
    `with known as (
  select swarm from gdn_swarm union select swarm from gdn_node where lease_until > clock_timestamp()
)
select swarm, (select count(*) from gdn_instance i where i.swarm = known.swarm) as instances,
  (select count(*) from gdn_inbox b where b.swarm = known.swarm and b.pending) as pending
from known order by swarm`,
  );
  return Promise.all(
    rows.map(async ({ swarm, instances, pending }) => ({
      swarm,
      instances,
      pendingInputs: pending,
      nodes: await listNodes({ database, swarm }),
    })),
  );
}
