/**
 * The tables of a store. A change of this text needs another `SCHEMA_VERSION`.
 *
 * The key of the instance leads every primary key of its tables, so that a distributed PostgreSQL can keep an instance in one
 * place. Texts are `text` and never `jsonb`, which would change them.
 */

/**
 * Conversations, their input and their answers. `lost_nodes` has the nodes that ended while they ran the turn of an event.
 * Every new instance gets a greater `place` than all before it, and every
 * deletion gives the swarm a greater `changed`. So lists of instances know when they are out of date.
 */
const instanceTables = `
create table gdn_instance (
  swarm text not null,
  agent text not null,
  key text not null,
  owner text,
  epoch bigint not null default 0,
  last_input bigint not null default 0,
  handled bigint not null default 0,
  pending_bytes bigint not null default 0,
  last_seq bigint not null default 0,
  created_at timestamptz,
  updated_at timestamptz,
  version bigint not null default 0,
  messages bigint not null default 0,
  letters bigint not null default 0,
  checkpoint text,
  checkpoint_seq bigint not null default 0,
  history_start text,
  place bigint generated always as identity,
  primary key (swarm, agent, key)
);
create index gdn_instance_letters on gdn_instance (swarm, agent, key) where letters > 0;
create index gdn_instance_owner on gdn_instance (swarm, owner) where owner is not null;
create index gdn_instance_place on gdn_instance (swarm, place);

create table gdn_inbox (
  swarm text not null,
  agent text not null,
  key text not null,
  seq bigint not null,
  event_id text not null,
  attempt text not null,
  event text,
  cancelled text,
  began boolean not null default false,
  lost_nodes text[] not null default '{}',
  pending boolean not null default true,
  caller_agent text,
  caller_key text,
  primary key (swarm, agent, key, seq),
  unique (swarm, agent, key, event_id)
);
create index gdn_inbox_pending on gdn_inbox (swarm, agent, key, seq) where pending;
create index gdn_inbox_caller on gdn_inbox (swarm, caller_agent, caller_key) where pending and caller_agent is not null;

create table gdn_frame (
  swarm text not null,
  agent text not null,
  key text not null,
  seq bigint not null,
  last bigint not null,
  line text not null,
  primary key (swarm, agent, key, seq)
);

create table gdn_base (
  swarm text not null,
  agent text not null,
  key text not null,
  part bigint not null,
  lines text not null,
  primary key (swarm, agent, key, part)
);

create table gdn_archive (
  swarm text not null,
  agent text not null,
  key text not null,
  seq bigint not null,
  last bigint not null,
  lines text not null,
  primary key (swarm, agent, key, seq)
);

create table gdn_answer (
  swarm text not null,
  agent text not null,
  key text not null,
  event_id text not null,
  seq bigint not null,
  caller_agent text,
  caller_key text,
  reply text not null,
  primary key (swarm, agent, key, event_id)
);
create index gdn_answer_caller on gdn_answer (swarm, caller_agent, caller_key);

create table gdn_approval (
  swarm text not null,
  id text not null,
  place bigint generated always as identity,
  record text not null,
  is_answered boolean not null default false,
  agent text not null,
  key text not null,
  expires_at timestamptz not null,
  primary key (swarm, id)
);

create table gdn_approval_change (
  swarm text not null,
  number bigint not null,
  id text not null,
  record text,
  primary key (swarm, number)
);
`;

/** Swarms, nodes, connections, deployed bundles and tokens. */
const nodeTables = `
create table gdn_swarm (
  swarm text primary key,
  name text,
  folder text,
  changed bigint not null default 0,
  approval_changes bigint not null default 0,
  deployed text,
  deployed_at timestamptz,
  deployed_by text
);

create table gdn_agent (
  swarm text not null,
  agent text not null,
  description text not null,
  primary key (swarm, agent)
);

create table gdn_node (
  swarm text not null,
  id text not null,
  name text not null,
  start text not null,
  since timestamptz not null default clock_timestamp(),
  lease_until timestamptz not null,
  address text,
  certificate text,
  token text,
  version text not null,
  load bigint not null default 0,
  instances bigint not null default 0,
  is_draining boolean not null default false,
  bundle text,
  refused text,
  refusal text,
  primary key (swarm, id)
);

create table gdn_connection (
  swarm text not null,
  connection text not null,
  owner text,
  epoch bigint not null default 0,
  folder bytea,
  primary key (swarm, connection)
);

create table gdn_bundle (
  swarm text not null,
  digest text not null,
  bytes bytea not null,
  at timestamptz not null default clock_timestamp(),
  primary key (swarm, digest)
);

create table gdn_token (
  name text primary key,
  hash text not null unique,
  scope text not null check (scope in ('operate', 'read')),
  created_at timestamptz not null default clock_timestamp()
);
`;

/**
 * Records for people: traces, runtime events and log lines. Lines are kept in compressed chunks, in the order of `part`.
 * `bytes` is the size before compression.
 */
const recordTables = `
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
`;

/**
 * The model calls that a swarm has paid for, by day. The commit of a turn adds to them, in its own statement. `key` is empty
 * for the deleted conversations of an agent, and `extension` for the calls of steps.
 */
const usageTables = `
create table gdn_spending (
  swarm text not null,
  agent text not null,
  key text not null,
  day text not null,
  provider text not null,
  model text not null,
  extension text not null,
  calls bigint not null,
  input bigint not null,
  output bigint not null,
  total bigint not null,
  cached bigint,
  written bigint,
  reasoning bigint,
  primary key (swarm, agent, key, day, provider, model, extension)
);
`;

/** Images and files: each stored once, in pieces, with the conversations that use it. */
const fileTables = `
create table gdn_blob (
  swarm text not null,
  digest text not null,
  size bigint not null,
  is_whole boolean not null default false,
  touched bigint not null default 0,
  primary key (swarm, digest)
);

create table gdn_blob_piece (
  swarm text not null,
  digest text not null,
  part bigint not null,
  bytes bytea not null,
  primary key (swarm, digest, part)
);

create table gdn_blob_use (
  swarm text not null,
  agent text not null,
  key text not null,
  digest text not null,
  named boolean not null default false,
  since timestamptz not null default clock_timestamp(),
  primary key (swarm, agent, key, digest)
);
create index gdn_blob_use_digest on gdn_blob_use (swarm, digest);
`;

/**
 * Counters: limits of models, and budgets. A row has the state of one counter with its open reservations, as text, and a
 * version that every change raises. After `keep_until`, nothing of the state counts any more. The names are in the order of
 * their bytes, so that the primary key finds those with the same beginning.
 */
const counterTables = `
create table gdn_counter (
  swarm text not null,
  name text collate "C" not null,
  version bigint not null default 0,
  state text not null default '',
  keep_until timestamptz,
  primary key (swarm, name)
);
create index gdn_counter_old on gdn_counter (swarm, keep_until) where keep_until is not null;
`;

export const tables = `${instanceTables}${nodeTables}${recordTables}${usageTables}${fileTables}${counterTables}`;
