/**
 * Writes lines for people to a file: the runtime events of an instance and the traces of its turns.
 *
 * 1. Callers do not wait for a write and get no error from it. A failed write is reported, and the next line says how
 *    many lines were lost.
 * 2. Lines are written in order, several at a time: when no line came for `QUIET_MS`, and at the latest after
 *    `LONGEST_MS` or when `FULL` lines wait.
 * 3. At most `MOST_WAITING` lines are queued; above that, new lines are dropped and counted.
 */
import type { Clock } from '../../ports/clock.ts';

export interface LineWriter<Line> {
  /** Appends lines to the file, in the order of the calls. */
  append(lines: readonly Line[]): Promise<void>;
  close(): Promise<void>;
}

export interface GatheredLogDeps<Line> {
  /** Opens the file: at the first line, and again after a failed write. */
  readonly open: () => Promise<LineWriter<Line>>;
  readonly clock: Clock;
  /** Makes the line that says how many lines were dropped before it. */
  readonly noteOf: (count: number, time: string) => Line;
  /** Called once whenever writing starts to fail. */
  readonly report: (problem: string) => void;
}

const MOST_WAITING = 1_000;
const FULL = 500;
const QUIET_MS = 10;
const LONGEST_MS = 250;

export class GatheredLog<Line> {
  #waiting: Line[] = [];
  /** The time at which the first of the waiting lines came, and the number of lines when the timer was set. */
  #since = 0;
  #counted = 0;
  #dropped = 0;
  #writer: LineWriter<Line> | undefined;
  #isFailing = false;
  #callOff: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(private readonly deps: GatheredLogDeps<Line>) {}

  add(line: Line): void {
    if (this.#waiting.length >= MOST_WAITING) this.#dropped += 1;
    else this.#waiting.push(line);
    if (this.#waiting.length === FULL) return void this.flush();
    if (this.#callOff !== undefined) return;
    this.#since = this.deps.clock.elapsed();
    this.#wait();
  }

  /** Resolves when all lines so far are handed to the operating system or dropped. Never rejects. */
  flush(): Promise<void> {
    this.#callOff?.();
    this.#callOff = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#closeWriter();
  }

  async #write(): Promise<void> {
    const [lines, dropped] = [this.#waiting, this.#dropped];
    if (lines.length === 0 && dropped === 0) return;
    this.#waiting = [];
    this.#dropped = 0;
    try {
      this.#writer ??= await this.deps.open();
      await this.#writer.append(dropped === 0 ? lines : [...lines, this.#noteOf(dropped)]);
      this.#isFailing = false;
    } catch (error) {
      this.#dropped += lines.length + dropped;
      await this.#closeWriter();
      if (!this.#isFailing) this.deps.report(error instanceof Error ? error.message : String(error));
      this.#isFailing = true;
    }
  }

  #wait(): void {
    this.#counted = this.#waiting.length;
    this.#callOff = this.deps.clock.after(QUIET_MS, () => {
      const isQuiet = this.#waiting.length === this.#counted;
      if (isQuiet || this.deps.clock.elapsed() - this.#since >= LONGEST_MS) void this.flush();
      else this.#wait();
    });
  }

  #noteOf(count: number): Line {
    return this.deps.noteOf(count, this.deps.clock.now().toISOString());
  }

  async #closeWriter(): Promise<void> {
    await this.#writer?.close().catch(() => undefined);
    this.#writer = undefined;
  }
}
