/**
 * The graph of instances that wait for each other, as it is in the rows: a pending request is an edge from its caller to
 * its callee. A request with a cancel mark is not one: its caller does not wait any more.
 */
import { addressKey, isSameAddress } from '@goondan/runtime/internal';
import type { AgentAddress } from '@goondan/types';
import type { Row } from '../driver/database.ts';
import type { SwarmRows } from './swarm-rows.ts';

/** The most edges that are read. A chain of requests is much shorter. */
const MOST_EDGES = 10_000;

interface EdgeRow extends Row {
  readonly from_agent: string;
  readonly from_key: string;
  readonly agent: string;
  readonly key: string;
}

/** `union` drops edges that were found before, so the statement ends, and its cost follows the number of edges. */
const EDGES = `with recursive edge as (
  select caller_agent as from_agent, caller_key as from_key, agent, key
  from gdn_inbox
  where swarm = $1 and caller_agent = $2 and caller_key = $3 and pending and cancelled is null
  union
  select b.caller_agent, b.caller_key, b.agent, b.key
  from edge join gdn_inbox b on b.swarm = $1 and b.caller_agent = edge.agent and b.caller_key = edge.key
  where b.pending and b.cancelled is null and not (edge.agent = $2 and edge.key = $3)
)
select * from edge limit ${MOST_EDGES}`;

/** Returns a circle that begins and ends with the instance; `undefined` when there is none. */
export async function readCircle(
  { database, swarm }: SwarmRows,
  instance: AgentAddress,
): Promise<readonly AgentAddress[] | undefined> {
  const rows = await database.query<EdgeRow>(EDGES, [swarm, instance.agentName, instance.instanceKey]);
  const next = new Map<string, AgentAddress[]>();
  for (const { from_agent: agentName, from_key: instanceKey, agent, key } of rows) {
    const from = addressKey({ agentName, instanceKey });
    next.set(from, [...(next.get(from) ?? []), { agentName: agent, instanceKey: key }]);
  }
  return shortestCircle(instance, (address) => next.get(addressKey(address)) ?? []);
}

function shortestCircle(
  instance: AgentAddress,
  awaited: (address: AgentAddress) => readonly AgentAddress[],
): readonly AgentAddress[] | undefined {
  const seen = new Set<string>();
  let paths: (readonly AgentAddress[])[] = [[instance]];
  while (paths.length > 0) {
    const longer: (readonly AgentAddress[])[] = [];
    for (const path of paths) {
      for (const address of awaited(path.at(-1) ?? instance)) {
        if (isSameAddress(address, instance)) return [...path, address];
        if (seen.has(addressKey(address))) continue;
        seen.add(addressKey(address));
        longer.push([...path, address]);
      }
    }
    paths = longer;
  }
  return undefined;
}

/** The instances that wait for people: those that ask for an approval, and those that wait for one of these. */
const HELD = `with recursive held as (
  select agent, key from gdn_approval where swarm = $1 and not is_answered and expires_at > clock_timestamp()
  union
  select b.caller_agent, b.caller_key
  from held join gdn_inbox b on b.swarm = $1 and b.agent = held.agent and b.key = held.key
  where b.pending and b.cancelled is null and b.caller_agent is not null
)
select agent, key from held
join unnest($2::text[], $3::text[]) as asked (asked_agent, asked_key) on asked_agent = agent and asked_key = key`;

/** Lists those of the instances that wait for people, directly or through other agents. */
export async function readHeld(
  { database, swarm }: SwarmRows,
  instances: readonly AgentAddress[],
): Promise<readonly AgentAddress[]> {
  const asked = [...new Map(instances.map((instance) => [addressKey(instance), instance])).values()];
  const rows = await database.query<{ readonly agent: string; readonly key: string }>(HELD, [
    swarm,
    asked.map(({ agentName }) => agentName),
    asked.map(({ instanceKey }) => instanceKey),
  ]);
  return rows.map(({ agent, key }) => ({ agentName: agent, instanceKey: key }));
}
