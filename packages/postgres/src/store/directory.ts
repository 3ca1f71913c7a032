/** The instances of a swarm, and the facts about the swarm that outlive its nodes, from their rows. */
import type { Directory, InstancePage, StoredInstance, SwarmList } from '@goondan/runtime/history';
import { followLinks, type RecordedAgent } from '@goondan/runtime/internal';
import type { AgentAddress } from '@goondan/types';
import type { Database } from '../driver/database.ts';

/** An instance whose node only claimed it, and wrote nothing, does not count. */
const IS_USED = '(last_seq > 0 or last_input > 0)';

export function openDirectory(database: Database, swarm: string): Directory {
  return {
    async exists() {
      const [row] = await database.query<{ readonly exists: boolean }>(EXISTS, [swarm]);
      return row?.exists === true;
    },
    async instances() {
      const rows = await database.query<AddressRow>(INSTANCES, [swarm]);
      return rows.map(addressOf);
    },
    async summary({ agentName, instanceKey }) {
      const [row] = await database.query<SummaryRow>(SUMMARY, [swarm, agentName, instanceKey]);
      if (row === undefined) return { messages: 0, pending: 0, deadLetters: 0 };
      const { messages, pending, letters: deadLetters, created_at: createdAt, updated_at: updatedAt } = row;
      const created = createdAt && { createdAt, updatedAt: updatedAt ?? createdAt };
      return { messages, pending, deadLetters, ...created };
    },
    async has({ agentName, instanceKey }) {
      return (await database.query(HAS, [swarm, agentName, instanceKey])).length > 0;
    },
    isNew: () => false,
    async lastUsed(instances) {
      const agents = instances.map(({ agentName }) => agentName);
      const keys = instances.map(({ instanceKey }) => instanceKey);
      const [row] = await database.query<AddressRow>(LAST_USED, [swarm, agents, keys]);
      return row && addressOf(row);
    },
    async changedAt() {
      const [row] = await database.query<{ readonly changed: number | null }>(CHANGED, [swarm]);
      return row?.changed || undefined;
    },
    async swarm() {
      const [row] = await database.query<SwarmRow>(SWARM, [swarm]);
      if (row === undefined || row.name === null) return undefined;
      return { swarm: row.name, ...(row.folder !== null && { folder: row.folder }) };
    },
    async describe(agentName) {
      const [row] = await database.query<{ readonly description: string }>(DESCRIBE, [swarm, agentName]);
      // Safe: only `describeAgent` writes these texts.
      return row && (JSON.parse(row.description) as RecordedAgent);
    },
  };
}

/** Reads a page of the instances of a swarm. It is read along the primary key, so it costs the same for any page. */
export async function listInstances(
  database: Pick<Database, 'query'>,
  swarm: string,
  { agents, most, after, hasLetters = false }: InstancePage,
): Promise<readonly StoredInstance[]> {
  const { agentName = '', instanceKey = '' } = after ?? {};
  const statement = hasLetters ? PAGE_WITH_LETTERS : PAGE;
  const rows = await database.query<ListedInstance>(statement, [swarm, agents, agentName, instanceKey, most]);
  return rows.map(({ node, ...at }) => ({ ...addressOf(at), ...(node !== null && { workingAt: node }) }));
}

/** Opens the list of the swarms in a database. */
export function openSwarms(database: Database): SwarmList & { close(): Promise<void> } {
  return {
    async list() {
      const rows = await database.query<ListedRow>(LIST);
      return rows.map(({ swarm, name, instances, updated_at: updatedAt }) => ({
        workspaceId: swarm,
        ...(name !== null && { swarm: name }),
        instances,
        ...(updatedAt !== null && { updatedAt }),
      }));
    },
    async ids() {
      return (await database.query<{ readonly swarm: string }>(IDS)).map(({ swarm }) => swarm);
    },
    async ofFolder(folder) {
      const rows = await database.query<{ readonly swarm: string; readonly name: string }>(OF_FOLDER, [
        followLinks(folder),
      ]);
      return rows.map(({ swarm, name }) => ({ swarm: name, workspaceId: swarm }));
    },
    close: () => database.close(),
  };
}

type AddressRow = Readonly<Record<'agent' | 'key', string>>;
type ListedInstance = AddressRow & { readonly node: string | null };

interface SummaryRow extends Readonly<Record<string, unknown>> {
  readonly messages: number;
  readonly pending: number;
  readonly letters: number;
  readonly created_at: Date | null;
  readonly updated_at: Date | null;
}

interface SwarmRow extends Readonly<Record<string, unknown>> {
  readonly name: string | null;
  readonly folder: string | null;
}

interface ListedRow extends Readonly<Record<string, unknown>> {
  readonly swarm: string;
  readonly name: string | null;
  readonly instances: number;
  readonly updated_at: Date | null;
}

function addressOf({ agent, key }: AddressRow): AgentAddress {
  return { agentName: agent, instanceKey: key };
}

const EXISTS = `
select exists (select from gdn_swarm where swarm = $1) or exists (select from gdn_instance where swarm = $1) as exists`;
const INSTANCES = `select agent, key from gdn_instance where swarm = $1 and ${IS_USED}`;
const page = (rows: string) => `
select agent, key, (select name from gdn_node as node where node.swarm = $1 and node.id = owner
  and lease_until > clock_timestamp() and exists (
    select from gdn_inbox as input where input.swarm = $1 and input.agent = instance.agent
      and input.key = instance.key and pending)) as node
from gdn_instance as instance
where swarm = $1 and agent = any ($2::text[]) and (agent, key) > ($3, $4) and ${rows}
order by agent, key limit $5`;
const PAGE = page(IS_USED);
const PAGE_WITH_LETTERS = page('letters > 0');
const SUMMARY = `
select messages, letters, created_at, updated_at,
  (select count(*) from gdn_inbox where swarm = $1 and agent = $2 and key = $3 and pending) as pending
from gdn_instance where swarm = $1 and agent = $2 and key = $3`;
const HAS = `select 1 as found from gdn_instance where swarm = $1 and agent = $2 and key = $3 and ${IS_USED}`;
const LAST_USED = `
select agent, key from gdn_instance join unnest($2::text[], $3::text[]) as wanted (agent, key) using (agent, key)
where swarm = $1 and version > 0 order by updated_at desc limit 1`;
const CHANGED = `
select greatest((select max(place) from gdn_instance where swarm = $1), (select changed from gdn_swarm where swarm = $1))
  as changed`;
const SWARM = `select name, folder from gdn_swarm where swarm = $1`;
const DESCRIBE = `select description from gdn_agent where swarm = $1 and agent = $2`;
const KNOWN = `
known as (select swarm from gdn_swarm union select distinct swarm from gdn_instance)`;
const IDS = `with ${KNOWN} select swarm from known`;
const LIST = `
with ${KNOWN}
select known.swarm, gdn_swarm.name, count(gdn_instance.swarm) as instances, max(gdn_instance.updated_at) as updated_at
from known left join gdn_swarm using (swarm)
  left join gdn_instance on gdn_instance.swarm = known.swarm and ${IS_USED}
group by known.swarm, gdn_swarm.name`;
const OF_FOLDER = `
select swarm, name from gdn_swarm where folder = $1 and name is not null
order by (select max(last_at) from gdn_log where gdn_log.swarm = gdn_swarm.swarm) desc nulls last`;
