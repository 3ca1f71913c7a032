/** The tables of swarms, nodes, connections, deployed bundles and tokens. */
export const nodeTables = `
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
