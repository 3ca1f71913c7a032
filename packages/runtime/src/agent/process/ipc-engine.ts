/**
 * Calls other agents on behalf of an agent in its own process. Every call goes to the orchestrator, which identifies
 * the caller by the channel. The answer has the same `callId` as the call.
 *
 * 1. A call ends once: with its answer, when the caller's signal aborts, or when the channel closes.
 * 2. If a caller gives up, the call is cancelled at the orchestrator. Only the tokens of a late answer count, as after a
 *    timeout; one that comes after `LATE_MS` is reported and dropped.
 * 3. `PendingAnswers` limits the number of open calls: above the limit, a call fails with `E_IPC_FULL`.
 */
import {
  type AgentAddress,
  type AgentCard,
  type AgentEvent,
  type AgentInstance,
  GoondanError,
  type TokenUsage,
  type TurnResult,
} from '@goondan/types';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import { PendingAnswers } from '../../ipc/pending-answers.ts';
import type { RequestTimeout } from '../../ipc/request-timeout.ts';
import type { CallOutcome } from '../../ipc/to-agent.ts';
import type { Clock } from '../../ports/clock.ts';
import { type Ids, randomIds } from '../../ports/ids.ts';
import type { Engine, OnUsage } from '../seams/engine.ts';
import type { AgentChannel } from './process-host.ts';

/**
 * The timeout of calls that the orchestrator answers from memory or after one write. After this time, such a call fails
 * with `E_AGENT_TIMEOUT`.
 */
const PROMPT_MS = 30_000;
/** The time that the tokens of a call are waited for after its end. The orchestrator waits a little less for its callee. */
const LATE_MS = 6_000;
/** The longest delay of a timer in the orchestrator: about 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

/** `late`: the tokens that follow. */
type EndedCall = CallOutcome & { readonly late?: Promise<TokenUsage | undefined> };

export class IpcEngine implements Engine {
  readonly calls = new PendingAnswers<EndedCall>();
  readonly lists = new PendingAnswers<readonly AgentInstance[]>();
  readonly #late = new PendingAnswers<CallOutcome>();

  /** `agents`: the cards of the agents that this agent may call. */
  constructor(
    private readonly channel: AgentChannel,
    private agents: readonly AgentCard[],
    private readonly clock: Clock,
    private readonly ids: Ids = randomIds,
  ) {
    channel.onClose(() => {
      const gone = new GoondanError('E_IPC_CLOSED', 'The orchestrator has exited, so no answer will come.');
      this.calls.refuseAll(gone);
      this.lists.refuseAll(gone);
      this.#late.refuseAll(gone);
    });
  }

  catalog(): readonly AgentCard[] {
    return this.agents;
  }

  agentsChanged(agents: readonly AgentCard[]): void {
    this.agents = agents;
  }

  async list(): Promise<readonly AgentInstance[]> {
    const callId = this.ids.next('list');
    return this.#promptly(this.lists, callId, { type: 'agents.list', callId });
  }

  async deliver(to: AgentAddress, event: AgentEvent): Promise<{ accepted: true }> {
    const callId = this.ids.next('send');
    const outcome = await this.#promptly(this.calls, callId, { type: 'call', callId, kind: 'send', to, event });
    if (outcome.status === 'accepted') return { accepted: true };
    throw failureOf(outcome);
  }

  async request(
    to: AgentAddress,
    event: AgentEvent,
    timeout: RequestTimeout | undefined,
    signal: AbortSignal,
    onUsage?: OnUsage,
  ): Promise<TurnResult> {
    const callId = this.ids.next('request');
    const outcome = await this.calls.ask(
      callId,
      () => this.channel.send({ type: 'call', callId, kind: 'request', to, event, ...timeoutFields(timeout) }),
      signal,
      () => {
        onUsage?.(this.#lateUsage(callId));
        return this.channel.send({ type: 'call.cancelled', callId });
      },
    );
    const usage = outcome.late ?? usageOf(outcome);
    if (usage !== undefined) onUsage?.(usage);
    if (outcome.status === 'answered') return outcome.result;
    throw failureOf(outcome);
  }

  /** Ends a call. Returns false when nobody waits for it any more. */
  ended(callId: string, outcome: CallOutcome): boolean {
    if (outcome.status !== 'failed' || outcome.usageFollows !== true) {
      return this.calls.answer(callId, outcome) || this.#late.answer(callId, outcome);
    }
    // A call that was given up here waits for its tokens already. Otherwise the wait begins now, because the tokens may
    // arrive before the caller goes on.
    return this.#late.has(callId) || this.calls.answer(callId, { ...outcome, late: this.#lateUsage(callId) });
  }

  /** Waits for the tokens of a call that has ended before its callee. Never rejects. */
  async #lateUsage(callId: string): Promise<TokenUsage | undefined> {
    const callOff = this.clock.after(LATE_MS, () => this.#late.refuse(callId, undefined));
    const outcome = await this.#late.wait(callId).catch(() => undefined);
    callOff();
    return outcome && usageOf(outcome);
  }

  /** Runs a call with a fixed deadline, because its caller has no signal to abort it. */
  async #promptly<Answer>(pending: PendingAnswers<Answer>, callId: string, message: FromAgent): Promise<Answer> {
    const late = () =>
      new GoondanError('E_AGENT_TIMEOUT', `The orchestrator did not answer within ${PROMPT_MS} ms.`, {
        retryable: true,
      });
    const callOff = this.clock.after(PROMPT_MS, () => pending.refuse(callId, late()));
    return pending.ask(callId, () => this.channel.send(message)).finally(callOff);
  }
}

function timeoutFields(timeout: RequestTimeout | undefined) {
  if (timeout === undefined) return {};
  const { ms, field, from } = timeout;
  return { timeoutMs: Math.min(ms, LONGEST_MS), timeoutField: field, timeoutFrom: from };
}

function usageOf(outcome: CallOutcome): TokenUsage | undefined {
  return 'usage' in outcome ? outcome.usage : undefined;
}

function failureOf(outcome: CallOutcome): GoondanError {
  if (outcome.status === 'failed') return fromFrameError(outcome.error);
  return new GoondanError(
    'E_IPC_FRAME',
    `The orchestrator ended a call as "${outcome.status}", but a call cannot end like that.`,
  );
}
