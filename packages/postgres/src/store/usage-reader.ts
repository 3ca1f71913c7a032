/**
 * Reads the model calls of a swarm: the rows that commits have added to, and the recorded calls of turns that are not
 * committed, from the few logs that have one.
 */
import type { InstanceSpending, UsageReader } from '@goondan/runtime/history';
import { openSpending, SpendingSum } from '@goondan/runtime/internal';
import type { AgentAddress } from '@goondan/types';
import type { Database, Row } from '../driver/database.ts';
import { readStored } from './history-reader.ts';
import { IS_RECENT, SPENDING, spendingOf, type SpendingRow } from './spending-rows.ts';

type Read = Row & SpendingRow & { readonly agent: string; readonly key: string };

export function openUsageReader(database: Database, swarm: string): UsageReader {
  return {
    async read(since = '') {
      for (let attempt = 1; ; attempt += 1) {
        const begun = await readBegun(database, swarm);
        const rows = await database.query<Read>(READ, [swarm, since]);
        const open = await readOpen(database, swarm, begun);
        // A turn that was committed meanwhile may be missing, or counted twice.
        const isSame = JSON.stringify(begun) === JSON.stringify(await readBegun(database, swarm));
        if (!isSame && attempt < ATTEMPTS) continue;
        const sum = new SpendingSum<InstanceSpending>(rows.map(spendingOf));
        sum.add(open.spendings.filter(({ day }) => day >= since));
        return { spendings: sum.list(), problems: open.problems };
      }
    },
  };
}

const ATTEMPTS = 5;

interface BegunRow extends Row {
  readonly agent: string;
  readonly key: string;
  readonly seq: number;
}

/** Lists the turns that have begun and are not committed. */
function readBegun(database: Database, swarm: string): Promise<readonly BegunRow[]> {
  return database.query<BegunRow>(BEGUN, [swarm]);
}

async function readOpen(database: Database, swarm: string, begun: readonly BegunRow[]) {
  const spendings: InstanceSpending[] = [];
  const problems: string[] = [];
  for (const { agent: agentName, key: instanceKey } of begun) {
    const found = await readTurn(database, swarm, { agentName, instanceKey });
    if (typeof found === 'string') problems.push(`${agentName}/${instanceKey}: ${found}`);
    else spendings.push(...found);
  }
  return { spendings, problems };
}

/** Reads the calls of the turn that is not committed. Returns the reason if the log cannot be read. */
async function readTurn(
  database: Database,
  swarm: string,
  instance: AgentAddress,
): Promise<readonly InstanceSpending[] | string> {
  try {
    const spent = openSpending(instance, await readStored(database, swarm, instance));
    return spent.map((spending) => ({ ...instance, ...spending }));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const READ = `select agent, key, ${SPENDING} from gdn_spending where swarm = $1 and day >= $2 and ${IS_RECENT}`;
const BEGUN = `
select agent, key, max(seq) as seq from gdn_inbox where swarm = $1 and pending and began group by agent, key
order by agent, key`;
