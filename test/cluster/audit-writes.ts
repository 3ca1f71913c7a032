/**
 * Checks every write of the nodes from inside the database, without the code of the store: triggers compare the writer of
 * each row with the owner of its conversation. Each node connects as a database user of its own, so the database knows
 * the writer. Only a test has these triggers.
 */
import { type Database, openDatabase, type Row } from '../../packages/postgres/src/driver/database.ts';

export interface Audit extends AsyncDisposable {
  /** Returns the address of a store with the database user of a node. */
  addressOf(store: string, node: string): string;
  /** Returns the time of the database, in milliseconds. */
  now(): Promise<number>;
  /**
   * Returns the milliseconds from a time until each conversation of this node had another owner. Counts only
   * conversations that had input at that time: the others wait for nobody.
   */
  takeOversSince(ms: number, node: string): Promise<readonly number[]>;
  /** Returns the longest time between two writes around a time of the database, in milliseconds. */
  longestPauseAround(ms: number): Promise<number>;
  read(): Promise<AuditFindings>;
}

export interface AuditFindings {
  /** Statements that added records to a conversation. */
  readonly writes: number;
  /** Such statements that changed nothing: the fence refused them, or they had happened before. */
  readonly refused: number;
  readonly takeOvers: number;
  /** Writes of a node that is not the owner, and claims that break the rules. */
  readonly violations: readonly string[];
}

/** Adds the triggers to a store that has its tables, and a database user for each node. */
export async function auditWrites(store: string, nodes: readonly string[]): Promise<Audit> {
  const database = openDatabase(store, { connections: 1 });
  const ask = <Found extends Row>(statement: string, values: readonly (string | number)[] = []) =>
    untilAnswered(() => database.query<Found>(statement, values));
  for (const node of nodes) await ask(`create role "${node}" superuser login`);
  await ask(`do $audit$ begin ${TABLES} ${FUNCTIONS} ${TRIGGERS} end $audit$`);
  const one = async (statement: string, values: readonly (string | number)[] = []) =>
    (await ask<{ value: number | null }>(statement, values))[0]?.value ?? 0;
  return {
    addressOf: (address, node) => address.replace(/\/\/[^@/]*@/, `//${node}@`),
    now: () => one(`select ${milliseconds('clock_timestamp()')} as value`),
    async takeOversSince(ms, node) {
      const found = await ask<{ value: number }>(
        `select ${milliseconds('at')} - $1 as value from proof_claim
          where former_name = $2 and ${milliseconds('at')} >= $1 and ${milliseconds('input_at')} <= $1 order by at`,
        [ms, node],
      );
      return found.map(({ value }) => value);
    },
    longestPauseAround: (ms) =>
      one(
        `select max(pause) as value from (
          select ${milliseconds('at')} as ended, ${milliseconds('at')} - coalesce(${milliseconds('lag(at) over (order by at)')}, $1) as pause
          from proof_write) as pauses
        where ended >= $1 and ended - pause <= $1 + 60000`,
        [ms],
      ),
    async read() {
      const violations = await ask<{ what: string }>('select what from proof_violation order by at');
      return {
        writes: await one('select count(*) as value from proof_write'),
        refused: await one('select count(*) as value from proof_refused'),
        takeOvers: await one('select count(*) as value from proof_claim where former is not null'),
        violations: violations.map(({ what }) => what),
      };
    },
    [Symbol.asyncDispose]: () => closeQuietly(database),
  };
}

const AWAY_LIMIT_MS = 90_000;

/** The database may be away, because a proof has killed it. */
async function untilAnswered<Value>(ask: () => Promise<Value>): Promise<Value> {
  const deadline = performance.now() + AWAY_LIMIT_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'E_STORE_AWAY')) throw error;
      if (performance.now() > deadline) throw error;
      await Bun.sleep(100);
    }
  }
}

async function closeQuietly(database: Database): Promise<void> {
  await database.close().catch(() => undefined);
}

function milliseconds(time: string): string {
  return `(extract(epoch from ${time}) * 1000)::float8`;
}

