/** Finds rows that somebody changed by hand, so that a conversation does not start. Nodes go on with all others. */
import type { Database, Row } from '../driver/database.ts';
import { LAST_FRAME } from '../store/conversation-log.ts';

/** The most conversations that are named. */
const MOST_NAMED = 20;
/** The first server with `is json`. */
const HAS_IS_JSON = 160_000;

interface DamageRow extends Row {
  readonly swarm: string;
  readonly agent: string;
  readonly key: string;
  readonly problem: string;
}

/** Returns a sentence for each damaged conversation, up to a number. */
export async function findDamage(database: Pick<Database, 'query'>, server: number): Promise<readonly string[]> {
  const isJson = server >= HAS_IS_JSON ? `event is json object` : `event like '{%}'`;
  const rows = await database.query<DamageRow>(
    `select swarm, agent, key, format('the frames in gdn_frame end at %s, and last_seq in gdn_instance is %s',
  ${LAST_FRAME}, last_seq) as problem
from gdn_instance own where last_seq <> ${LAST_FRAME}
union all
select swarm, agent, key, format('the event with seq %s in gdn_inbox is not JSON', seq)
from gdn_inbox where pending and not coalesce(${isJson}, false)
union all
select swarm, agent, key, format('its owner %s has no row in gdn_node; the next node that gets input for it takes it over', owner)
from gdn_instance i where owner is not null
  and not exists (select 1 from gdn_node n where n.swarm = i.swarm and n.id = i.owner)
limit ${MOST_NAMED}`,
  );
  return rows.map(
    ({ swarm, agent, key, problem }) =>
      `Rows of agent ${agent}, instance ${JSON.stringify(key)} of swarm "${swarm}" were changed by hand: ${problem}.`,
  );
}
