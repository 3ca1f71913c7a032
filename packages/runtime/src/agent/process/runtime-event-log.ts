/**
 * `runtime-events.jsonl` of an instance: what happened, for people.
 *
 * 1. No turn waits for it, and none fails with it: what cannot be written is reported, and counted in the next line.
 * 2. Events are written in the order in which they happened, several at a time.
 * 3. At most `MOST_WAITING` wait; past it the newest is let go and counted.
 */
import type { JsonObject } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { RuntimeEventWriter } from '../../workspace/archive/runtime-events.ts';

export interface RuntimeEventLogParts {
  /** Called at the first event, and again after a write failed. */
  readonly open: () => Promise<RuntimeEventWriter>;
  readonly clock: Clock;
  /** Told once for each time that writing stops working. */
  readonly report: (problem: string) => void;
}

const MOST_WAITING = 1_000;
/** How long events are gathered. */
const GATHER_MS = 20;

export class RuntimeEventLog {
  readonly #parts: RuntimeEventLogParts;
  #waiting: JsonObject[] = [];
  #dropped = 0;
  #writer: RuntimeEventWriter | undefined;
  #isFailing = false;
  #callOff: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: RuntimeEventLogParts) {
    this.#parts = parts;
  }

  add(event: JsonObject): void {
    if (this.#waiting.length >= MOST_WAITING) this.#dropped += 1;
    else this.#waiting.push(event);
    this.#callOff ??= this.#parts.clock.after(GATHER_MS, () => void this.flush());
  }

  /** Resolves when everything so far is with the system, or was given up. Never rejects. */
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
    const [events, dropped] = [this.#waiting, this.#dropped];
    if (events.length === 0 && dropped === 0) return;
    this.#waiting = [];
    this.#dropped = 0;
    try {
      this.#writer ??= await this.#parts.open();
      await this.#writer.append(dropped === 0 ? events : [...events, this.#noteOf(dropped)]);
      this.#isFailing = false;
    } catch (error) {
      this.#dropped += events.length + dropped;
      await this.#closeWriter();
      if (!this.#isFailing) this.#parts.report(error instanceof Error ? error.message : String(error));
      this.#isFailing = true;
    }
  }

  #noteOf(count: number): JsonObject {
    return { time: this.#parts.clock.now().toISOString(), name: 'events.dropped', payload: { count } };
  }

  async #closeWriter(): Promise<void> {
    await this.#writer?.close().catch(() => undefined);
    this.#writer = undefined;
  }
}
