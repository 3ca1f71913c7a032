/** The deadline of a call at a server. It begins again with each progress, and is paused while a person is asked. */
import type { Clock } from './clock.ts';

export class CallDeadline {
  readonly #late = new AbortController();
  #callOff = () => {};
  #startedAt = 0;
  #leftMs: number;
  /** The number of open questions. */
  #pauses = 0;
  #isOver = false;

  constructor(
    private readonly clock: Clock,
    private readonly ms: number,
  ) {
    this.#leftMs = ms;
    this.#start();
  }

  /** Aborts when the deadline has passed. */
  get signal(): AbortSignal {
    return this.#late.signal;
  }

  /** Gives the call the whole time again. */
  restart(): void {
    this.#leftMs = this.ms;
    if (this.#pauses > 0) return;
    this.#callOff();
    this.#start();
  }

  /** Runs a wait that does not count. */
  async pausedFor<Value>(wait: () => Promise<Value>): Promise<Value> {
    this.#pauses += 1;
    if (this.#pauses === 1) this.#stop();
    try {
      return await wait();
    } finally {
      this.#pauses -= 1;
      if (this.#pauses === 0) this.#start();
    }
  }

  end(): void {
    this.#isOver = true;
    this.#callOff();
  }

  #start(): void {
    if (this.#isOver) return;
    this.#startedAt = this.clock.elapsed();
    this.#callOff = this.clock.after(this.#leftMs, () => this.#late.abort(new Error('the call took too long')));
  }

  #stop(): void {
    this.#callOff();
    this.#leftMs = Math.max(0, this.#leftMs - (this.clock.elapsed() - this.#startedAt));
  }
}
