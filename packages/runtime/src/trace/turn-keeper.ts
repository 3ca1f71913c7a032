/**
 * Keeps the chains of one turn while it is watched. Over the limits `chains` and `layers` they are only counted. A
 * chain is passed on when it begins, when it ends, and when something changes about it later.
 */
import type { Clock } from '../ports/clock.ts';
import type { SpanStart } from './layer-span.ts';
import { type SpanKeeper, RunningSpan } from './running-span.ts';

export interface TraceLimits {
  readonly chains: number;
  readonly layers: number;
}

export const defaultTraceLimits: TraceLimits = { chains: 5_000, layers: 5_000 };

export class TurnKeeper implements SpanKeeper {
  layersLeft: number;
  chainsMore = 0;
  /** On the monotonic clock; below 0 before the start. */
  startedAt = -1;
  private count = 0;
  private isOver = false;

  constructor(
    readonly clock: Clock,
    private readonly onChanged: (chain: RunningSpan) => void,
    private readonly limits: TraceLimits = defaultTraceLimits,
  ) {
    this.layersLeft = limits.layers;
  }

  /** The turn begins. Without this call it begins with its first chain. */
  start(): void {
    this.startedAt = this.clock.elapsed();
  }

  /**
   * Opens a chain. `by` is the layer that starts it. Returns undefined over the limit and after the end of the turn.
   */
  open(chain: SpanStart, parent: RunningSpan | undefined, by = parent?.active?.layer): RunningSpan | undefined {
    if (this.isOver) return undefined;
    if (this.count >= this.limits.chains) {
      this.chainsMore++;
      return undefined;
    }
    const opened = new RunningSpan(chain, this.count++, parent, this, by);
    if (this.startedAt < 0) this.startedAt = opened.startedAt;
    this.onChanged(opened);
    return opened;
  }

  settled(chain: RunningSpan): void {
    // A layer that hung may continue long after its turn was given up.
    if (!this.isOver) this.onChanged(chain);
  }

  /** Closes the turn: later chains belong to none. */
  close(): void {
    this.isOver = true;
  }
}
