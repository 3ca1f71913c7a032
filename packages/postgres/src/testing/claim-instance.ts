import type { AgentAddress } from '@goondan/types';
import type { Database } from '../driver/database.ts';

/** Makes a node the owner of an instance, as a claim does, without a lease. Returns the epoch. For tests of the store. */
export async function claimInstance(
  database: Pick<Database, 'query'>,
  swarm: string,
  { agentName, instanceKey }: AgentAddress,
  node: string,
): Promise<number> {
  const [row] = await database.query<{ epoch: number }>(
    `insert into gdn_instance as row (swarm, agent, key, owner, epoch) values ($1, $2, $3, $4, 1)
     on conflict (swarm, agent, key) do update set owner = $4, epoch = row.epoch + 1 returning epoch`,
    [swarm, agentName, instanceKey, node],
  );
  return row?.epoch ?? 0;
}
