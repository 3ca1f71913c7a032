/**
 * A deadline for the own time of a layer or a tool: the count is paused while it waits for something with its own
 * deadline. Layers wait for everything inside them, and tools wait for other agents.
 */
import type { Clock } from '../ports/clock.ts';

/** Pauses and resumes the count. Pauses nest: each one needs its own `resume`. */
export interface Pausable {
  pause(): void;
  resume(): void;
}

/** Runs `action` once, when `ms` of own time have passed since `start`. Nothing happens after `stop`. */
export class OwnTimeTimer implements Pausable {
  private callOff: (() => void) | undefined;
  private countingSince = 0;
  private remaining: number;
  private pauses = 0;
  private stopped = false;

  constructor(
    private readonly clock: Clock,
    ms: number,
    private readonly action: () => void,
  ) {
    this.remaining = ms;
  }

  start(): void {
    if (this.stopped || this.pauses > 0) return;
    this.countingSince = this.clock.elapsed();
    this.callOff = this.clock.after(Math.max(0, this.remaining), this.action);
  }

  pause(): void {
    this.pauses++;
    this.halt();
  }

  resume(): void {
    this.pauses--;
    this.start();
  }

  stop(): void {
    this.stopped = true;
    this.halt();
  }

  private halt(): void {
    if (this.callOff === undefined) return;
    this.callOff();
    this.callOff = undefined;
    this.remaining -= this.clock.elapsed() - this.countingSince;
  }
}
