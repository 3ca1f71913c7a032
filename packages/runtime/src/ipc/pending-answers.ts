/**
 * Questions that wait for their answer, by id. Each ends once: with an answer, a refusal, or the end of the channel. An
 * answer nobody waits for (any more) is told to whoever brings it, and changes nothing.
 */
import { GoondanError } from '@goondan/types';

const MOST_WAITING = 1_000;

export class PendingAnswers<Answer> {
  private readonly waiting = new Map<string, PromiseWithResolvers<Answer>>();

  constructor(private readonly most = MOST_WAITING) {}

  get size(): number {
    return this.waiting.size;
  }

  /** One more would be refused: then the question must not be sent either. */
  get isFull(): boolean {
    return this.waiting.size >= this.most;
  }

  /** Rejects `E_IPC_FULL` when too many wait, `E_IPC_FRAME` when this id waits already. */
  async wait(id: string): Promise<Answer> {
    if (this.waiting.has(id)) throw new GoondanError('E_IPC_FRAME', `"${id}" waits for an answer already.`);
    if (this.isFull) {
      throw new GoondanError('E_IPC_FULL', `${this.most} messages wait for an answer.`, { retryable: true });
    }
    const answer = Promise.withResolvers<Answer>();
    this.waiting.set(id, answer);
    return answer.promise;
  }

  /** False when nobody waits for this one. */
  answer(id: string, answer: Answer): boolean {
    const waiting = this.take(id);
    waiting?.resolve(answer);
    return waiting !== undefined;
  }

  /** False when nobody waits for this one. */
  refuse(id: string, error: unknown): boolean {
    const waiting = this.take(id);
    waiting?.reject(error);
    return waiting !== undefined;
  }

  refuseAll(error: unknown): void {
    for (const id of [...this.waiting.keys()]) this.refuse(id, error);
  }

  /** Nobody gets an answer any more, and no refusal either: for a process that is about to end. */
  forgetAll(): void {
    this.waiting.clear();
  }

  private take(id: string): PromiseWithResolvers<Answer> | undefined {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    return waiting;
  }
}
