/**
 * The tables of conversations, their input and their answers. The key of the instance leads every primary key, so that a
 * distributed PostgreSQL can keep an instance in one place. Texts are `text` and never `jsonb`, which would change them.
 */
export const instanceTables = `
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
  primary key (swarm, agent, key)
);
create index gdn_instance_letters on gdn_instance (swarm, agent, key) where letters > 0;
create index gdn_instance_owner on gdn_instance (swarm, owner) where owner is not null;

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
