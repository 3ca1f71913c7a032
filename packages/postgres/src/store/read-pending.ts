import type { InboxEntry, PendingEvent } from '@goondan/runtime/history';
import type { AgentAddress } from '@goondan/types';
import type { Database } from '../driver/database.ts';
import { decodeEvent } from './event-text.ts';

/** Lists the accepted events of an instance without a committed turn, oldest first. */
export async function readPending(
  database: Pick<Database, 'query'>,
  swarm: string,
  instance: AgentAddress,
): Promise<readonly InboxEntry[]> {
  const { agentName, instanceKey } = instance;
  const rows = await database.query<PendingRow>(PENDING, [swarm, agentName, instanceKey]);
  return rows.map(({ seq, event, cancelled }) => ({
    seq,
    event: decodeEvent(instance, seq, event),
    ...(cancelled !== null && { cancelled }),
  }));
}

interface PendingRow extends Readonly<Record<string, unknown>> {
  readonly seq: number;
  readonly event: string | null;
  readonly cancelled: string | null;
}

const PENDING = `
select seq, event, cancelled from gdn_inbox
where swarm = $1 and agent = $2 and key = $3 and pending order by seq`;

/** The most events that one call lists. */
const MOST_FOUND = 1_000;

/** Lists pending events of all instances of a swarm whose ids begin with one of these texts. */
export async function findPending(
  database: Pick<Database, 'query'>,
  swarm: string,
  beginnings: readonly string[],
): Promise<readonly PendingEvent[]> {
  const rows = await database.query<{ readonly agent: string; readonly key: string; readonly event_id: string }>(
    `select agent, key, event_id from gdn_inbox
where swarm = $1 and pending and exists (select 1 from unnest($2::text[]) as start (text) where starts_with(event_id, text))
order by agent, key, seq limit ${MOST_FOUND}`,
    [swarm, beginnings],
  );
  return rows.map(({ agent, key, event_id: eventId }) => ({
    instance: { agentName: agent, instanceKey: key },
    eventId,
  }));
}
