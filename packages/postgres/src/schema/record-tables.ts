/**
 * The tables of records for people: traces, runtime events and log lines. Lines are kept in compressed chunks, in the
 * order of `part`. `bytes` is the size before compression.
 *
 * Every new instance gets a greater `place` than all before it, and every deletion gives the swarm a greater `changed`. So
 * lists of instances know when they are out of date.
 */
export const recordTables = `
create table gdn_traced_turn (
  swarm text not null,
  agent text not null,
  key text not null,
  trace text not null,
  turn text not null,
  at text not null,
  bytes bigint not null,
  primary key (swarm, agent, key, trace, turn)
);
create index gdn_traced_turn_at on gdn_traced_turn (swarm, at, agent, key, trace, turn);
create index gdn_traced_turn_trace on gdn_traced_turn (swarm, trace);
create index gdn_traced_turn_turn on gdn_traced_turn (swarm, turn);

create table gdn_trace_chunk (
  swarm text not null,
  agent text not null,
  key text not null,
  trace text not null,
  turn text not null,
  part bigint generated always as identity,
  lines bytea not null,
  primary key (swarm, agent, key, trace, turn, part)
);

create table gdn_runtime_event (
  swarm text not null,
  agent text not null,
  key text not null,
  part bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  bytes bigint not null,
  lines bytea not null,
  primary key (swarm, agent, key, part)
);
create index gdn_runtime_event_part on gdn_runtime_event (swarm, part);

create table gdn_log (
  swarm text not null,
  part bigint generated always as identity,
  node text not null,
  last_at text not null,
  bytes bigint not null,
  lines bytea not null,
  primary key (swarm, part)
);
create index gdn_log_last on gdn_log (swarm, last_at, part);

alter table gdn_instance add column place bigint generated always as identity;
create index gdn_instance_place on gdn_instance (swarm, place);
`;
