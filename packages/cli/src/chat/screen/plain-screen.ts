/**
 * A screen for terminals without a movable cursor (`TERM=dumb`). It prints finished lines, and the terminal itself
 * edits the input. The live part is not shown.
 */
import { CHAT_LABEL, type ChatScreen, type ScreenHooks } from './chat-screen.ts';
import { type Line, line, linesOf } from './line.ts';
import { renderLine } from './render-line.ts';
import type { Colors } from '../../colors.ts';

export interface PlainScreenDeps {
  readonly write: (text: string) => void;
  readonly columns: number;
  readonly colors: Colors;
  /** Reports each typed line, and the end of the input, until the returned function is called. */
  readonly readLines: (onLine: (text: string) => void, onEnd: () => void) => () => void;
}

export class PlainScreen implements ChatScreen {
  readonly draft = '';
  /** The label at the end of the output, if the person can type after it. */
  #prompt: string | undefined;
  #isHinted = false;
  #isClosed = false;
  #stopReading = () => {};

  constructor(
    private readonly hooks: ScreenHooks,
    private readonly deps: PlainScreenDeps,
  ) {}

  open(): void {
    this.#stopReading = this.deps.readLines(
      (text) => {
        this.#prompt = undefined;
        this.hooks.sent(text);
        this.refresh();
      },
      () => this.hooks.ended(),
    );
    this.refresh();
  }

  get columns(): number {
    return this.deps.columns;
  }

  print(lines: readonly Line[]): void {
    const { write, colors } = this.deps;
    const text = lines.map((each) => `${renderLine(each, colors)}\n`).join('');
    write(this.#prompt === undefined ? text : `\n${text}`);
    this.#prompt = undefined;
    this.refresh();
  }

  /** Prints nothing: the person just typed the line, so it is already on the screen. */
  printSent(): void {}

  refresh(): void {
    const { lines, hint, label } = this.hooks.live();
    const isNew = hint !== undefined && !this.#isHinted;
    this.#isHinted = hint !== undefined;
    if (isNew) return this.print([hint]);
    if (this.#isClosed || this.#prompt === label) return;
    // During a turn, the person can type at any time, but only a question asks for it.
    if (label === CHAT_LABEL && (lines.length > 0 || this.#prompt !== undefined)) return;
    this.deps.write(this.#prompt === undefined ? label : `\n${label}`);
    this.#prompt = label;
  }

  setDraft(text: string): void {
    if (text !== '') this.print([line('Not sent:'), ...linesOf(text)]);
  }

  offer(text: string): void {
    if (text !== '') this.print(linesOf(text));
  }

  clearDraft(): void {}

  setHistory(): void {}

  close(): void {
    this.#isClosed = true;
    this.#stopReading();
    if (this.#prompt !== undefined) this.deps.write('\n');
    this.#prompt = undefined;
  }
}
