/**
 * A question to the person. The unsent text is set aside, the next line is the answer, and then the text comes back.
 * Only one question is open at a time: the approval desk asks the next one after the answer.
 */
import type { ChatScreen } from './screen/chat-screen.ts';
import type { Line } from './screen/line.ts';

export class Question {
  #open: { readonly label: string; readonly resolve: (answer: string | undefined) => void } | undefined;
  #aside = '';

  constructor(private readonly screen: Pick<ChatScreen, 'draft' | 'setDraft' | 'offer' | 'print'>) {}

  /** The label before the answer; `undefined` when no question is open. */
  get label(): string | undefined {
    return this.#open?.label;
  }

  /**
   * Resolves with the answer. Resolves with `undefined` after Ctrl-C, when `signal` aborts, or when the chat ends; and
   * at once, if another question is open. `text`: the text to edit; the input line is empty when absent.
   */
  ask(lines: readonly Line[], label: string, signal?: AbortSignal, text = ''): Promise<string | undefined> {
    if (this.#open !== undefined || signal?.aborted === true) return Promise.resolve(undefined);
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const question = { label, resolve };
    this.#open = question;
    this.#aside = this.screen.draft;
    this.screen.print(lines);
    this.screen.offer(text);
    signal?.addEventListener('abort', () => this.#open === question && this.answer(undefined), { once: true });
    return promise;
  }

  /** Answers the open question, if there is one; `undefined` leaves it unanswered. */
  answer(text: string | undefined): void {
    if (this.#open === undefined) return;
    this.#open.resolve(text);
    this.#open = undefined;
    this.screen.setDraft(this.#aside);
  }
}
