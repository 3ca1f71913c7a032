/**
 * The model calls that a swarm has paid for, by day. The commit of a turn adds to them, in its own statement. `key` is empty
 * for the deleted conversations of an agent, and `extension` for the calls of steps.
 */
export const usageTables = `
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
