/**
 * A deadline for the own time of a layer or a tool. The timer is paused while the layer or tool waits for something
 * with its own deadline: a layer waits for everything inside it, and a tool waits for other agents.
 */
import type { Clock } from '../ports/clock.ts';

/**
 * Runs `action` once, after `ms` of own time since `start`. Does nothing after `stop`. Pauses nest: each `pause` needs
 * its own `resume`.
 */
export class OwnTimeTimer {
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
