/**
 * Measures how long layers and handlers of tools wait for a person, so that this time does not count as the own time of a
 * layer, and notes the answers and the budgets that refused a call.
 */
import type { ApprovalOutcome, Budget, BudgetOutcome } from '@goondan/types';
import { defined } from '../json/defined.ts';
import { roundAmount } from '../json/round-amount.ts';
import { currentScope } from './draw-scope.ts';
import type { EffectKind } from './effect-record.ts';
import type { WatchedEffect } from './layer-span.ts';
import { RecordedLayer } from './recorded-layer.ts';
import { RunningSpan } from './running-span.ts';
import type { GivenAnswer } from './turn-trace.ts';

export class PersonWaits {
  /** The parts of chains that wait, by the key of their question. The runtime limits the number of open questions. */
  readonly #waiting = new Map<string, RecordedLayer | RunningSpan>();

  /** Call this method in the scope of the chain whose layer or core asks. */
  begin(key: string, kind: EffectKind): void {
    if (kind !== 'approval' && kind !== 'budget') return;
    const scope = currentScope();
    if (!(scope instanceof RunningSpan)) return;
    const part = scope.activePart;
    if (kind === 'approval') part.beginWait();
    this.#waiting.set(key, part);
  }

  end({ key, kind, asked, outcome }: WatchedEffect): void {
    const part = this.#waiting.get(key);
    this.#waiting.delete(key);
    if (kind === 'budget' && outcome.ok && part instanceof RecordedLayer) {
      // Safe: only `call-reservations.ts` makes these effects.
      return part.note(notesOf(asked as AskedBudgets, outcome.value as BudgetOutcome));
    }
    if (kind !== 'approval') return;
    // Safe: only `ask-person.ts` makes these effects, and their outcomes are answers.
    part?.endWait(outcome.ok ? givenAnswer(asked as AskedPerson, outcome.value as PersonsAnswer) : undefined);
  }
}

type PersonsAnswer = ApprovalOutcome &
  Pick<GivenAnswer, 'grant' | 'afterMs'> & { readonly id?: string; readonly seen?: GivenAnswer['before'] };

interface AskedPerson {
  readonly form?: unknown;
  readonly url?: unknown;
}

/** The filled form is not a part of it: it may be long, and the effect has it. */
function givenAnswer(asked: AskedPerson, answer: PersonsAnswer): GivenAnswer {
  const { decision, by, via, args, seen, id, grant, afterMs } = answer;
  const question = args === undefined ? undefined : id;
  return { ...kindOf(asked), ...defined({ decision, by, via, args, before: seen, question, grant, afterMs }) };
}

function kindOf({ form, url }: AskedPerson): Pick<GivenAnswer, 'kind'> {
  if (form !== undefined) return { kind: 'form' };
  return url === undefined ? {} : { kind: 'page' };
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
