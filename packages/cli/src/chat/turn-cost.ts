/**
 * The cost of each turn of a chat: the difference of the spendings of the swarm before and after the turn. If they do not
 * have exactly the tokens of the turn, because others used the swarm, the cost is not known.
 */
import type { TurnEnd } from '@goondan/runtime';
import type { ReadUsage } from '@goondan/runtime/history';
import type { Prices } from '@goondan/types';
import { reportUsage, type UsageReport, type UsageSum } from '../usage/sum-spendings.ts';

export class TurnCosts {
  #before: UsageReport | undefined;

  constructor(
    private readonly prices: Prices,
    private readonly read: () => Promise<ReadUsage>,
  ) {}

  /** Reads what was spent so far. */
  async look(): Promise<UsageReport> {
    return (this.#before = reportUsage(await this.read(), { by: 'conversation', prices: this.prices }));
  }

  /** @example costOf(turn) // '0.0008 USD' */
  async costOf(turn: TurnEnd): Promise<string | undefined> {
    const before = this.#before;
    // Without its cost, a turn is still complete.
    const after = await this.look().catch(() => undefined);
    if (before === undefined || after === undefined) return undefined;
    const cost = difference(turn, sumFor(turn, before), sumFor(turn, after));
    return cost === undefined ? undefined : `${cost.toFixed(4)} ${this.prices.currency}`;
  }
}

/** A turn that called no agent has used only tokens of its own conversation. */
function sumFor({ agent, instanceKey, called }: TurnEnd, { rows, total }: UsageReport): Partial<UsageSum> {
  if (called !== undefined) return total;
  return rows.find((row) => row.agent === agent && row.instanceKey === instanceKey) ?? {};
}

function difference({ usage }: TurnEnd, before: Partial<UsageSum>, after: Partial<UsageSum>): number | undefined {
  const tokens = (after.usage?.totalTokens ?? 0) - (before.usage?.totalTokens ?? 0);
  if (tokens !== usage.totalTokens || before.unpricedCalls !== after.unpricedCalls) return undefined;
  return after.cost === undefined ? undefined : after.cost - (before.cost ?? 0);
}
