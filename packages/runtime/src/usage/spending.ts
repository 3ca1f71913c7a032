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

/** Adds spendings to others. Those of the same day, model and extension become one. */
export function addSpendings(before: readonly Spending[], more: readonly Spending[]): readonly Spending[] {
  if (more.length === 0) return before;
  const byKey = new Map(before.map((each) => [keyOf(each), each]));
  for (const each of more) {
    const known = byKey.get(keyOf(each));
    const sum = known && { ...known, calls: known.calls + each.calls, usage: sumUsage(known.usage, each.usage) };
    byKey.set(keyOf(each), sum ?? each);
  }
  return [...byKey.values()];
}

function keyOf({ day, provider, model, extension }: Spending): string {
  return JSON.stringify([day, provider, model, extension]);
}
