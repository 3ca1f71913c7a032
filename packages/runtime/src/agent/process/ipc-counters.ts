/**
 * Counts model calls on behalf of an agent in its own process. Every request goes to the orchestrator, which identifies the
 * conversation by the channel, and ends the reservations of a process that has ended.
 */
import { GoondanError, type JsonObject } from '@goondan/types';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import type { CounterRequest } from '../../ipc/from-agent.ts';
import { PendingAnswers } from '../../ipc/pending-answers.ts';
import type { CounterEnd } from '../../ipc/to-agent.ts';
import { randomIds } from '../../ports/ids.ts';
import type { CallCounters, CallReservation, CallReserved } from '../seams/counters.ts';
import type { AgentChannel } from './process-host.ts';

export class IpcCounters implements CallCounters {
  readonly requests = new PendingAnswers<CounterEnd>();
  /** Those who want to know that their request waits, by the id of the request. */
  readonly #onWait = new Map<string, (limit: string) => void>();

  constructor(private readonly channel: AgentChannel) {
    channel.onClose(() => {
      this.requests.refuseAll(new GoondanError('E_IPC_CLOSED', 'The orchestrator has exited, so no answer will come.'));
    });
  }

  async reserve(
    { turnId: _, ...reservation }: CallReservation,
    signal: AbortSignal,
    onWait?: (limit: string) => void,
  ): Promise<CallReserved> {
    // The orchestrator knows the turn.
    const end = await this.#ask({ kind: 'reserve', ...reservation }, signal, onWait);
    if (end.status !== 'done') return end;
    throw new GoondanError('E_IPC_FRAME', 'The answer to a reservation says nothing about it.');
  }

  /** Notes that a request waits for a limit. One that waits no more is ignored. */
  waits(callId: string, limit: string): void {
    this.#onWait.get(callId)?.(limit);
  }

  async begin(ids: readonly string[], signal: AbortSignal): Promise<void> {
    await this.#ask({ kind: 'begin', ids }, signal);
  }

  end(id: string, amounts?: readonly number[]): void {
    // If this message is lost, the orchestrator ends the reservation with the turn.
    this.channel.send({ type: 'counters.settled', id, ...(amounts && { amounts }) }).catch(() => undefined);
  }

  async raise(approvalId: string, budget: JsonObject, signal: AbortSignal): Promise<void> {
    await this.#ask({ kind: 'raise', approvalId, budget }, signal);
  }

  async #ask(
    request: CounterRequest,
    signal: AbortSignal,
    onWait?: (limit: string) => void,
  ): Promise<Exclude<CounterEnd, { readonly status: 'failed' }>> {
    const callId = randomIds.next('counters');
    if (onWait !== undefined) this.#onWait.set(callId, onWait);
    const end = await this.requests
      .ask(
        callId,
        () => this.channel.send({ type: 'counters.ask', callId, request }),
        signal,
        () => this.channel.send({ type: 'counters.withdrawn', callId }),
      )
      .finally(() => this.#onWait.delete(callId));
    if (end.status === 'failed') throw fromFrameError(end.error);
    return end;
  }
}
