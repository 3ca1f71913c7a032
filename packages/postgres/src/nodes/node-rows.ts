/**
 * The rows of nodes. A node lives while its `lease_until` is in the future of the database's clock.
 *
 * Invariants:
 * 1. A lease that has ended is never renewed, and an id is never used again. So a node that was seen as ended has ended.
 * 2. The row of an ended node stays as long as an instance or a connection names it as its owner. A missing row is not a
 *    sign of an ended node: it can also belong to a node that joined after the statement began.
 */
import type { ClusterNode, NodeFacts } from '@goondan/runtime/history';
import { GoondanError } from '@goondan/types';
import type { Row } from '../driver/database.ts';
import { scanHint } from './hints.ts';
import type { SwarmRows } from './swarm-rows.ts';
import { hashOf } from './tokens.ts';

export interface LivingNode extends ClusterNode {
  readonly id: string;
}

interface NodeRow extends Row {
  readonly id: string;
  readonly name: string;
  readonly since: Date;
  readonly address: string | null;
  readonly certificate: string | null;
  readonly version: string;
  readonly load: number;
  readonly instances: number;
  readonly is_draining: boolean;
  readonly bundle: string | null;
  readonly refused: string | null;
  readonly refusal: string | null;
}

const COLUMNS =
  'id, name, since, address, certificate, version, load, instances, is_draining, bundle, refused, refusal';
/** The end of a lease that begins now. `$3` is its length in milliseconds. */
const LEASE_END = `clock_timestamp() + $3::float8 * interval '1 millisecond'`;

/**
 * Adds the row of a node. The leases of earlier starts that have ended for certain end now.
 *
 * **Errors** — `E_NODE_TAKEN`.
 */
export async function insertNode(
  { database, swarm }: SwarmRows,
  id: string,
  leaseMs: number,
  { name, start, ended = [], version, control, token }: NodeFacts,
): Promise<void> {
  const inserted = await database.query(
    `with earlier as (
  update gdn_node set lease_until = clock_timestamp()
  where swarm = $1 and name = $4 and ${HAS_ENDED} and id <> $2 and lease_until > clock_timestamp()
)
insert into gdn_node (swarm, id, lease_until, name, start, version, address, certificate, token)
select $1, $2, ${LEASE_END}, $4::text, $5::text, $6::text, $7::text, $8::text, $9::text
where not exists (
  select 1 from gdn_node
  where swarm = $1 and name = $4 and id <> $2 and not ${HAS_ENDED} and lease_until > clock_timestamp()
)
on conflict (swarm, id) do update set lease_until = excluded.lease_until
returning id`,
    [
      ...[swarm, id, leaseMs, name, start, version, control?.address ?? null, control?.certificate ?? null],
      ...[token === undefined ? null : hashOf(token), ended.join('\n')],
    ],
  );
  if (inserted.length === 0) throw taken(swarm, name);
}

/** True for a start of the list `$10`. */
const HAS_ENDED = `start = any(string_to_array($10::text, E'\\n'))`;

/**
 * Refuses a name that two nodes took at the same moment: neither row was there when the other one was added. Both are
 * refused then.
 */
export async function refuseTwin(rows: SwarmRows, id: string, name: string): Promise<void> {
  const twins = await rows.database.query(
    `select id from gdn_node
where swarm = $1 and name = $3 and id <> $2 and lease_until > clock_timestamp()`,
    [rows.swarm, id, name],
  );
  if (twins.length === 0) return;
  await endLease(rows, id);
  throw taken(rows.swarm, name);
}

function taken(swarm: string, name: string): GoondanError {
  return new GoondanError('E_NODE_TAKEN', `A living node of swarm "${swarm}" has the name "${name}".`);
}

export interface Renewal {
  /** The own row, if the lease was renewed. */
  readonly own: LivingNode | undefined;
  /** The living nodes, the own one included. */
  readonly nodes: readonly LivingNode[];
}

/** Renews a lease that has not ended, and lists the living nodes, in one statement. */
export async function renewLease(
  { database, swarm }: SwarmRows,
  id: string,
  leaseMs: number,
  { load, instances }: Pick<ClusterNode, 'load' | 'instances'>,
): Promise<Renewal> {
  const found = await database.query<NodeRow>(
    `with own as (
  update gdn_node set lease_until = ${LEASE_END}, load = $4, instances = $5
  where swarm = $1 and id = $2 and lease_until > clock_timestamp()
  returning ${COLUMNS}
)
select ${COLUMNS} from own
union all
select ${COLUMNS} from gdn_node where swarm = $1 and id <> $2 and lease_until > clock_timestamp()`,
    [swarm, id, leaseMs, load, instances],
  );
  const nodes = found.map(nodeOf);
  return { own: nodes.find((node) => node.id === id), nodes };
}

