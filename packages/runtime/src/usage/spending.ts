/**
 * The tokens that model calls used, summed up by day, model and extension. A model call is counted once, when its reply
 * is recorded.
 */
import type { TokenUsage } from '@goondan/types';
import { sumUsage } from '../ports/token-usage.ts';

/** The model that was paid for a reply. */
export interface PaidModel {
  readonly provider: string;
  /** The name of the model at its provider. */
  readonly model: string;
  /** The extension whose layer made the call; absent for the call of a step. */
  readonly extension?: string;
}

/** The model calls of one day with the same model and the same extension. */
export interface Spending extends PaidModel {
  /** The day in UTC, as `2026-11-17`. */
  readonly day: string;
  readonly calls: number;
  readonly usage: TokenUsage;
}

/** Returns the day of a moment. `at`: milliseconds since 1970. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The spendings of an instance. An agent without an `instanceKey` stands for its deleted conversations. */
export interface InstanceSpending extends Spending {
  readonly agentName: string;
  readonly instanceKey?: string;
}

/** The number of days for which spendings are kept. */
export const KEPT_DAYS = 400;

const DAY_MS = 86_400_000;

/** Returns the spendings of the last `KEPT_DAYS` days. `now`: milliseconds since 1970. */
export function keepRecent<Each extends Spending>(spendings: readonly Each[], now: number): readonly Each[] {
  const first = dayOf(now - KEPT_DAYS * DAY_MS);
  return spendings.filter(({ day }) => day >= first);
}

/** Sums up spendings: those of the same instance, day, model and extension become one. Adding costs what is added. */
export class SpendingSum<Each extends Spending = Spending> {
  readonly #byKey = new Map<string, Each>();

  constructor(spendings: Iterable<Each> = []) {
    this.add(spendings);
  }

  add(spendings: Iterable<Each>): void {
    for (const each of spendings) {
      const key = keyOf(each);
      const known = this.#byKey.get(key);
      const sum = known && { ...known, calls: known.calls + each.calls, usage: sumUsage(known.usage, each.usage) };
      this.#byKey.set(key, sum ?? each);
    }
  }

  list(): readonly Each[] {
    return [...this.#byKey.values()];
  }
}

function keyOf(spending: Spending & Partial<InstanceSpending>): string {
  const { agentName, instanceKey, day, provider, model, extension } = spending;
  return JSON.stringify([day, provider, model, extension, agentName, instanceKey]);
}
