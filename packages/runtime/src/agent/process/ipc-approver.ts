/**
 * Asks for approvals on behalf of an agent in its own process. Every request goes to the orchestrator, which stores it,
 * shows it to people and returns their answer. This process cannot create an answer itself.
 */
import { GoondanError } from '@goondan/types';
import type { Channel } from '../../ipc/channel/channel.ts';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import { PendingAnswers } from '../../ipc/pending-answers.ts';
import type { ApprovalEnd, ToAgent } from '../../ipc/to-agent.ts';
import { type Ids, randomIds } from '../../ports/ids.ts';
import type { ApprovalAnswer, ApprovalQuestion, Approver } from '../seams/approver.ts';

export class IpcApprover implements Approver {
  readonly #channel: Channel<FromAgent, ToAgent>;
  readonly #ids: Ids;
  readonly #questions = new PendingAnswers<ApprovalEnd>();

  constructor(channel: Channel<FromAgent, ToAgent>, ids: Ids = randomIds) {
    this.#channel = channel;
    this.#ids = ids;
    channel.onClose(() => {
      this.#questions.refuseAll(
        new GoondanError('E_IPC_CLOSED', 'The orchestrator has exited, so no answer will come.'),
      );
    });
  }

  /** The number of requests that wait for an answer. */
  get waiting(): number {
    return this.#questions.size;
  }

  async ask({ turnId: _, ...question }: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalAnswer> {
    signal.throwIfAborted();
    const callId = this.#ids.next('approval');
    const giveUp = () => this.#giveUp(callId, signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      const end = await this.#send({ type: 'approval.ask', callId, ...question });
      if (end.status === 'answered') return end.answer;
      throw fromFrameError(end.error);
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  taken(id: string): void {
    // If this message is lost, the orchestrator keeps the answer until the turn ends.
    this.#channel.send({ type: 'approval.taken', id }).catch(() => undefined);
  }

  /** Drops every later answer: open requests never settle. */
  close(): void {
    this.#questions.forgetAll();
  }

  /** Settles a request. Returns false when no caller waits for it any more. */
  ended(callId: string, end: ApprovalEnd): boolean {
    return this.#questions.answer(callId, end);
  }

  /** Registers the pending answer before sending, because the answer may arrive before `send` has resolved. */
  async #send(message: Extract<FromAgent, { readonly type: 'approval.ask' }>): Promise<ApprovalEnd> {
    const { callId } = message;
    const isRefused = this.#questions.isFull;
    const end = this.#questions.wait(callId);
    if (!isRefused) this.#channel.send(message).catch((error: unknown) => this.#questions.refuse(callId, error));
    return end;
  }

  #giveUp(callId: string, reason: unknown): void {
    if (!this.#questions.refuse(callId, reason)) return;
    // If the channel is full or closed, the orchestrator drops the request when the turn ends.
    this.#channel.send({ type: 'approval.withdrawn', callId }).catch(() => undefined);
  }
}
