/**
 * Remembers the latest questions that have ended, so that a late answer is told from one to an unknown question. Their
 * arguments and forms are not kept: they may be long, and a late answer is refused without them.
 */
import type { EndedQuestion } from '../../questions/check-reply.ts';
import type { QuestionSummary } from '../../questions/question-record.ts';

const MOST_ENDED = 1_024;

interface Remembered {
  readonly question: QuestionSummary;
  readonly ended: EndedQuestion;
}

export class EndedQuestions {
  readonly #ended = new Map<string, Remembered>();

  /** Adds a question that no longer exists. The oldest one is forgotten if there are too many. */
  add(question: QuestionSummary, ended: EndedQuestion): void {
    const { schema: _, ...short } = question;
    this.#ended.delete(question.id);
    this.#ended.set(question.id, { question: { ...short, args: {} }, ended });
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MOST_ENDED && oldest !== undefined) this.#ended.delete(oldest);
  }

  get(id: string): Remembered | undefined {
    return this.#ended.get(id);
  }
}
