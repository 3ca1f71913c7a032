/**
 * Asks the person at a terminal the questions that concern them, one after the other, while the desk is open.
 *
 * 1. The desk asks about one call at a time. It skips calls that were answered elsewhere or have ended.
 * 2. If the person leaves a question open, the call keeps waiting, and somebody else can answer. This desk asks again only
 *    if the person wants it.
 */
import type { InstanceAddress, QuestionSummary, Swarm } from '@goondan/runtime';
import type { QuestionNotice } from '@goondan/runtime/control';
import { GoondanError } from '@goondan/types';
import type { PersonAnswer } from './person-answer.ts';
import { showText } from './show-text.ts';
import { describeEffect, nameAnswer } from './wording.ts';

export interface DeskDeps {
  readonly swarm: Pick<Swarm, 'questions' | 'answer' | 'watch'>;
  /**
   * Tells whether to ask the person here about this call. When the result of `concerns` may have changed, call `look`.
   */
  readonly concerns: (question: QuestionSummary) => boolean;
  /**
   * Returns `undefined` when the person leaves the question open. `signal` aborts when an answer is no longer needed;
   * then the result is ignored.
   */
  readonly ask: (question: QuestionSummary, signal: AbortSignal) => Promise<PersonAnswer | undefined>;
  /** Prints a line about a call that this desk asked about. Characters that nobody sees are escaped. */
  readonly tell: (text: string) => void;
  /** Returns the name under which an answer is recorded. */
  readonly nameOfPerson: () => string;
  /** The door, for the record. */
  readonly via: 'chat' | 'cli';
}

export class QuestionDesk {
  /** The tool calls that wait for an answer, by id, oldest first. */
  readonly #waiting = new Map<string, QuestionSummary>();
  readonly #seen = new Set<string>();
  #asking: { readonly id: string; readonly over: AbortController } | undefined;
  #unwatch: () => void = () => undefined;
  #isClosed = false;

  private constructor(private readonly deps: DeskDeps) {}

  /** **Errors** — those of the swarm. */
  static async open(deps: DeskDeps): Promise<QuestionDesk> {
    const desk = new QuestionDesk(deps);
    // A question can end while the list is on its way, which may still have it.
    let ended: Set<string> | undefined = new Set();
    const watch = await deps.swarm.watch({ types: ['question'] }, (notice) => {
      if (notice.type !== 'question') return;
      if (notice.state !== 'asked') ended?.add(notice.question.id);
      desk.#hear(notice);
    });
    desk.#unwatch = watch.end;
    const listed = await deps.swarm.questions();
    for (const question of listed) if (!ended.has(question.id)) desk.#waiting.set(question.id, question);
    ended = undefined;
    desk.look();
    return desk;
  }

  /** True while a question is open. */
  get isAsking(): boolean {
    return this.#asking !== undefined;
  }

  /** True if a call of this conversation waits for an answer that is given here. */
  isFor({ agent, instanceKey }: InstanceAddress): boolean {
    return [...this.#waiting.values()].some(
      (question) => question.agent === agent && question.instanceKey === instanceKey && this.deps.concerns(question),
    );
  }

  /** Asks the next question, if none is open. Call this method when the result of `concerns` may have changed. */
  look(): void {
    if (this.#asking !== undefined || this.#isClosed) return;
    const isNext = (question: QuestionSummary) => !this.#seen.has(question.id) && this.deps.concerns(question);
    const next = [...this.#waiting.values()].find(isNext);
    if (next !== undefined) void this.#ask(next);
  }

  /** Asks again about the questions that the person left open. Returns the number of questions that wait for the person. */
  askAgain(): number {
    const open = [...this.#waiting.values()].filter((question) => this.deps.concerns(question));
    for (const { id } of open) if (id !== this.#asking?.id) this.#seen.delete(id);
    this.look();
    return open.length;
  }

  close(): void {
    this.#isClosed = true;
    this.#unwatch();
    this.#asking?.over.abort();
  }

  #hear({ state, question, outcome }: QuestionNotice): void {
    if (state === 'asked') this.#waiting.set(question.id, question);
    else this.#waiting.delete(question.id);
    if (state !== 'asked' && this.#asking?.id === question.id) {
      this.#asking.over.abort();
      this.#tell(`${question.id} no longer needs an answer: ${describeEnd(question, outcome)}.`);
    }
    this.look();
  }

  async #ask(question: QuestionSummary): Promise<void> {
    const { id } = question;
    const over = new AbortController();
    this.#seen.add(id);
    this.#asking = { id, over };
    try {
      const answer = await this.deps.ask(question, over.signal);
      if (over.signal.aborted || answer === undefined) return;
      // Clears the id, because the next notice about this call will report the answer of this desk.
      this.#asking = { id: '', over };
      await this.#give(question, answer);
    } catch (error) {
      // The answer does not fit, so the person is asked again. Otherwise somebody was faster, or the swarm has stopped.
      if (GoondanError.is(error) && error.code === 'E_QUESTION_REPLY') this.#seen.delete(id);
      const problem = GoondanError.is(error) ? `${error.code}: ${error.message}` : String(error);
      if (!this.#isClosed) this.#tell(`${id} is not answered. ${problem}`);
    } finally {
      this.#asking = undefined;
      this.look();
    }
  }

  async #give(question: QuestionSummary, answer: PersonAnswer): Promise<void> {
    const { swarm, nameOfPerson, via } = this.deps;
    const { id, digest } = question;
    await swarm.answer({ id, digest, by: nameOfPerson(), via, ...answer });
    const effect = describeEffect(question, answer);
    if (effect !== undefined) this.#tell(`${id}: ${effect}.`);
  }

  /** Names of tools, conversations and people come from outside. */
  #tell(text: string): void {
    this.deps.tell(showText(text));
  }
}

/** Says who answered a question, and through which door. */
function describeEnd({ kind }: QuestionSummary, outcome: QuestionNotice['outcome']): string {
  if (outcome === undefined) return 'its turn is over';
  const { by, via } = outcome;
  const who = `${by === undefined ? '' : ` by ${by}`}${via === undefined ? '' : ` via ${via}`}`;
  return `${nameAnswer(kind, outcome).toLowerCase()}${who}`;
}
