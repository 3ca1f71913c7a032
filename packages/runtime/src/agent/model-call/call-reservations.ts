/**
 * The reservations of one model call: those of the limits of its model, which the runtime makes, and those of budgets,
 * which layers make.
 *
 * Invariants:
 * 1. The call is made only when all of them have begun, and they have begun before the first byte leaves.
 * 2. Each of them is ended once: settled when the call has ended, or released if the call was not made.
 */
import {
  type ApprovalOutcome,
  type ApprovalRequest,
  type Budget,
  type BudgetOutcome,
  GoondanError,
  highestPriceOf,
  type ModelParams,
  priceOf,
  type Prices,
  type TokenUsage,
} from '@goondan/types';
import { addAmounts, dateOfDay } from '../../counters/counter-state.ts';
import type { UncountedModel } from '../../config/uncounted-model.ts';
import type { ReservedCall } from '../../trace/layer-span.ts';
import { randomIds } from '../../ports/ids.ts';
import type { Layer } from '../pipeline/layer.ts';
import { checkRequest } from '../tool-call/ask-for-approval.ts';
import { askPerson } from '../tool-call/ask-person.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import { claimBudget, unbounded } from './budget-claims.ts';
import { estimateInput, USUAL_ANSWER } from './estimate-call.ts';
import type { ModelCall } from './model-context.ts';
import { claimLimits, limitsOf } from './model-limits.ts';
import { findUncountedCall, mostTextFor, mostTokensOf, priceFor } from './most-tokens.ts';

interface MeasuredClaim {
  readonly measure: Budget['measure'];
  readonly amount: number;
  /** The prices of models, for money. */
  readonly prices?: Prices;
}

interface OpenReservation {
  /** The measure and the reserved amount of each claim. */
  readonly claims: readonly MeasuredClaim[];
  readonly hasBegun: boolean;
}

export class CallReservations {
  readonly #open = new Map<string, OpenReservation>();
  /** The last refusal of the layers of each extension. */
  readonly #refusals = new Map<string, Extract<BudgetOutcome, { readonly ok: false }> | undefined>();
  /** The price files of the budgets that count the tokens or the cost of this call. */
  readonly #prices = new Set<Prices>();
  #input: number | undefined;
  /** The tokens that were reserved; undefined if none were. */
  #tokens: number | undefined;

  constructor(
    private readonly turn: RunningTurn,
    private readonly call: ModelCall,
  ) {}

