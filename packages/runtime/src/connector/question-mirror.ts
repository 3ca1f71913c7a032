/**
 * `ctx.questions`: the questions that people can answer through this connector, as the orchestrator reports them.
 *
 * Invariants: 1. Only questions that the orchestrator reported are listed: it decides which ones this connection may show.
 * 2. A listener that throws is logged, and a rejected answer that nobody handles does not end the process. 3. An answer is
 * checked and copied when `answer` is called.
 */
import { type ConnectorQuestion, type ConnectorQuestions, GoondanError, type QuestionChange } from '@goondan/types';
import { connectorReply } from '../ipc/check/connector-question.ts';
import { ShapeError } from '../ipc/check/shape.ts';
import type { QuestionDoor } from '../ipc/connector-questions.ts';

export class QuestionMirror implements ConnectorQuestions {
  #isAllowed = false;
  readonly #open = new Map<string, ConnectorQuestion>();
  readonly #listeners = new Set<(change: QuestionChange) => void>();
  readonly #underWay = new Set<Promise<void>>();

  /** `onThrown` is called with the error that a listener threw. */
  constructor(
    private readonly door: QuestionDoor,
    private readonly onThrown: (error: unknown) => void,
  ) {
    door.watch((change) => this.#changed(change));
  }

  get isAllowed(): boolean {
    return this.#isAllowed;
  }

  /** Called when the plan of the Connection is known. */
  allow(isAllowed: boolean): void {
    this.#isAllowed = isAllowed;
  }

  readonly list = (): readonly ConnectorQuestion[] => [...this.#open.values()];

  readonly watch = (listener: (change: QuestionChange) => void): (() => void) => {
    for (const question of this.list()) this.#tell(listener, { state: 'asked', question });
    // Wrapped, because a connector may pass the same function twice.
    const added = (change: QuestionChange) => listener(change);
    this.#listeners.add(added);
    return () => void this.#listeners.delete(added);
  };

  readonly answer: ConnectorQuestions['answer'] = (reply) => {
    const answered = this.#answer(reply).finally(() => this.#underWay.delete(answered));
    this.#underWay.add(answered);
    answered.catch(() => undefined);
    return answered;
  };

  get underWay(): number {
    return this.#underWay.size;
  }

  /** Resolves when no answer is under way. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  async #answer(reply: unknown): Promise<void> {
    await this.door.answer(checkReply(reply));
  }

  #changed(change: QuestionChange): void {
    const { state, question } = change;
    if (state === 'asked') this.#open.set(question.id, question);
    else this.#open.delete(question.id);
    for (const listener of [...this.#listeners]) this.#tell(listener, change);
  }

  #tell(listener: (change: QuestionChange) => void, change: QuestionChange): void {
    try {
      listener(change);
    } catch (error) {
      this.onThrown(error);
    }
  }
}

function checkReply(reply: unknown) {
  try {
    return structuredClone(connectorReply(reply));
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    throw new GoondanError('E_QUESTION_REPLY', `An answer cannot be sent: ${error.message}.`, { cause: error });
  }
}
