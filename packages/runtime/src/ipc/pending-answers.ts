/**
 * Requests that wait for their answers, by id. Each request ends once: with an answer, a rejection, or the close of the
 * channel. An answer without a waiting request changes nothing, and `answer` returns false.
 */
import { GoondanError } from '@goondan/types';

const MOST_WAITING = 1_000;

export class PendingAnswers<Answer> {
  private readonly waiting = new Map<string, PromiseWithResolvers<Answer>>();

  constructor(private readonly most = MOST_WAITING) {}

  get size(): number {
    return this.waiting.size;
  }

  has(id: string): boolean {
    return this.waiting.has(id);
  }

  /** True when a further request would be rejected. Such a request must not be sent. */
  get isFull(): boolean {
    return this.waiting.size >= this.most;
  }

  /**
   * Waits for the answer to a request. Rejects with `E_IPC_FULL` when too many requests wait, and with `E_IPC_FRAME`
   * when a request with this id already waits.
   */
  async wait(id: string): Promise<Answer> {
    if (this.waiting.has(id)) throw new GoondanError('E_IPC_FRAME', `"${id}" waits for an answer already.`);
    if (this.isFull) {
      throw new GoondanError('E_IPC_FULL', `${this.most} messages wait for an answer.`, { retryable: true });
    }
    const answer = Promise.withResolvers<Answer>();
    this.waiting.set(id, answer);
    return answer.promise;
  }

  /**
   * Sends a request and waits for its answer. If the signal aborts first, rejects with the signal's reason and calls
   * `withdraw`.
   */
  async ask(
    id: string,
    send: () => Promise<void>,
    signal?: AbortSignal,
    withdraw?: () => Promise<void>,
  ): Promise<Answer> {
    signal?.throwIfAborted();
    const isRefused = this.isFull;
    // The wait begins before the request is sent, because the answer may arrive before `send` has resolved.
    const answer = this.wait(id);
    if (!isRefused) send().catch((error: unknown) => this.refuse(id, error));
    const giveUp = () => {
      // If the channel is full or closed, the other side drops the request when the turn that made it ends.
      if (this.refuse(id, signal?.reason)) withdraw?.().catch(() => undefined);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    return answer.finally(() => signal?.removeEventListener('abort', giveUp));
  }

  /** Returns false when no request waits under this id. */
  answer(id: string, answer: Answer): boolean {
    const waiting = this.take(id);
    waiting?.resolve(answer);
    return waiting !== undefined;
  }

  /** Returns false when no request waits under this id. */
  refuse(id: string, error: unknown): boolean {
    const waiting = this.take(id);
    waiting?.reject(error);
    return waiting !== undefined;
  }

  refuseAll(error: unknown): void {
    for (const id of [...this.waiting.keys()]) this.refuse(id, error);
  }

  /** Drops all requests. Their promises never settle, so use this only in a process that is about to exit. */
  forgetAll(): void {
    this.waiting.clear();
  }

  private take(id: string): PromiseWithResolvers<Answer> | undefined {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    return waiting;
  }
}
