/**
 * The table of counters: limits of models, and budgets. A row has the state of one counter with its open reservations, as
 * text, and a version that every change raises. After `keep_until`, nothing of the state counts any more. The names are in
 * the order of their bytes, so that the primary key finds those with the same beginning.
 */
export const counterTables = `
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
