/** Counts the tokens of a turn from its records. Each recorded effect counts once, whatever became of its step. */
import type { ModelReply, TokenUsage } from '@goondan/types';
import { NO_USAGE, sumUsage } from '../ports/token-usage.ts';
import type { TurnUsage } from '../ports/turn-outcome.ts';
import type { EffectKind } from '../trace/effect-record.ts';
import type { EffectOutcome, ResumedStep } from '../trace/resume-point.ts';
import { dayOf, type PaidModel, type Spending, SpendingSum } from './spending.ts';

/** The record of an effect that is complete. */
export interface RecordedEffect {
  readonly type: 'effect';
  readonly key: string;
  readonly kind: EffectKind;
  readonly outcome: EffectOutcome;
  /** For a reply of a model: the model. */
  readonly paid?: PaidModel;
  /** For a request to another agent: the tokens of the called turn, and of the agents that it called. */
  readonly called?: TokenUsage;
}

type CountedRecord =
  | RecordedEffect
  | (Pick<ResumedStep, 'outcome'> & { readonly type: 'step' })
  | { readonly type: 'message' | 'entered' | 'intent' | 'resumed' };

export interface CountedTurn {
  /** The own model calls of the turn. */
  readonly spent: readonly Spending[];
  readonly called?: TokenUsage;
  /** The number of completed steps. */
  readonly steps: number;
}

/** `at`: the time of a record, in milliseconds since 1970. */
export function countTurn(records: Iterable<{ readonly at: number; readonly record: CountedRecord }>): CountedTurn {
  const counted = new Set<string>();
  const spent = new SpendingSum();
  let called: TokenUsage | undefined;
  let steps = 0;
  for (const { at, record } of records) {
    if (record.type === 'step' && record.outcome === 'completed') steps++;
    if (record.type !== 'effect' || counted.has(record.key)) continue;
    counted.add(record.key);
    spent.add(spentBy(record, at));
    if (record.called !== undefined) called = sumUsage(called ?? NO_USAGE, record.called);
  }
  return { spent: spent.list(), ...(called === undefined ? {} : { called }), steps };
}

function spentBy({ outcome, paid }: RecordedEffect, at: number): readonly Spending[] {
  if (paid === undefined || !outcome.ok) return [];
  // Safe: only checked replies are recorded as the values of model calls.
  const { usage } = (outcome.value ?? {}) as unknown as Partial<ModelReply>;
  if (usage === undefined) return [];
  const { extension, provider, model } = paid;
  return [{ day: dayOf(at), provider, model, ...(extension === undefined ? {} : { extension }), calls: 1, usage }];
}

/** Returns the tokens of a turn with these counts. */
export function usageOf({ spent = [], called }: Partial<Pick<CountedTurn, 'spent' | 'called'>>): TurnUsage {
  const own = spent.reduce((sum, { usage }) => sumUsage(sum, usage), NO_USAGE);
  return called === undefined ? { usage: own } : { usage: sumUsage(own, called), called };
}
