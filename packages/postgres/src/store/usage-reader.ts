/**
 * Reads the model calls of a swarm: the rows that commits have added to, and the recorded calls of turns that are not
 * committed, from the few logs that have one.
 *
 * A commit moves calls from the log of an instance to its rows. So the rows and the log of such an instance are read with
 * one statement: each call is in one of them, and never in both.
 */
import type { InstanceSpending, UsageReader } from '@goondan/runtime/history';
import { openSpending, SpendingSum } from '@goondan/runtime/internal';
import type { Database, Row } from '../driver/database.ts';
import { IS_RECENT, SPENDING, spendingOf, type SpendingRow } from './spending-rows.ts';
import { SAME_INSTANCE } from './store-context.ts';

interface InstanceRow extends Row {
  readonly agent: string;
  readonly key: string;
}

export function openUsageReader(database: Database, swarm: string): UsageReader {
  return {
    async read(since = '') {
      const begun = await database.query<InstanceRow>(BEGUN, [swarm]);
      const rows = await database.query<InstanceRow & SpendingRow>(READ, [swarm, since]);
      const found: BegunInstance[] = [];
      for (const instance of begun) {
        const read = await readBegun(database, swarm, instance);
        // An instance that was deleted meanwhile has the rows of before.
        if (read !== undefined) found.push(read);
      }
      const names = new Set(found.map(({ name }) => name));
      const spendings = new SpendingSum(rows.filter((row) => !names.has(nameOf(row))).map(spendingOf));
      spendings.add(found.flatMap((each) => each.spendings).filter(({ day }) => day >= since));
      return { spendings: spendings.list(), problems: found.flatMap(({ problem = [] }) => problem) };
    },
  };
}

interface BegunInstance {
  readonly name: string;
  readonly spendings: readonly InstanceSpending[];
  /** The reason if the log cannot be read. */
  readonly problem?: string;
}

/** Reads an instance with a turn that is not committed. Returns `undefined` if it is not there any more. */
async function readBegun(
  database: Database,
  swarm: string,
  { agent, key }: InstanceRow,
): Promise<BegunInstance | undefined> {
  const [row] = await database.query<BegunRow>(READ_BEGUN, [swarm, agent, key]);
  if (row === undefined) return undefined;
  const { checkpoint, frames, spent } = row;
  const name = nameOf({ agent, key });
  const instance = { agentName: agent, instanceKey: key };
  // Safe: the statement makes a list of rows.
  const committed = (JSON.parse(spent) as SpendingRow[]).map((each) => spendingOf({ agent, key, ...each }));
  try {
    const log = { ...(checkpoint !== null && { checkpoint }), frames: frames === null ? [] : frames.split('\n') };
    const open = openSpending(instance, log).map((spending) => ({ ...instance, ...spending }));
    return { name, spendings: [...committed, ...open] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { name, spendings: committed, problem: `${agent}/${key}: ${reason}` };
  }
}

function nameOf({ agent, key }: Pick<InstanceRow, 'agent' | 'key'>): string {
  return JSON.stringify([agent, key]);
}

interface BegunRow extends Row {
  readonly checkpoint: string | null;
  readonly frames: string | null;
  readonly spent: string;
}

const BEGUN = 'select distinct agent, key from gdn_inbox where swarm = $1 and pending and began';
const READ = `select agent, key, ${SPENDING} from gdn_spending where swarm = $1 and day >= $2 and ${IS_RECENT}`;
const READ_BEGUN = `
select checkpoint,
  (select string_agg(line, E'\\n' order by seq) from gdn_frame where ${SAME_INSTANCE}) as frames,
  (
    select coalesce(json_agg(paid), '[]')::text
    from (select ${SPENDING} from gdn_spending where ${SAME_INSTANCE} and ${IS_RECENT}) as paid
  ) as spent
from gdn_instance where ${SAME_INSTANCE}`;