/** Lists the living nodes of a swarm. */
export async function listNodes({ database, swarm }: SwarmRows): Promise<readonly LivingNode[]> {
  const found = await database.query<NodeRow>(
    `select ${COLUMNS} from gdn_node where swarm = $1 and lease_until > clock_timestamp()`,
    [swarm],
  );
  return found.map(nodeOf);
}

/** Asks a node to give up its instances. **Errors** — `E_NODE_UNKNOWN`. */
export async function drainNode({ database, swarm, channel }: SwarmRows, name: string): Promise<void> {
  const asked = await database.query(
    `with asked as (
  update gdn_node set is_draining = true where swarm = $1 and name = $2 and lease_until > clock_timestamp()
  returning id
)
select ${scanHint(channel)} from asked`,
    [swarm, name],
  );
  if (asked.length === 0) {
    throw new GoondanError('E_NODE_UNKNOWN', `No living node of swarm "${swarm}" has the name "${name}".`);
  }
}

/** Ends a lease and frees the instances and the connections of the node. The row stays (invariant 2). */
export async function endLease({ database, swarm, channel }: SwarmRows, id: string): Promise<void> {
  await database.query(
    `with node as (
  update gdn_node set lease_until = clock_timestamp() where swarm = $1 and id = $2 and lease_until > clock_timestamp()
), instances as (
  update gdn_instance set owner = null where swarm = $1 and owner = $2
), connections as (
  update gdn_connection set owner = null where swarm = $1 and owner = $2
)
select ${scanHint(channel)}`,
    [swarm, id],
  );
}

/**
 * Frees instances and connections whose owner has no row, because somebody deleted it. Invariant 2 holds nevertheless: the
 * statement sees claims and nodes at one moment, and a node adds its row before it claims.
 */
export async function freeOrphans({ database, swarm }: SwarmRows): Promise<void> {
  await database.query(
    `with recursive owner_of_instances as (
  (select min(owner) as owner from gdn_instance where swarm = $1 and owner is not null)
  union all
  select (select min(i.owner) from gdn_instance i where i.swarm = $1 and i.owner > before.owner)
  from owner_of_instances before where before.owner is not null
), owners as materialized (
  select owner from owner_of_instances where owner is not null
  union select owner from gdn_connection where swarm = $1 and owner is not null
), gone as materialized (
  select owner from owners where not exists (select 1 from gdn_node n where n.swarm = $1 and n.id = owners.owner)
), instances as (
  update gdn_instance i set owner = null from gone where i.swarm = $1 and i.owner = gone.owner
)
update gdn_connection c set owner = null from gone where c.swarm = $1 and c.owner = gone.owner`,
    [swarm],
  );
}

/** The most sleeping instances of ended nodes that one call frees. */
const MOST_FREED = 10_000;

/**
 * Removes the rows of nodes that ended an hour ago, and frees their sleeping instances. After an hour, no statement of
 * such a node is under way.
 */
export async function removeEndedNodes({ database, swarm }: SwarmRows): Promise<void> {
  await database.query(
    `with ended as (
  select id from gdn_node where swarm = $1 and lease_until < now() - interval '1 hour'
), owned as (
  select i.agent, i.key, i.owner from gdn_instance i join ended on i.owner = ended.id
  where i.swarm = $1 limit ${MOST_FREED}
), freed as (
  update gdn_instance i set owner = null from owned
  where i.swarm = $1 and i.agent = owned.agent and i.key = owned.key and i.owner = owned.owner
)
delete from gdn_node n using ended
where n.swarm = $1 and n.id = ended.id and not exists (select 1 from owned where owned.owner = ended.id)
  and not exists (select 1 from gdn_instance i where i.swarm = $1 and i.owner = ended.id)
  and not exists (select 1 from gdn_connection c where c.swarm = $1 and c.owner = ended.id)`,
    [swarm],
  );
}

function nodeOf(row: NodeRow): LivingNode {
  const { id, name, since, address, certificate, version, load, instances, is_draining: isDraining } = row;
  const control = address !== null && certificate !== null ? { address, certificate } : undefined;
  const refused = row.refused === null ? {} : { refused: { digest: row.refused, problem: row.refusal ?? '' } };
  const bundle = row.bundle === null ? undefined : { digest: row.bundle, ...refused };
  return {
    id,
    name,
    since,
    version,
    load,
    instances,
    isDraining,
    ...(control && { control }),
    ...(bundle && { bundle }),
  };
}
