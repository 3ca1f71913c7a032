/** Reads the model calls of one instance from its folder: from its checkpoint and the log after it, never from its history. */
import type { AgentAddress } from '@goondan/types';
import { countTurn } from '../../usage/count-turn.ts';
import { type InstanceSpending, SpendingSum } from '../../usage/spending.ts';
import { pathsIn } from '../layout/instance-paths.ts';
import { defaultLimits, type StoreLimits } from '../limits.ts';
import { readSettled } from '../lines/read-settled.ts';
import type { LogState } from '../records/log-state.ts';
import { readState } from '../records/read-log.ts';
import { readFirstMetadata, readMetadata } from '../records/read-metadata.ts';
import type { StorePorts } from '../store-ports.ts';

/** Returns the reason if the files cannot be read. A folder without a conversation has no calls. */
export async function readFolderSpending(
  ports: StorePorts & { readonly limits?: StoreLimits },
  folder: string,
): Promise<readonly InstanceSpending[] | string> {
  const paths = pathsIn(folder);
  try {
    return await readSettled({ ...ports, paths }, async (settled) => {
      const found = (await readMetadata(settled)) ?? (await readFirstMetadata(settled))?.metadata;
      if (found === undefined) return [];
      const address: AgentAddress = { agentName: found.agentName, instanceKey: found.instanceKey };
      const log = await readState({ ...settled, address, limits: ports.limits ?? defaultLimits });
      return log === undefined ? [] : spentBy(log.state).map((spending) => ({ ...address, ...spending }));
    });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns the calls of committed turns, and those of the turn that is not committed. */
function spentBy({ spent, open }: LogState) {
  const sum = new SpendingSum(spent.list());
  sum.add(countTurn(open.log).spent);
  return sum.list();
}
