/**
 * Buffers the log of a running swarm on its way to a place that may be slow or away.
 *
 * Invariants: 1. `write` never throws and never waits: lines go into a bounded buffer, and are written from there. 2. Lines
 * that do not fit or cannot be written are dropped and counted, and a line in their place says how many.
 * 3. After an error, writing is retried after a pause. Callers must have masked secrets before.
 */
import { type Clock, sleep, waitAtMost } from '../../ports/clock.ts';
import type { LogLine } from '../../ports/log-line.ts';
import type { StoreWarning } from '../store-ports.ts';
import { droppedText, encodeLine } from './log-text.ts';

/** The place to which lines are written. */
export interface LogTarget {
  /** The name of the place in warnings. */
  readonly path: string;
  /** Writes whole lines. If it rejects, a part of the text may have been written. */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

export interface LogBufferOptions {
  readonly clock: Clock;
  /** The maximum number of buffered characters; lines that would exceed it are dropped. */
  readonly waiting: number;
  /** The number of characters after which a write takes no further line. */
  readonly atOnce: number;
  /** The time that lines are gathered before they are written; 0: those of one tick. */
  readonly gatherMs?: number;
  /** Called once whenever the log becomes unwritable. */
  readonly warn: (warning: StoreWarning) => void;
}

const PAUSE_MS = 1000;
const CLOSE_MS = 2000;

/** A buffered line, or the number of lines dropped at this point. */
type Waiting = string | { dropped: number };

export class LogBuffer {
  #waiting: Waiting[] = [];
  #characters = 0;
  #writing: Promise<void> | undefined;
  /** Ends the pause after a failure. */
  #pause: (() => void) | undefined;
  #endGathering: (() => void) | undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(
    private readonly target: LogTarget,
    private readonly options: LogBufferOptions,
  ) {}

  write(line: LogLine): void {
    if (this.#isClosed) return;
    const text = encodeLine(line);
    if (text === undefined || this.#characters + text.length > this.options.waiting) {
      this.#drop(1);
    } else {
      this.#waiting.push(text);
      this.#characters += text.length;
    }
    if (!this.#pause) this.#startWriting();
  }

  /** Writes the buffered lines, as far as the target allows within 2 s. Never rejects. Later lines are dropped. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pause?.();
    this.#pause = undefined;
    this.#endGathering?.();
    this.#startWriting();
    const writing = (this.#writing ?? Promise.resolve()).then(() => this.target.close());
    await waitAtMost(this.options.clock, CLOSE_MS, writing);
  }

  #drop(lines: number): void {
    const last = this.#waiting.at(-1);
    if (typeof last === 'object') last.dropped += lines;
    else this.#waiting.push({ dropped: lines });
  }

  #startWriting(): void {
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined));
  }

  async #writeAll(): Promise<void> {
    const { gatherMs = 0 } = this.options;
    // Waits a tick, so that lines of the same tick are written together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      if (gatherMs > 0 && !this.#isClosed && this.#characters < this.options.atOnce) await this.#gather(gatherMs);
      const taken = this.#take();
      try {
        await this.target.write(taken.map((each) => this.#textOf(each)).join(''));
        this.#isFailing = false;
      } catch (error) {
        return this.#putOff(taken, error);
      }
      if (this.#waiting.length > 0 && !this.#isClosed) await sleep(this.options.clock, 0);
    }
  }

  /** Waits until the time is over, or until the log is closed. */
  #gather(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const callOff = this.options.clock.after(ms, resolve);
      this.#endGathering = () => {
        callOff();
        resolve();
      };
    });
  }

  #take(): Waiting[] {
    let characters = 0;
    const end = this.#waiting.findIndex((each) => {
      if (typeof each === 'string') characters += each.length;
      return characters >= this.options.atOnce;
    });
    const taken = this.#waiting.splice(0, end === -1 ? this.#waiting.length : end + 1);
    this.#characters -= characters;
    return taken;
  }

  #textOf(waiting: Waiting): string {
    return typeof waiting === 'string' ? waiting : droppedText(waiting.dropped, this.options.clock.now());
  }

  /**
   * Counts the lines of a failed write as dropped. Some of these lines may have been written, so none of them is
   * written again.
   */
  #putOff(taken: readonly Waiting[], error: unknown): void {
    const dropped = taken.reduce((sum, each) => sum + (typeof each === 'string' ? 1 : each.dropped), 0);
    this.#waiting.unshift({ dropped });
    if (!this.#isFailing) this.options.warn({ path: this.target.path, message: `cannot be written: ${String(error)}` });
    this.#isFailing = true;
    if (this.#isClosed) return;
    this.#pause = this.options.clock.after(PAUSE_MS, () => {
      this.#pause = undefined;
      this.#startWriting();
    });
  }
}
