/**
 * Claims of instances and connections, one statement each.
 *
 * Invariants:
 * 1. A claim takes an owner's place only if the owner's row says that its lease has ended. The row is compared with
 *    `now()`, the time at which the statement began: its snapshot is not older. With `clock_timestamp()`, a claim that
 *    waits for a lock would see a renewed lease as ended.
 * 2. Each claim raises the epoch, and no epoch of an instance is used twice, even if its rows were deleted meanwhile: an
 *    epoch is at least the time of the database in milliseconds.
 * 3. A node whose own lease has ended claims nothing.
 * 4. A claim from an ended node counts that node against the turn that had begun there, once, however often the claim is
 *    repeated. A node that left or was drained is no owner any more, so it does not count. Neither does one whose turn
 *    waited for a person, nor one that was only cut off from the database (`forgiveNode`).
 */
import type { AgentAddress } from '@goondan/types';
import type { Row } from '../driver/database.ts';
import { freeHint } from './hints.ts';
import type { SwarmRows } from './swarm-rows.ts';

export interface ClaimAnswer {
  /** The epoch of the claim; `undefined` when another node is the owner. */
  readonly epoch: number | undefined;
  /** The name of the ended node whose unfinished turn the instance has. */
  readonly takenFrom?: string;
  /** True if an instance has no frame yet. */
  readonly isNew?: boolean;
  /** False when the lease of this node has ended. */
  readonly isLiving: boolean;
}

interface ClaimRow extends Row {
  readonly epoch: number | null;
  readonly is_new?: boolean | null;
  readonly taken_from?: string | null;
  readonly lives: boolean;
}

/** The most nodes that are noted for an event. It is a dead letter long before. */
const MOST_LOST_NODES = 100;

const MILLISECONDS = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

const isOwnerEnded = (table: string) =>
  `exists (select 1 from gdn_node n where n.swarm = ${table}.swarm and n.id = ${table}.owner and n.lease_until <= now())`;

/** The own node. The lock keeps its row until the claim is committed; it does not wait for a renewal. */
const ME = `select 1 from gdn_node where swarm = $1 and id = $2 and lease_until > clock_timestamp() for key share`;

/** A claim that is repeated by its owner succeeds, because the answer of the first one may be lost. */
const isFree = (table: string) => `${table}.owner is null or ${table}.owner = $2 or ${isOwnerEnded(table)}`;

/** $1 swarm, $2 the own node, $3 agent, $4 key. `claimed` is the claim. */
const COUNTED = `before as (
  select owner from gdn_instance as i
  where swarm = $1 and agent = $3 and key = $4 and owner <> $2 and ${isOwnerEnded('i')}
), counted as (
  update gdn_inbox as b set lost_nodes = b.lost_nodes || before.owner from before, claimed
  where b.swarm = $1 and b.agent = $3 and b.key = $4 and b.pending and b.began
    and before.owner <> all (b.lost_nodes) and cardinality(b.lost_nodes) < ${MOST_LOST_NODES}
    and not exists (select from gdn_approval q where q.swarm = $1 and q.agent = $3 and q.key = $4
      and not q.is_answered and q.expires_at > clock_timestamp())
)`;

export async function claimInstance(
  { database, swarm }: SwarmRows,
  id: string,
  { agentName, instanceKey }: AgentAddress,
): Promise<ClaimAnswer> {
  const [row] = await database.query<ClaimRow>(
    `with me as (${ME}), claimed as (
  insert into gdn_instance as i (swarm, owner, agent, key, epoch)
  select $1, $2, $3::text, $4::text, ${MILLISECONDS} from me
  on conflict (swarm, agent, key) do update set owner = $2, epoch = greatest(i.epoch + 1, ${MILLISECONDS})
  where ${isFree('i')}
  returning epoch, last_seq = 0 as is_new
), ${COUNTED}
select (select epoch from claimed) as epoch, (select is_new from claimed) as is_new, exists (select 1 from me) as lives,
  (select n.name from gdn_instance i join gdn_node n on n.swarm = i.swarm and n.id = i.owner
    where i.swarm = $1 and i.agent = $3 and i.key = $4 and i.owner <> $2 and exists (select 1 from gdn_inbox b
      where b.swarm = $1 and b.agent = $3 and b.key = $4 and b.pending and b.began)) as taken_from`,
    [swarm, id, agentName, instanceKey],
  );
  return answerOf(row);
}

/**
 * Takes a node back from the turns that it counts against (invariant 4): it lived, but was cut off from the database. Its
 * instances must be free before, so that no later claim counts it.
 */
export async function forgiveNode({ database, swarm }: SwarmRows, id: string): Promise<void> {
  await database.query(
    'update gdn_inbox set lost_nodes = array_remove(lost_nodes, $2) where swarm = $1 and pending and $2 = any (lost_nodes)',
    [swarm, id],
  );
}

/** Frees an instance that this claim owns. If it has input, the other nodes get a hint. */
export async function releaseInstance(
  { database, swarm, channel }: SwarmRows,
  id: string,
  { agentName, instanceKey }: AgentAddress,
  epoch: number,
): Promise<void> {
  await database.query(
    `with freed as (
  update gdn_instance set owner = null where swarm = $1 and owner = $2 and agent = $3 and key = $4 and epoch = $5
  returning agent, key
)
select ${freeHint(channel, 'agent', 'key')} from freed
where exists (select 1 from gdn_inbox b where b.swarm = $1 and b.agent = $3 and b.key = $4 and b.pending)`,
    [swarm, id, agentName, instanceKey, epoch],
  );
}

export async function claimConnection(
  { database, swarm }: SwarmRows,
  id: string,
  connection: string,
): Promise<ClaimAnswer> {
  const [row] = await database.query<ClaimRow>(
    `with me as (${ME}), claimed as (
  insert into gdn_connection as c (swarm, owner, connection, epoch) select $1, $2, $3::text, ${MILLISECONDS} from me
  on conflict (swarm, connection) do update set owner = $2, epoch = greatest(c.epoch + 1, ${MILLISECONDS})
  where ${isFree('c')}
  returning epoch
)
select (select epoch from claimed) as epoch, exists (select 1 from me) as lives`,
    [swarm, id, connection],
  );
  return answerOf(row);
}

function answerOf(row: ClaimRow | undefined): ClaimAnswer {
  const { epoch, taken_from: takenFrom } = row ?? {};
  const from = takenFrom === undefined || takenFrom === null ? {} : { takenFrom };
  return { epoch: epoch ?? undefined, isNew: row?.is_new === true, isLiving: row?.lives === true, ...from };
}