  /**
   * Reserves the call in all budgets of a layer, or in none. A call that a resumed turn does not make again counts already.
   */
  async reserve({ extension, budgets = [] }: Layer): Promise<BudgetOutcome> {
    const { agent, effects, signal } = this.turn;
    if (budgets.length === 0) throw undeclared(extension);
    for (const { measure, prices } of budgets)
      if (measure !== 'calls' && prices !== undefined) this.#prices.add(prices);
    if (effects.isRecorded(this.call.key)) return { ok: true, over: [] };
    const key = effects.nextKey(`${this.call.key}/${extension}`, 'budget');
    const asked = () => ({
      budgets: budgets.map(({ prices, ...budget }) => ({ ...budget, ...currencyOf(budget, prices) })),
    });
    // Layers between those with budgets may have changed the request.
    this.#input = undefined;
    const outcome = await effects.perform({ key, kind: 'budget', asked }, async () => {
      const measures = budgets.map((budget) => this.#measure(extension, budget));
      const amounts = measures.map(({ amount }) => amount);
      const claims = budgets.map((budget, index) => claimBudget(extension, budget, amounts[index] ?? 0));
      const id = this.newId();
      // Noted before the request, so that it is released if the wait is called off.
      this.#open.set(id, { claims: measures, hasBegun: false });
      const reserved = await agent.counters.reserve({ id, turnId: this.turn.turnId, claims }, signal);
      if (reserved.status === 'reserved') return { ok: true as const, over: namesAt(budgets, reserved.marked) };
      this.#open.delete(id);
      const { claim, used, limit } = reserved;
      const { name = '', limit: size = 0 } = budgets[claim] ?? {};
      const needs = amounts[claim] ?? 0;
      // The next portion must be enough for this call.
      const more = Math.max(size, addAmounts(addAmounts(used, needs), -limit));
      const day = reserved.day === undefined ? {} : { day: dateOfDay(reserved.day) };
      return { ok: false as const, name, used, reserved: reserved.reserved, needs, limit, more, ...day };
    });
    this.#refusals.set(extension, outcome.ok ? undefined : outcome);
    return outcome;
  }

  /** Returns params with the maximum of the answer that budgets took from a price file, so that the provider keeps it, too. */
  limitAnswer(params: ModelParams): ModelParams {
    const { plan } = this.turn.agent;
    if (mostTextFor(plan, this.call) !== undefined) return params;
    const most = [...this.#prices].flatMap((prices) => mostTextFor(plan, this.call, prices) ?? []);
    return most.length === 0 ? params : { ...params, maxTokens: Math.min(...most) };
  }

  /** Asks a person to raise the budget that refused the call of this layer. */
  async ask({ extension, budgets = [] }: Layer, name: string, request: ApprovalRequest): Promise<ApprovalOutcome> {
    const { agent, effects, signal } = this.turn;
    const { reason, expiresInMs } = checkRequest(request);
    const refusal = this.#refusals.get(extension);
    const budget = budgets.find((each) => each.name === name);
    if (budget === undefined || refusal?.name !== name) throw notRefused(extension, name);
    const { measure, scope, per, prices } = budget;
    const { limit, more, day } = refusal;
    const window = { ...(per && { per }), ...(day !== undefined && { day }) };
    const counted = { measure, ...currencyOf(budget, prices), scope, ...window };
    const args = { extension, budget: name, ...counted, whose: this.#whose(scope), limit, to: addAmounts(limit, more) };
    const { key, step } = this.call;
    const spanIds = (step ?? this.turn).spanIds.inside(key);
    const asked = { toolCallId: key, toolName: extension, step, spanIds, preview: () => JSON.stringify(args) };
    const { id, outcome } = await askPerson(this.turn, asked, {
      key: effects.nextKey(`${key}/${extension}`, 'approval'),
      kind: 'budget',
      args,
      reason,
      expiresInMs,
      signal,
      resting: (wait) => agent.activity.question(wait),
    });
    if (id === undefined) return outcome;
    // A replay raises nothing.
    if (outcome.decision === 'approved' && this.turn.replay === undefined) await agent.counters.raise(id, args, signal);
    // The answer is durable in the log, and the budget is raised, so the approver may delete it.
    agent.approver.taken(id);
    return outcome;
  }

  /**
   * Waits for the limits of the model, and begins all reservations. `onWait` is called with the limit if the call has to
   * wait. **Errors** — those of `CallCounters`.
   */
  async begin(onWait: (limit: string) => void): Promise<ReservedCall> {
    const { agent, signal } = this.turn;
    const layers = [...this.#open.keys()];
    const limits = limitsOf(agent.plan.openModel.entries, this.call.modelRef);
    // Layers inside those with budgets may have changed the request.
    this.#input = undefined;
    const claims = limits.flatMap((each) => {
      const { inputTokens, outputTokens } = this.#mostTokens();
      return claimLimits(each, inputTokens + outputTokens);
    });
    let limitMs: number | undefined;
    if (claims.length > 0) {
      const id = this.newId();
      // Noted before the request, so that it is released if the wait is called off.
      this.#open.set(id, {
        claims: claims.map(({ measure, claim }) => ({ measure, amount: claim.amount })),
        hasBegun: true,
      });
      const words = claims.map((each) => each.words);
      const reserved = await agent.counters.reserve(
        { id, turnId: this.turn.turnId, claims: claims.map(({ claim }) => claim), limits: words },
        signal,
        onWait,
      );
      if (reserved.status === 'refused') throw new GoondanError('E_UNEXPECTED', 'A call that waits was refused.');
      limitMs = reserved.waitedMs;
    }
    if (layers.length > 0) await agent.counters.begin(layers, signal);
    for (const [id, { claims: begun }] of this.#open) this.#open.set(id, { claims: begun, hasBegun: true });
    return {
      ...(limitMs !== undefined && { limitMs }),
      ...(this.#tokens !== undefined && { reservedTokens: this.#tokens }),
    };
  }

  /** Settles all reservations of a call that was made. Without usage, it may have used everything that was reserved. */
  settle(usage: TokenUsage | undefined): void {
    for (const [id, { claims }] of this.#open) {
      this.turn.agent.counters.end(
        id,
        claims.map((claim) => this.#realAmount(claim, usage)),
      );
    }
    this.#open.clear();
  }

  /** Releases the reservations of a call that was not made. */
  release(): void {
    for (const id of this.#open.keys()) this.turn.agent.counters.end(id);
    this.#open.clear();
  }

  /** Returns the id of another attempt of this call. */
  newId(): string {
    return `${this.turn.turnId}/${this.call.key}/${randomIds.next('attempt')}`;
  }

  /** Names the turn, conversation or agent of a budget, so that questions about different ones differ. */
  #whose(scope: Budget['scope']): string {
    const { agentName, instanceKey } = this.turn.agent.address;
    const names = { swarm: [], agent: [agentName], conversation: [agentName, instanceKey] };
    return JSON.stringify(scope === 'turn' ? [agentName, instanceKey, this.turn.turnId] : names[scope]);
  }

  /**
   * Returns the amount that a budget reserves. **Errors** — `E_BUDGET_UNBOUNDED` for a model without a price, and for a
   * call whose answer has no maximum any more, because a layer has replaced its params.
   */
  #measure(extension: string, { measure, prices }: Budget): MeasuredClaim {
    if (measure === 'calls') return { measure, amount: 1 };
    const { plan } = this.turn.agent;
    const uncounted = findUncountedCall(plan, this.call, { measure, ...(prices && { prices }) });
    if (uncounted !== undefined) throw unbounded(extension, measure, uncounted);
    const { inputTokens, outputTokens } = this.#mostTokens(prices);
    if (measure === 'tokens') return { measure, amount: inputTokens + outputTokens };
    const price = priceFor(plan, this.call, prices);
    if (price === undefined) throw unbounded(extension, measure, unpriced(this.call.modelRef));
    return { measure, amount: highestPriceOf({ inputTokens, outputTokens }, price), ...(prices && { prices }) };
  }

  /**
   * Returns the real amount of a claim. Without usage, everything that was reserved may be used. A layer inside may have
   * chosen another model than the one that was reserved for.
   */
  #realAmount({ measure, amount, prices }: MeasuredClaim, usage: TokenUsage | undefined): number {
    if (measure === 'calls' || usage === undefined) return amount;
    if (measure === 'tokens') return usage.inputTokens + usage.outputTokens;
    const price = priceFor(this.turn.agent.plan, this.call, prices);
    return price === undefined ? amount : (priceOf(usage, price) ?? highestPriceOf(usage, price));
  }

  #mostTokens(prices?: Prices) {
    const { messages, ownMessages, tools, extension } = this.call;
    const schema = extension === undefined ? this.turn.demand?.schema : undefined;
    this.#input ??= estimateInput(ownMessages ?? messages, tools.items, schema);
    const outputTokens = mostTokensOf(this.turn.agent.plan, this.call, prices) ?? USUAL_ANSWER;
    this.#tokens = Math.max(this.#tokens ?? 0, this.#input + outputTokens);
    return { inputTokens: this.#input, outputTokens };
  }
}

/** Returns the unit of money, for people. */
function currencyOf({ measure }: Pick<Budget, 'measure'>, prices: Prices | undefined) {
  return measure === 'money' && prices !== undefined ? { currency: prices.currency } : {};
}

function namesAt(budgets: readonly Budget[], positions: readonly number[]): readonly string[] {
  return positions.flatMap((position) => budgets[position]?.name ?? []);
}

function undeclared(extension: string): GoondanError {
  return new GoondanError('E_PIPELINE_OPTIONS', `Extension "${extension}" declares no budgets for this model layer.`);
}

/** A layer inside the agent can choose a model that the agent does not have, such as one in code. */
function unpriced(modelRef: string): UncountedModel {
  const suggestion = 'Use a model of the bundle, and add its price to `prices.models` of the extension.';
  return { problem: `${modelRef} has no price`, suggestion };
}

function notRefused(extension: string, name: string): GoondanError {
  return new GoondanError(
    'E_APPROVAL_REQUEST',
    `Extension "${extension}" asks about the budget "${name}", which has not refused this call.`,
  );
}
