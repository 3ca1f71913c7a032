/** Budgets of model calls: amounts that an extension counts over all processes and nodes of a swarm. */
import type { ApprovalOutcome, ApprovalRequest } from './approval.ts';
import type { Prices } from './prices.ts';

/** A budget that a `model` layer declares when it is registered. */
export interface Budget {
  /** The name of the budget in its extension. */
  name: string;
  /** The amount that is counted. `tokens`: input and output together. `money`: in the currency of `prices`. */
  measure: 'calls' | 'tokens' | 'money';
  /** The size of the budget. */
  limit: number;
  /** The calls that count: those of one turn, of one conversation, of one agent, or of the whole swarm. */
  scope: 'turn' | 'conversation' | 'agent' | 'swarm';
  /** `day`: the budget begins again each day, at midnight in UTC. Absent: it never begins again. */
  per?: 'day';
  /** If true, calls above the limit are counted and never refused. */
  isSoft?: boolean;
  /** The contents of a price file, for `money`; for `tokens`, only the maximum of the answers is read. */
  prices?: Prices;
}

/** Returns the name of a budget that was given none: what it counts, in words. */
export function budgetNameOf({ measure, scope, per }: Pick<Budget, 'measure' | 'scope' | 'per'>): string {
  const whose = scope === 'agent' ? 'an agent' : scope === 'swarm' ? 'the swarm' : `a ${scope}`;
  return `${measure} of ${whose}${per === undefined ? '' : ' per day'}`;
}

export type BudgetOutcome =
  /** `over`: the names of soft budgets that are above their limit for the first time, in this window. */
  | { readonly ok: true; readonly over: readonly string[] }
  /**
   * `used`: the amount that counts. `reserved`: the part of it that is reserved by calls that run. `needs`: the amount that
   * the call needs. `limit`: the limit, as raised by people. `more`: the amount that an approval adds to the limit, which is
   * the size of the budget, or more if the call needs more. `day`: the day of a budget per day, such as `2026-11-17`, in UTC;
   * an approval counts only for that day.
   */
  | {
      readonly ok: false;
      readonly name: string;
      readonly used: number;
      readonly reserved: number;
      readonly needs: number;
      readonly limit: number;
      readonly more: number;
      readonly day?: string;
    };

/** Lets a `model` layer count its call against the budgets that the layer declares. */
export interface BudgetsApi {
  /**
   * Reserves the call in all budgets of the layer, or in none. The runtime settles the reservation with the real amounts
   * when the call has ended, and releases it if the call is not made. In tokens and money, it reserves an estimate of the
   * input, which is rather too high, and the most that the answer may have or cost.
   *
   * **Rules** — call it once before `next()`, or again after `ask`.
   */
  reserve(): Promise<BudgetOutcome>;
  /**
   * Asks a person to raise a budget that refused the call, by `more` of the refusal, and waits for the answer. If a person approves, the
   * budget is raised for all processes, until its window is over.
   *
   * **Errors** — `E_APPROVAL_REQUEST`, `E_APPROVALS_FULL`, `E_APPROVAL_NOBODY`; when the turn is cancelled: the reason of
   * the cancel.
   */
  ask(name: string, request: ApprovalRequest): Promise<ApprovalOutcome>;
}
