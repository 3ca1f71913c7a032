/** The tables of images and files: each stored once, in pieces, with the conversations that use it. */
export const fileTables = `
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
