/** The statements of counters. Each can be repeated. */
import { counterLimits } from '@goondan/runtime/internal';

export interface CounterRow extends Readonly<Record<string, unknown>> {
  readonly name: string;
  /** Null if there is no row. */
  readonly version: number | null;
  readonly state: string | null;
  readonly now_ms: number;
  /** The ids of the living nodes. */
  readonly living: readonly string[];
}

/**
 * Reads the states of counters, the living nodes and the time, all of one moment: a reservation that the statement sees
 * belongs to a node whose row it sees. $1 swarm, $2 names.
 */
export const READ_COUNTERS = `
select given.name, kept.version, kept.state,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms,
  array(select id from gdn_node where swarm = $1 and lease_until > now()) as living
from unnest($2::text[]) as given (name)
left join gdn_counter as kept on kept.swarm = $1 and kept.name = given.name`;

/**
 * Adds rows of counters, and removes some whose windows are over. The result has a row unless there are too many. $1 swarm,
 * $2 names.
 */
export const ADD_COUNTERS = `
with old as (
  select name from gdn_counter where swarm = $1 and keep_until < now() and name <> all ($2::text[]) limit 100
), removed as (
  delete from gdn_counter as kept using old where kept.swarm = $1 and kept.name = old.name and kept.keep_until < now()
), room as (
  select count(*) < ${counterLimits.mostCounters} as is_there from (
    select from gdn_counter where swarm = $1 limit ${counterLimits.mostCounters}
  ) as counted
), added as (
  insert into gdn_counter (swarm, name) select $1, given.name from unnest($2::text[]) as given (name), room
  where room.is_there on conflict (swarm, name) do nothing
)
select 1 as one from room where is_there`;

export interface WriteOutcome extends Readonly<Record<string, unknown>> {
  readonly is_done: boolean;
  /** False when the lease of this node has ended. */
  readonly lives: boolean;
  /** The positions of the instances that this node does not own, from 1. */
  readonly lost: readonly number[];
}

/**
 * Writes the states of counters, all or none: only if every row still has the version that was read, the lease of the node
 * is valid, and the node owns the instances. The rows are locked in the order of their names, so that two nodes never wait
 * for each other. The instances are locked against claims until the states are written.
 *
 * $1 swarm, $2 node, $3 names, $4 versions, $5 states, $6 times until which they are kept, $7 to $9 agents, keys and epochs.
 */
export const WRITE_COUNTERS = `
with given as (
  select * from unnest($3::text[], $4::text::bigint[], $5::text[], $6::text::float8[]) as given (name, version, state, kept_ms)
), me as (
  select 1 from gdn_node where swarm = $1 and id = $2 and lease_until > clock_timestamp() for key share
), asked as (
  select * from unnest($7::text[], $8::text[], $9::text::bigint[]) with ordinality as asked (agent, key, epoch, position)
), owned as (
  select asked.position from asked
  join gdn_instance as i on i.swarm = $1 and i.agent = asked.agent and i.key = asked.key
    and i.owner = $2 and i.epoch = asked.epoch
  order by i.agent, i.key for share of i
), locked as (
  select kept.name from gdn_counter as kept join given on given.name = kept.name and given.version = kept.version
  where kept.swarm = $1 order by kept.name for update of kept
), judged as (
  select exists (select from me) as lives,
    (select count(*) from owned) = (select count(*) from asked) as is_owner,
    (select count(*) from locked) = cardinality($3::text[]) as is_same
), done as (
  update gdn_counter as kept
  set version = kept.version + 1, state = given.state, keep_until = to_timestamp(given.kept_ms / 1000)
  from given, judged
  where kept.swarm = $1 and kept.name = given.name and judged.lives and judged.is_owner and judged.is_same
  returning 1
)
select (select count(*) from done) = cardinality($3::text[]) as is_done, judged.lives,
  array(select position::int from asked where position not in (select position from owned)) as lost
from judged`;

/**
 * The names with a beginning are those from it to the beginning with the next last character, so the statement reads no
 * other rows. $1 swarm, $2 beginnings of names.
 */
export const DROP_COUNTERS = `
delete from gdn_counter as kept
using (select beginning, left(beginning, -1) || chr(ascii(right(beginning, 1)) + 1) as next
  from unnest($2::text[]) as given (beginning)) as given
where kept.swarm = $1 and kept.name collate "C" >= given.beginning and kept.name collate "C" < given.next`;
