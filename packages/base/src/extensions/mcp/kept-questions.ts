/** The questions of a server that its keeper passes to this process. They end with the call that they belong to. */
import type { JsonObject, JsonValue } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';
import { describeFailure } from './kept-failure.ts';
import { McpFailure } from './mcp-failure.ts';
import { type AnswerQuestion, readQuestion } from './server-question.ts';

export class KeptQuestions {
  /** The open questions of each call, by the numbers of the keeper. */
  readonly #open = new Map<number, Map<number, AbortController>>();

  /** Asks the person of the call `id`, and sends the answer. */
  async answer(
    id: number,
    asked: JsonValue,
    onQuestion: AnswerQuestion | undefined,
    send: (frame: JsonObject) => boolean,
  ): Promise<void> {
    const number = isObject(asked) ? asked.number : undefined;
    if (typeof number !== 'number') return;
    const controller = new AbortController();
    const ofCall = this.#open.get(id) ?? new Map<number, AbortController>();
    this.#open.set(id, ofCall.set(number, controller));
    try {
      const question = readQuestion(asked);
      if (question === undefined || onQuestion === undefined)
        throw new McpFailure('question', 'it asked a person outside of a call.');
      send({ answer: number, value: { ...(await onQuestion(question, controller.signal)) } });
    } catch (error) {
      send({ answer: number, failed: describeFailure(error) });
    } finally {
      ofCall.delete(number);
    }
  }

  /** Withdraws a question, because its server no longer needs an answer. */
  withdraw(id: number, number: JsonValue): void {
    if (typeof number === 'number') this.#open.get(id)?.get(number)?.abort();
  }

  /** Withdraws the open questions of a call that has ended. */
  end(id: number): void {
    for (const controller of this.#open.get(id)?.values() ?? []) controller.abort();
    this.#open.delete(id);
  }
}
