/** The questions of a server that one caller of a keeper answers: the agent process asks its person. */
import type { JsonObject } from '@goondan/types';
import { readFailure } from './kept-failure.ts';
import { type KeptAnswer, tooLong } from './kept-frames.ts';
import { readAnswer, type ServerAnswer, type ServerQuestion } from './server-question.ts';

export class CallerQuestions {
  readonly #open = new Map<number, PromiseWithResolvers<ServerAnswer>>();
  #next = 1;

  /** `send` returns false if the message is too long. */
  constructor(private readonly send: (frame: JsonObject) => boolean) {}

  /** Asks the caller about its request `id`. If the signal aborts, the question is withdrawn. */
  async ask(id: number, question: ServerQuestion, signal: AbortSignal): Promise<ServerAnswer> {
    const number = this.#next++;
    const answer = Promise.withResolvers<ServerAnswer>();
    const withdraw = () => {
      this.send({ id, withdrawn: number });
      answer.resolve({ action: 'cancel' });
    };
    if (signal.aborted) return { action: 'cancel' };
    signal.addEventListener('abort', withdraw, { once: true });
    this.#open.set(number, answer);
    if (!this.send({ id, question: { number, ...question } })) answer.reject(tooLong('its question is'));
    try {
      return await answer.promise;
    } finally {
      this.#open.delete(number);
      signal.removeEventListener('abort', withdraw);
    }
  }

  /** Takes an answer of the caller. An answer to no question is ignored: the question may have been withdrawn meanwhile. */
  take({ answer: number, value, failed }: KeptAnswer): void {
    const open = this.#open.get(number);
    if (failed === undefined) open?.resolve(readAnswer(value));
    else open?.reject(readFailure(failed));
  }
}
