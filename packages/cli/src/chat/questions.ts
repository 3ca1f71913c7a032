/**
 * Asks the person questions, one at a time. The unsent text is set aside, the next line is the answer, and then the
 * text comes back. At most `MOST` questions are queued; further ones are not asked.
 */
import type { ChatScreen } from './screen/chat-screen.ts';
import type { Line } from './screen/line.ts';

const MOST = 100;

interface Question {
  readonly lines: readonly Line[];
  readonly label: string;
  readonly resolve: (answer: string | undefined) => void;
}

export class Questions {
  readonly #waiting: Question[] = [];
  #aside = '';

  constructor(private readonly screen: Pick<ChatScreen, 'draft' | 'setDraft' | 'print'>) {}

  get isAsking(): boolean {
    return this.#waiting.length > 0;
  }

  /** The label before the answer; `undefined` when no question is open. */
  get label(): string | undefined {
    return this.#waiting[0]?.label;
  }

  /** Resolves with the answer; with `undefined` after Ctrl-C, when `signal` aborts, or when the chat ends. */
  ask(lines: readonly Line[], label: string, signal?: AbortSignal): Promise<string | undefined> {
    if (this.#waiting.length >= MOST || signal?.aborted === true) return Promise.resolve(undefined);
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const question = { lines, label, resolve };
    this.#waiting.push(question);
    if (this.#waiting.length === 1) this.#begin();
    signal?.addEventListener('abort', () => this.#withdraw(question), { once: true });
    return promise;
  }

  /** Answers the question that is being asked; `undefined` leaves it unanswered. */
  answer(text: string | undefined): void {
    this.#waiting.shift()?.resolve(text);
    this.screen.setDraft(this.#aside);
    if (this.isAsking) this.#begin();
  }

  #withdraw(question: Question): void {
    if (this.#waiting[0] === question) return this.answer(undefined);
    const at = this.#waiting.indexOf(question);
    if (at > 0) this.#waiting.splice(at, 1)[0]?.resolve(undefined);
  }

  withdrawAll(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve(undefined);
  }

  #begin(): void {
    this.#aside = this.screen.draft;
    this.screen.setDraft('');
    this.screen.print(this.#waiting[0]?.lines ?? []);
  }
}
