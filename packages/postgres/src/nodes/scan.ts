/**
 * The scan: one statement that finds everything for which a node could get a hint. Its cost follows the pending input of
 * the swarm, not the number of its conversations: it reads the index of pending input, and the rows of those instances.
 */
import type { AgentAddress } from '@goondan/types';
import type { Row } from '../driver/database.ts';
import type { SwarmRows } from './swarm-rows.ts';

export interface Scan {
  /** Instances of this node with pending input. */
  readonly own: readonly PendingInput[];
  /** Instances with pending input that nobody owns, or whose owner has ended. */
  readonly free: readonly AgentAddress[];
  /** True if the owner of a free instance or of a connection has no row in `gdn_node`: somebody deleted it. */
  readonly hasOrphans: boolean;
  readonly isDraining: boolean;
  /** The deployed bundle; absent when there is none. */
  readonly deployed?: { readonly digest: string; readonly at: Date; readonly by: string };
}

export interface PendingInput {
  readonly instance: AgentAddress;
  /** The number of the newest pending event. */
  readonly last: number;
  /** The numbers of pending events with a cancel mark. */
  readonly cancelled: readonly number[];
}

interface ScanRow extends Row {
  readonly is_draining: boolean | null;
  readonly has_orphans: boolean;
  readonly deployed: string | null;
  readonly deployed_at: Date | null;
  readonly deployed_by: string | null;
  readonly agent: string | null;
  readonly key: string | null;
  readonly is_own: boolean | null;
  readonly is_orphan: boolean | null;
  readonly last: number | null;
  readonly cancelled: string | null;
}

/** The most instances that one scan returns. The next scan finds the others, because claimed and handled ones go away. */
const MOST_INSTANCES = 10_000;

export const SCAN = `with waiting as (
  select agent, key, max(seq) as last, string_agg(seq::text, ',') filter (where cancelled is not null) as cancelled
  from gdn_inbox where swarm = $1 and pending group by agent, key
), mine as (
  select w.agent, w.key, w.last, w.cancelled, coalesce(i.owner = $2, false) as is_own,
    i.owner is not null and n.id is null as is_orphan
  from waiting w join gdn_instance i on i.swarm = $1 and i.agent = w.agent and i.key = w.key
    left join gdn_node n on n.swarm = $1 and n.id = i.owner
  where i.owner is null or i.owner = $2 or n.id is null or n.lease_until <= now()
  limit ${MOST_INSTANCES}
)
select n.is_draining, exists (
    select 1 from gdn_connection c where c.swarm = $1 and c.owner is not null
      and not exists (select 1 from gdn_node gone where gone.swarm = $1 and gone.id = c.owner)
  ) as has_orphans, s.deployed, s.deployed_at, s.deployed_by, mine.*
from (select 1) as one left join gdn_node n on n.swarm = $1 and n.id = $2 left join gdn_swarm s on s.swarm = $1
  left join mine on true`;

export async function scan({ database, swarm }: SwarmRows, node: string): Promise<Scan> {
  const rows = await database.query<ScanRow>(SCAN, [swarm, node]);
  const [first] = rows;
  const found = rows.flatMap(({ agent, key, is_own: isOwn, last, cancelled }) =>
    agent === null || key === null
      ? []
      : [{ instance: { agentName: agent, instanceKey: key }, isOwn, last: last ?? 0, cancelled: numbersOf(cancelled) }],
  );
  return {
    own: found.filter(({ isOwn }) => isOwn === true),
    free: found.filter(({ isOwn }) => isOwn !== true).map(({ instance }) => instance),
    hasOrphans: first?.has_orphans === true || rows.some(({ is_orphan: isOrphan }) => isOrphan === true),
    isDraining: first?.is_draining === true,
    ...(first?.deployed && {
      deployed: { digest: first.deployed, at: first.deployed_at ?? new Date(0), by: first.deployed_by ?? '' },
    }),
  };
}

function numbersOf(list: string | null): readonly number[] {
  return list === null ? [] : list.split(',').map(Number);
}
