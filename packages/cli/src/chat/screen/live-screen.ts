/**
 * A screen that redraws its live part, on any terminal with a movable cursor. It draws at most one frame per
 * `FRAME_MS`, and only after the terminal has accepted the last frame. So a slow terminal gets fewer frames instead of
 * a queue.
 */
import type { Clock } from '@goondan/runtime/internal';
import type { Colors } from '../../colors.ts';
import type { Completion } from '../complete-input.ts';
import { KeyDecoder } from '../editor/decode-keys.ts';
import { Prompt } from '../editor/prompt.ts';
import { type ChatScreen, describeSent, type ScreenHooks } from './chat-screen.ts';
import { layOutLive } from './lay-out-live.ts';
import { type Line, line } from './line.ts';
import { eraseLive, type LivePart, nothingLive, paintFrame } from './paint-frame.ts';
import type { Tty } from './tty.ts';
import { wrapProse } from './wrap-line.ts';

const FRAME_MS = 25;
/** An escape that nothing follows for this long is the Escape key, not the start of a sequence. */
const ESCAPE_MS = 100;

export interface LiveScreenDeps {
  readonly tty: Tty;
  readonly colors: Colors;
  readonly clock: Clock;
}

export class LiveScreen implements ChatScreen {
  readonly #keys = new KeyDecoder();
  readonly #prompt = new Prompt();
  #finished: Line[] = [];
  #shown: LivePart = nothingLive;
  #isClosed = false;
  #isWriting = false;
  #isDue = false;
  #lastFrameAt = -Infinity;
  #callOffFrame: (() => void) | undefined;
  #callOffEscape = () => {};

  constructor(
    private readonly hooks: ScreenHooks,
    private readonly deps: LiveScreenDeps,
  ) {}

  open(): void {
    this.deps.tty.takeOver({
      pressed: (bytes) => this.#pressed(bytes),
      resized: () => this.refresh(),
      gone: () => this.hooks.gone(),
    });
    this.refresh();
  }

  get columns(): number {
    return this.deps.tty.size().columns;
  }

  print(lines: readonly Line[]): void {
    for (const each of lines) this.#finished.push(each);
    if (this.#isClosed) this.#flush();
    else this.refresh();
  }

  printSent(text: string): void {
    this.print(describeSent(text));
  }

  refresh(): void {
    if (this.#callOffFrame !== undefined || this.#isClosed) return;
    const wait = this.#lastFrameAt + FRAME_MS - this.deps.clock.elapsed();
    this.#callOffFrame = this.deps.clock.after(Math.max(0, wait), () => {
      this.#callOffFrame = undefined;
      this.#paint();
    });
  }

  get draft(): string {
    return this.#prompt.edited.text;
  }

  setDraft(text: string): void {
    this.#prompt.set(text);
    this.refresh();
  }

  offer(text: string): void {
    this.setDraft(text);
  }

  clearDraft(): void {
    this.#prompt.clear();
    this.refresh();
  }

  setHistory(sent: readonly string[]): void {
    this.#prompt.history.replace(sent);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#callOffFrame?.();
    this.#callOffEscape();
    this.#flush();
    this.deps.tty.giveBack();
  }

  /** Draws the last frame: the finished lines, without the live part. */
  #flush(): void {
    const { tty, colors } = this.deps;
    const { columns } = tty.size();
    const frame = { shown: this.#shown, finished: this.#finished, live: nothingLive, columns };
    [this.#finished, this.#shown] = [[], nothingLive];
    tty.write(paintFrame(frame, colors), () => undefined);
  }

  #paint(): void {
    if (this.#isClosed) return;
    this.#isDue = this.#isWriting;
    if (this.#isWriting) return;
    const { tty, colors, clock } = this.deps;
    const size = tty.size();
    const live = layOutLive(this.hooks.live(), this.#prompt.edited, size);
    const frame = { shown: this.#shown, finished: this.#finished, live, columns: size.columns };
    [this.#finished, this.#shown] = [[], live];
    this.#isWriting = true;
    this.#lastFrameAt = clock.elapsed();
    tty.write(paintFrame(frame, colors), () => {
      this.#isWriting = false;
      if (this.#isDue) this.refresh();
    });
  }

  #pressed(bytes: Uint8Array): void {
    this.#callOffEscape();
    for (const key of this.#keys.feed(bytes)) {
      const completion = key.type === 'tab' ? this.hooks.complete(this.#before) : undefined;
      if (completion !== undefined) {
        void this.#complete(completion);
        continue;
      }
      // Without a turn, Tab must not send what the person only wanted to complete.
      if (key.type === 'tab' && !this.hooks.mayQueue()) continue;
      const outcome = this.#prompt.press(key);
      if (outcome.type === 'sent') this.hooks.sent(outcome.text, outcome.isNext === true ? 'next' : 'now');
      else if (outcome.type === 'interrupt') this.hooks.interrupt();
      else if (outcome.type === 'leave') this.hooks.leave();
      else if (outcome.type === 'quit') this.hooks.quit();
      else if (outcome.type === 'clear-screen') this.#clearScreen();
      else if (outcome.type === 'refused') this.print([line(outcome.reason, 'yellow')]);
    }
    if (this.#keys.isWaiting) this.#callOffEscape = this.deps.clock.after(ESCAPE_MS, () => this.#keys.forgetEscape());
    this.refresh();
  }

  get #before(): string {
    const { text, cursor } = this.#prompt.edited;
    return text.slice(0, cursor);
  }

  /** Completes the text, unless the person went on typing. If it can be completed no further, prints what it may become. */
  async #complete(completion: Promise<Completion | undefined>): Promise<void> {
    const { edited } = this.#prompt;
    const found = await completion;
    if (found === undefined || this.#prompt.edited !== edited || this.#isClosed) return;
    if (found.before === this.#before) this.print(wrapProse(line(found.candidates.join('  '), 'dim'), this.columns));
    this.#prompt.setBefore(found.before);
    this.refresh();
  }

  /** Moves the contents of the screen into the scrollback. */
  #clearScreen(): void {
    const { tty } = this.deps;
    const { columns, rows } = tty.size();
    tty.write(`${eraseLive(this.#shown, columns)}${'\r\n'.repeat(rows - 1)}\x1b[H`, () => undefined);
    this.#shown = nothingLive;
  }
}
