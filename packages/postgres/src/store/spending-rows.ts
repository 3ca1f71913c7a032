/** Rows with the model calls of instances, and the parts of statements that add to them. */
import type { InstanceSpending, Spending } from '@goondan/runtime/history';
import { KEPT_DAYS } from '@goondan/runtime/internal';
import { keptText } from './kept-text.ts';

export interface SpendingRow {
  readonly day: string;
  readonly provider: string;
  readonly model: string;
  readonly extension: string;
  readonly calls: number;
  readonly input: number;
  readonly output: number;
  readonly total: number;
  readonly cached: number | null;
  readonly written: number | null;
  readonly reasoning: number | null;
}

const KEY = 'day, provider, model, extension';
const COUNTS = 'calls, input, output, total, cached, written, reasoning';
export const SPENDING = `${KEY}, ${COUNTS}`;

/** The condition for rows whose day is kept. Others are not read, and removed with the next checkpoint or deletion. */
export const IS_RECENT = `day >= to_char(now() at time zone 'utc' - interval '${KEPT_DAYS} days', 'YYYY-MM-DD')`;

/** Removes rows that are not kept any more. `source`: a table with a row if the statement may change the instance. */
export function removeOldSpending(key: string, source: string): string {
  return `delete from gdn_spending as old using ${source}
  where old.swarm = $1 and old.agent = $2 and old.key = ${key} and not old.${IS_RECENT}`;
}

/** The columns of rows in JSON, for `json_to_recordset`. */
const TYPES = `day text, provider text, model text, extension text, calls bigint, input bigint, output bigint,
    total bigint, cached bigint, written bigint, reasoning bigint`;

const sumOf = (count: string) => `${count} = kept.${count} + excluded.${count}`;
/** A count that is not known on one side is that of the other. */
const sumOfKnown = (count: string) =>
  `${count} = coalesce(kept.${count} + excluded.${count}, kept.${count}, excluded.${count})`;

/**
 * Adds rows to those of an instance. `key`: an expression for the key of the instance. `source`: the tables that the rows
 * come from; nothing is added if one of them is empty.
 */
export function addSpending(key: string, source: string): string {
  return `insert into gdn_spending as kept (swarm, agent, key, ${SPENDING})
  select $1, $2, ${key}, ${SPENDING} from ${source}
  on conflict (swarm, agent, key, ${KEY}) do update set
    ${['calls', 'input', 'output', 'total'].map(sumOf).join(', ')},
    ${['cached', 'written', 'reasoning'].map(sumOfKnown).join(', ')}`;
}

/** The rows in the JSON text of a parameter, as a table. */
export const spendingIn = (parameter: string) => `json_to_recordset(${parameter}::text::json) as spent (${TYPES})`;

/** Sums up rows with the same key, because one statement may add to a row only once. */
export function summed(table: string): string {
  const sums = COUNTS.split(', ').map((count) => `sum(${count})::bigint as ${count}`);
  return `(select ${KEY}, ${sums.join(', ')} from ${table} group by ${KEY}) as spent`;
}

/** The JSON text of the rows. */
export function spendingText(spent: readonly Spending[]): string {
  return JSON.stringify(spent.map(rowOf));
}

function rowOf({ day, provider, model, extension, calls, usage }: Spending): SpendingRow {
  const { inputTokens, outputTokens, totalTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    day,
    provider: keptText(provider),
    model: keptText(model),
    extension: keptText(extension ?? ''),
    calls,
    input: inputTokens,
    output: outputTokens,
    total: totalTokens,
    cached: cachedInputTokens ?? null,
    written: cacheWriteTokens ?? null,
    reasoning: reasoningTokens ?? null,
  };
}

export function spendingOf(row: SpendingRow & { readonly agent: string; readonly key: string }): InstanceSpending {
  const { agent, key, day, provider, model, extension, calls, cached, written, reasoning } = row;
  return {
    agentName: agent,
    ...(key === '' ? {} : { instanceKey: key }),
    day,
    provider,
    model,
    ...(extension === '' ? {} : { extension }),
    calls,
    usage: {
      inputTokens: row.input,
      outputTokens: row.output,
      totalTokens: row.total,
      ...(cached === null ? {} : { cachedInputTokens: cached }),
      ...(written === null ? {} : { cacheWriteTokens: written }),
      ...(reasoning === null ? {} : { reasoningTokens: reasoning }),
    },
  };
}