const TABLES = `
create table proof_place (id text primary key, name text not null, since timestamptz not null);
create table proof_claim (at timestamptz not null, agent text, key text, former text, former_name text, owner text,
  input_at timestamptz);
create table proof_input (swarm text, agent text, key text, seq bigint, at timestamptz not null, primary key (swarm, agent, key, seq));
create table proof_write (at timestamptz not null, writer text);
create table proof_refused (at timestamptz not null, writer text);
create table proof_violation (at timestamptz not null, what text not null);`;

/**
 * A node that lost its place joins again under another id, with new connections. So the place of a writer is the newest
 * one of its name that is older than the connection.
 */
const FUNCTIONS = `
create function proof_writer() returns text language sql as $$
  select id from proof_place, pg_stat_get_activity(pg_backend_pid()) as activity
  where name = session_user and since <= activity.backend_start order by since desc limit 1
$$;
create function proof_joined() returns trigger language plpgsql as $$
begin
  insert into proof_place values (new.id, new.name, new.since) on conflict do nothing;
  if new.name <> session_user then
    insert into proof_violation values (clock_timestamp(), new.name || ' joined as ' || session_user);
  end if;
  return null;
end $$;
create function proof_accepted() returns trigger language plpgsql as $$
begin
  insert into proof_input values (new.swarm, new.agent, new.key, new.seq, clock_timestamp()) on conflict do nothing;
  return null;
end $$;
create function proof_claimed() returns trigger language plpgsql as $$
declare
  former text := case when tg_op = 'UPDATE' then old.owner end;
  me text := proof_writer();
  named text := new.agent || '/' || new.key;
begin
  if tg_op = 'UPDATE' and (new.epoch < old.epoch or new.owner <> old.owner and new.epoch = old.epoch) then
    insert into proof_violation values (clock_timestamp(), named || ': a claim did not raise the epoch ' || old.epoch);
  end if;
  if new.owner is null or new.owner is not distinct from former then return null; end if;
  if new.owner is distinct from me then
    insert into proof_violation values (clock_timestamp(), named || ': ' || coalesce(me, session_user) || ' made ' || new.owner || ' the owner');
  end if;
  if exists (select from gdn_node where swarm = new.swarm and id = former and lease_until > now()) then
    insert into proof_violation values (clock_timestamp(), named || ': taken from a living owner by ' || new.owner);
  end if;
  insert into proof_claim values (clock_timestamp(), new.agent, new.key, former,
    (select name from proof_place where id = former), new.owner,
    (select min(at) from gdn_inbox join proof_input using (swarm, agent, key, seq)
      where swarm = new.swarm and agent = new.agent and key = new.key and pending));
  return null;
end $$;
create function proof_wrote() returns trigger language plpgsql as $$
declare
  me text := proof_writer();
begin
  if not exists (select from written) then return null; end if;
  if tg_table_name = 'gdn_frame' then insert into proof_write values (clock_timestamp(), me); end if;
  insert into proof_violation
    select distinct clock_timestamp(), written.agent || '/' || written.key || ': ' || tg_table_name || ' written by '
      || coalesce(me, session_user) || ', owned by ' || coalesce(owned.owner, 'nobody')
    from written left join gdn_instance as owned using (swarm, agent, key)
    where owned.owner is distinct from me;
  return null;
end $$;
create function proof_refused() returns trigger language plpgsql as $$
begin
  if current_query() like '%insert into gdn_frame%' and not exists (select from changed) then
    insert into proof_refused values (clock_timestamp(), session_user);
  end if;
  return null;
end $$;`;

const TRIGGERS = `
create trigger proof_joined after insert on gdn_node for each row execute function proof_joined();
create trigger proof_accepted after insert on gdn_inbox for each row execute function proof_accepted();
create trigger proof_claimed after insert or update of owner, epoch on gdn_instance
  for each row execute function proof_claimed();
create trigger proof_refused after update on gdn_instance referencing new table as changed
  for each statement execute function proof_refused();
${['gdn_frame', 'gdn_base', 'gdn_archive', 'gdn_answer']
  .map(
    (table) => `create trigger proof_wrote after insert on ${table} referencing new table as written
  for each statement execute function proof_wrote();`,
  )
  .join('\n')}`;
