/**
 * The log of a running swarm on disk, for people: one JSON object per line, in files of bounded size and number.
 *
 * Invariants: 1. `write` never throws and never waits: lines go into a bounded buffer, and are written to disk from
 * there. 2. Lines that do not fit or cannot be written are dropped and counted, and a line in their place says how
 * many.
 * 3. After a disk error, writing is retried after a pause. Nothing is synced: a power loss may lose the last lines, but
 *    no state. Callers must have masked secrets before.
 */
import { type Clock, sleep, systemClock, waitAtMost } from '../../ports/clock.ts';
import { systemFs } from '../../ports/fs.ts';
import type { LogLine } from '../../ports/log-line.ts';
import { swarmLogPath, workspaceFolder, type StorePlace } from '../layout/instance-paths.ts';
import type { StoreWarning } from '../store-ports.ts';
import { droppedText, encodeLine } from './log-text.ts';
import { ReopenedLog } from './reopened-log.ts';

export const defaultSwarmLogLimits = {
  files: { bytes: 8 * 1024 * 1024, files: 4 },
  /** The maximum number of buffered characters; lines that would exceed it are dropped. */
  waiting: 1024 * 1024,
};

const CHARACTERS_AT_ONCE = 64 * 1024;
const PAUSE_MS = 1000;
const CLOSE_MS = 2000;

/** A buffered line, or the number of lines dropped at this point. */
type Waiting = string | { dropped: number };

/** Writes the log. The files are created at the first line. */
export class SwarmLog {
  readonly #clock: Clock;
  readonly #limits: typeof defaultSwarmLogLimits;
  readonly #file: ReopenedLog;
  readonly #warn: (warning: StoreWarning) => void;
  #waiting: Waiting[] = [];
  #characters = 0;
  #writing: Promise<void> | undefined;
  /** Ends the pause after a failure. */
  #pause: (() => void) | undefined;
  #isFailing = false;
  #isClosed = false;

  /** Opens no file yet. `place.warn` is called once whenever the log becomes unwritable. */
  constructor(place: StorePlace, limits: typeof defaultSwarmLogLimits = defaultSwarmLogLimits) {
    const { stateRoot, workspaceId, fs = systemFs, clock = systemClock, warn } = place;
    const path = swarmLogPath(workspaceFolder(stateRoot, workspaceId));
    this.#clock = clock;
    this.#limits = limits;
    this.#file = new ReopenedLog(fs, stateRoot, path, limits.files);
    this.#warn = (warning) => warn?.(warning);
  }

  write(line: LogLine): void {
    if (this.#isClosed) return;
    const text = encodeLine(line);
    if (text === undefined || this.#characters + text.length > this.#limits.waiting) {
      this.#drop(1);
    } else {
      this.#waiting.push(text);
      this.#characters += text.length;
    }
    if (!this.#pause) this.#startWriting();
  }

  /** Writes the buffered lines, as far as the disk allows within 2 s. Never rejects. Later lines are dropped. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pause?.();
    this.#pause = undefined;
    this.#startWriting();
    const writing = (this.#writing ?? Promise.resolve()).then(() => this.#file.close());
    await waitAtMost(this.#clock, CLOSE_MS, writing);
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
    // Waits a tick, so that lines of the same tick are written to the file together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const taken = this.#take();
      try {
        await this.#file.write(taken.map((each) => this.#textOf(each)).join(''));
        this.#isFailing = false;
      } catch (error) {
        return this.#putOff(taken, error);
      }
      if (this.#waiting.length > 0 && !this.#isClosed) await sleep(this.#clock, 0);
    }
  }

  #take(): Waiting[] {
    const { bytes } = this.#limits.files;
    let characters = 0;
    const end = this.#waiting.findIndex((each) => {
      if (typeof each === 'string') characters += each.length;
      return characters >= Math.min(CHARACTERS_AT_ONCE, bytes);
    });
    const taken = this.#waiting.splice(0, end === -1 ? this.#waiting.length : end + 1);
    this.#characters -= characters;
    return taken;
  }

  #textOf(waiting: Waiting): string {
    return typeof waiting === 'string' ? waiting : droppedText(waiting.dropped, this.#clock.now());
  }

  /**
   * Counts the lines of a failed write as dropped. Some of these lines may have been written, so none of them is
   * written again.
   */
  #putOff(taken: readonly Waiting[], error: unknown): void {
    const dropped = taken.reduce((sum, each) => sum + (typeof each === 'string' ? 1 : each.dropped), 0);
    this.#waiting.unshift({ dropped });
    if (!this.#isFailing) this.#warn({ path: this.#file.path, message: `cannot be written: ${String(error)}` });
    this.#isFailing = true;
    if (this.#isClosed) return;
    this.#pause = this.#clock.after(PAUSE_MS, () => {
      this.#pause = undefined;
      this.#startWriting();
    });
  }
}
