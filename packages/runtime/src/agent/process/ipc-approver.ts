/**
 * People, for an agent in a process of its own: every question goes to the orchestrator, which keeps it, shows it to them
 * and says what they answered. Nothing that this process can say is an answer.
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
      this.#questions.refuseAll(new GoondanError('E_IPC_CLOSED', 'The orchestrator is gone: no answer will come.'));
    });
  }

  /** Questions that wait for an answer. */
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
    // Unsaid, it is kept there until the turn is over.
    this.#channel.send({ type: 'approval.taken', id }).catch(() => undefined);
  }

  /** Nothing that is said from now on reaches the turn: whoever waits, waits for ever. */
  close(): void {
    this.#questions.forgetAll();
  }

  /** False when nobody waits for it any more. */
  ended(callId: string, end: ApprovalEnd): boolean {
    return this.#questions.answer(callId, end);
  }

  /** Waits before it sends: the answer may be there before `send` has resolved. */
  async #send(message: Extract<FromAgent, { readonly type: 'approval.ask' }>): Promise<ApprovalEnd> {
    const { callId } = message;
    const isRefused = this.#questions.isFull;
    const end = this.#questions.wait(callId);
    if (!isRefused) this.#channel.send(message).catch((error: unknown) => this.#questions.refuse(callId, error));
    return end;
  }

  #giveUp(callId: string, reason: unknown): void {
    if (!this.#questions.refuse(callId, reason)) return;
    // Too full to say so, or closed: the orchestrator forgets it when the turn is over.
    this.#channel.send({ type: 'approval.withdrawn', callId }).catch(() => undefined);
  }
}
