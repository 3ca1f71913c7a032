/** Sums up the model calls of a swarm by one of their facts, with their cost as far as prices are known. */
import type { InstanceSpending } from '@goondan/runtime/history';
import { sumUsage } from '@goondan/runtime/internal';
import { findPrice, missingPrices, priceOf, type Prices, type TokenUsage } from '@goondan/types';
import type { Grouping } from './groupings.ts';

/** The calls of one group. Fields may be added, but are never renamed. */
export interface UsageRow extends UsageSum {
  readonly agent?: string;
  /** The key of the conversation; `null` for the deleted conversations of the agent. */
  readonly instanceKey?: string | null;
  readonly provider?: string;
  readonly model?: string;
  readonly day?: string;
  /** `null` for the calls of steps, which no extension made. */
  readonly extension?: string | null;
}

export interface UsageSum {
  readonly calls: number;
  readonly usage: TokenUsage;
  /** The cost of the calls whose price is known; absent without a price file. */
  readonly cost?: number;
  /** The number of calls whose price is not known; absent when there are none. */
  readonly unpricedCalls?: number;
}

export interface UsageReport {
  readonly by: Grouping;
  /** The first day, in UTC; absent when all kept days count. */
  readonly since?: string;
  readonly currency?: string;
  readonly rows: readonly UsageRow[];
  readonly total: UsageSum;
  /** The models without a known price, if there is a price file. */
  readonly unpriced?: readonly string[];
  /** The fields of the price file that some of these models lack; a model that is not in the file has no entry. */
  readonly missingPrices?: Readonly<Record<string, readonly string[]>>;
  /** Conversations whose calls cannot be read, because their files are damaged. */
  readonly problems?: readonly string[];
}

export interface UsageQuestion {
  readonly by: Grouping;
  readonly since?: string | undefined;
  readonly prices?: Prices | undefined;
}

type Facts = Omit<UsageRow, keyof UsageSum>;
/** The calls with the same facts, and a key that is made of the facts. */
type Group = readonly [key: string, group: { readonly facts: Facts; sum: UsageSum }];

export function reportUsage(
  { spendings, problems }: { readonly spendings: readonly InstanceSpending[]; readonly problems: readonly string[] },
  { by, since, prices }: UsageQuestion,
): UsageReport {
  const groups = new Map<Group[0], Group[1]>();
  let total: UsageSum | undefined;
  const unpriced = new Map<string, ReadonlySet<string>>();
  for (const spending of spendings) {
    const sum = sumOf(spending, prices);
    if (prices !== undefined && sum.unpricedCalls !== undefined) {
      const name = `${spending.provider}/${spending.model}`;
      unpriced.set(name, new Set([...(unpriced.get(name) ?? []), ...lackedBy(spending, prices)]));
    }
    total = total === undefined ? sum : add(total, sum);
    const facts = factsOf(spending, by);
    const key = JSON.stringify(Object.values(facts));
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { facts, sum });
    else known.sum = add(known.sum, sum);
  }
  const sorted = [...groups].toSorted((one, other) => compare(one, other, by));
  return {
    by,
    ...(since === undefined ? {} : { since }),
    ...(prices === undefined ? {} : { currency: prices.currency }),
    rows: sorted.map(([, { facts, sum }]) => ({ ...facts, ...sum })),
    total: total ?? { calls: 0, usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } },
    ...namesOf(unpriced),
    ...(problems.length === 0 ? {} : { problems }),
  };
}

function lackedBy({ usage, ...model }: InstanceSpending, prices: Prices): readonly string[] {
  const price = findPrice(prices, model);
  return price === undefined ? [] : missingPrices(usage, price);
}

/** Names the models without a known price, and the fields that those in the price file lack. */
function namesOf(unpriced: ReadonlyMap<string, ReadonlySet<string>>): Pick<UsageReport, 'unpriced' | 'missingPrices'> {
  if (unpriced.size === 0) return {};
  const names = [...unpriced.keys()].toSorted();
  const lacking = names.flatMap((name) => {
    const fields = [...(unpriced.get(name) ?? [])].toSorted();
    return fields.length === 0 ? [] : [[name, fields] as const];
  });
  return { unpriced: names, ...(lacking.length === 0 ? {} : { missingPrices: Object.fromEntries(lacking) }) };
}

function factsOf(spending: InstanceSpending, by: Grouping): Facts {
  const { agentName: agent, instanceKey = null, provider, model, day, extension = null } = spending;
  switch (by) {
    case 'agent':
      return { agent };
    case 'model':
      return { provider, model };
    case 'day':
      return { day };
    case 'conversation':
      return { agent, instanceKey };
    case 'extension':
      return { extension };
  }
}

function sumOf({ provider, model, calls, usage }: InstanceSpending, prices: Prices | undefined): UsageSum {
  if (prices === undefined) return { calls, usage };
  const price = findPrice(prices, { provider, model });
  const cost = price && priceOf(usage, price);
  return cost === undefined ? { calls, usage, unpricedCalls: calls } : { calls, usage, cost };
}

function add(one: UsageSum, other: UsageSum): UsageSum {
  const unpricedCalls = (one.unpricedCalls ?? 0) + (other.unpricedCalls ?? 0);
  const isPriced = one.cost !== undefined || other.cost !== undefined;
  return {
    calls: one.calls + other.calls,
    usage: sumUsage(one.usage, other.usage),
    ...(isPriced ? { cost: (one.cost ?? 0) + (other.cost ?? 0) } : {}),
    ...(unpricedCalls === 0 ? {} : { unpricedCalls }),
  };
}

/** Days are in their order, the newest last; other groups begin with the most tokens, and then go by name. */
function compare([key, one]: Group, [otherKey, other]: Group, by: Grouping): number {
  const more = by === 'day' ? 0 : other.sum.usage.totalTokens - one.sum.usage.totalTokens;
  return more !== 0 ? more : key < otherKey ? -1 : 1;
}
