/**
 * Measures how long layers wait for a person, so that this time does not count as their own time, and notes the answers and
 * the budgets that refused a call.
 */
import type { ApprovalOutcome, Budget, BudgetOutcome } from '@goondan/types';
import { defined } from '../json/defined.ts';
import { roundAmount } from '../json/round-amount.ts';
import { currentScope } from './draw-scope.ts';
import type { EffectKind } from './effect-record.ts';
import type { WatchedEffect } from './layer-span.ts';
import type { RecordedLayer } from './recorded-layer.ts';
import { RunningSpan } from './running-span.ts';
import type { GivenAnswer } from './turn-trace.ts';

export class PersonWaits {
  /** The layers that wait, by the key of their question. The runtime limits the number of open questions. */
  readonly #waiting = new Map<string, RecordedLayer>();

  /** Call this method in the scope of the layer that asks. */
  begin(key: string, kind: EffectKind): void {
    if (kind !== 'approval' && kind !== 'budget') return;
    const scope = currentScope();
    const layer = scope instanceof RunningSpan ? scope.activeLayer : undefined;
    if (layer === undefined) return;
    if (kind === 'approval') layer.beginWait();
    this.#waiting.set(key, layer);
  }

  end({ key, kind, asked, outcome }: WatchedEffect): void {
    const layer = this.#waiting.get(key);
    this.#waiting.delete(key);
    if (kind === 'budget' && outcome.ok) {
      // Safe: only `call-reservations.ts` makes these effects.
      return layer?.note(notesOf(asked as AskedBudgets, outcome.value as BudgetOutcome));
    }
    // Safe: the layer asked a person, so that the outcome is an answer.
    if (kind === 'approval') layer?.endWait(outcome.ok ? givenAnswer(outcome.value as PersonsAnswer) : undefined);
  }
}

type PersonsAnswer = ApprovalOutcome &
  Pick<GivenAnswer, 'via' | 'grant'> & { readonly id?: string; readonly seen?: GivenAnswer['before'] };

function givenAnswer({ decision, by, via, args, seen, id, grant }: PersonsAnswer): GivenAnswer {
  return defined({ decision, by, via, args, before: seen, question: args === undefined ? undefined : id, grant });
}

interface AskedBudgets {
  readonly budgets: readonly (Pick<Budget, 'name' | 'measure'> & { readonly currency?: string })[];
}

function notesOf({ budgets }: AskedBudgets, outcome: BudgetOutcome): readonly string[] {
  if (!outcome.ok) {
    const { name } = outcome;
    const { measure = '', currency = measure } = budgets.find((each) => each.name === name) ?? {};
    const [used, limit, needs] = [outcome.used, outcome.limit, outcome.needs].map(roundAmount);
    return [`budget "${name}": ${used} of ${limit} ${currency} used or reserved, ${needs} needed`];
  }
  return outcome.over.map((name) => `budget "${name}" is exceeded`);
}
