import type { InboxEntry } from '@goondan/runtime/history';
import type { AgentAddress } from '@goondan/types';
import type { Database } from '../driver/database.ts';
import { decodeEvent } from './event-text.ts';

/** Lists the accepted events of an instance without a committed turn, oldest first. */
export async function readPending(
  database: Pick<Database, 'query'>,
  swarm: string,
  { agentName, instanceKey }: AgentAddress,
): Promise<readonly InboxEntry[]> {
  const rows = await database.query<PendingRow>(PENDING, [swarm, agentName, instanceKey]);
  return rows.map(({ seq, event, cancelled }) => ({
    seq,
    event: decodeEvent(event),
    ...(cancelled !== null && { cancelled }),
  }));
}

interface PendingRow extends Readonly<Record<string, unknown>> {
  readonly seq: number;
  readonly event: string;
  readonly cancelled: string | null;
}

const PENDING = `
select seq, event, cancelled from gdn_inbox
where swarm = $1 and agent = $2 and key = $3 and pending order by seq`;
