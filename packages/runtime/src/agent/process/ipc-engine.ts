/**
 * Calls other agents on behalf of an agent in its own process. Every call goes to the orchestrator, which identifies
 * the caller by the channel. The answer has the same `callId`.
 *
 * 1. A call ends once: with its answer, when the caller's signal aborts, or when the channel closes.
 * 2. If a caller gives up, the call is cancelled at the orchestrator. A late answer is reported and dropped.
 * 3. `PendingAnswers` limits the number of open calls: above the limit, a call fails with `E_IPC_FULL`.
 */
import {
  type AgentAddress,
  type AgentCard,
  type AgentEvent,
  type AgentInstance,
  GoondanError,
  type TurnResult,
} from '@goondan/types';
import type { Channel } from '../../ipc/channel/channel.ts';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import { PendingAnswers } from '../../ipc/pending-answers.ts';
import type { RequestTimeout } from '../../ipc/request-timeout.ts';
import type { CallOutcome, ToAgent } from '../../ipc/to-agent.ts';
import type { Clock } from '../../ports/clock.ts';
import { type Ids, randomIds } from '../../ports/ids.ts';
import type { Engine } from '../seams/engine.ts';

export interface IpcEngineDeps {
  readonly channel: Channel<FromAgent, ToAgent>;
  /** The cards of all agents in the swarm. */
  readonly agents: readonly AgentCard[];
  readonly clock: Clock;
  readonly ids?: Ids;
}

/**
 * The timeout of calls that the orchestrator answers from memory or after one write. After this time, such a call fails
 * with `E_AGENT_TIMEOUT`.
 */
const PROMPT_MS = 30_000;
/** The longest delay of a timer in the orchestrator: about 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

export class IpcEngine implements Engine {
  readonly #channel: Channel<FromAgent, ToAgent>;
  #agents: readonly AgentCard[];
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #calls = new PendingAnswers<CallOutcome>();
  readonly #lists = new PendingAnswers<readonly AgentInstance[]>();

  constructor({ channel, agents, clock, ids = randomIds }: IpcEngineDeps) {
    this.#channel = channel;
    this.#agents = agents;
    this.#clock = clock;
    this.#ids = ids;
    channel.onClose(() => {
      const gone = new GoondanError('E_IPC_CLOSED', 'The orchestrator has exited, so no answer will come.');
      this.#calls.refuseAll(gone);
      this.#lists.refuseAll(gone);
    });
  }

  catalog(): readonly AgentCard[] {
    return this.#agents;
  }

  agentsChanged(agents: readonly AgentCard[]): void {
    this.#agents = agents;
  }

  async list(): Promise<readonly AgentInstance[]> {
    const callId = this.#ids.next('list');
    return this.#promptly(this.#lists, callId, () => this.#ask(this.#lists, callId, { type: 'agents.list', callId }));
  }

  async deliver(to: AgentAddress, event: AgentEvent): Promise<{ accepted: true }> {
    const callId = this.#ids.next('send');
    const call = { type: 'call', callId, kind: 'send', to, event } as const;
    const outcome = await this.#promptly(this.#calls, callId, () => this.#ask(this.#calls, callId, call));
    if (outcome.status === 'accepted') return { accepted: true };
    throw failureOf(outcome);
  }

  async request(
    to: AgentAddress,
    event: AgentEvent,
    timeout: RequestTimeout | undefined,
    signal: AbortSignal,
  ): Promise<TurnResult> {
    signal.throwIfAborted();
    const callId = this.#ids.next('request');
    const call = { callId, kind: 'request', to, event, ...timeoutFields(timeout) } as const;
    const giveUp = () => this.#giveUp(callId, signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      const outcome = await this.#ask(this.#calls, callId, { type: 'call', ...call });
      if (outcome.status === 'answered') return outcome.result;
      throw failureOf(outcome);
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** Drops every later answer: open calls never settle. */
  close(): void {
    this.#calls.forgetAll();
    this.#lists.forgetAll();
  }

  /** Settles a call. Returns false when no caller waits for it any more. */
  callEnded(callId: string, outcome: CallOutcome): boolean {
    return this.#calls.answer(callId, outcome);
  }

  agentsListed(callId: string, instances: readonly AgentInstance[]): boolean {
    return this.#lists.answer(callId, instances);
  }

  /** Registers the pending answer before sending, because the answer may arrive before `send` has resolved. */
  async #ask<Answer>(pending: PendingAnswers<Answer>, callId: string, message: FromAgent): Promise<Answer> {
    const isRefused = pending.isFull;
    const answer = pending.wait(callId);
    if (!isRefused) this.#channel.send(message).catch((error: unknown) => pending.refuse(callId, error));
    return answer;
  }

  #giveUp(callId: string, reason: unknown): void {
    if (!this.#calls.refuse(callId, reason)) return;
    // If the channel is full or closed, the orchestrator ends the call when the calling turn ends.
    this.#channel.send({ type: 'call.cancelled', callId }).catch(() => undefined);
  }

  /** Runs a call with a fixed deadline, because its caller has no signal to abort it. */
  async #promptly<Answer>(
    pending: PendingAnswers<Answer>,
    callId: string,
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    const late = () =>
      new GoondanError('E_AGENT_TIMEOUT', `The orchestrator did not answer within ${PROMPT_MS} ms.`, {
        retryable: true,
      });
    const callOff = this.#clock.after(PROMPT_MS, () => pending.refuse(callId, late()));
    try {
      return await ask();
    } finally {
      callOff();
    }
  }
}

function timeoutFields(timeout: RequestTimeout | undefined) {
  if (timeout === undefined) return {};
  return { timeoutMs: Math.min(timeout.ms, LONGEST_MS), timeoutField: timeout.field };
}

function failureOf(outcome: CallOutcome): GoondanError {
  if (outcome.status === 'failed') return fromFrameError(outcome.error);
  return new GoondanError(
    'E_IPC_FRAME',
    `The orchestrator ended a call as "${outcome.status}", but a call cannot end like that.`,
  );
}
