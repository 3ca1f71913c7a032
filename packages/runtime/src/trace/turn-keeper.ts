/**
 * Keeps the chains of one turn while it is watched, within bounds: past `chains` and `layers` they are counted, not
 * kept. A chain is handed on when it begins, when it is over, and when something new is known about it after that.
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
  /** On the clock that only grows; below 0 until then. */
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

  /** The turn begins; else it does with its first chain. */
  start(): void {
    this.startedAt = this.clock.elapsed();
  }

  /** `by`: the layer that asks for it. Undefined past the bound, and for what begins when the turn is over. */
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
    // A layer that hung may wake up and go on when its turn was given up long ago.
    if (!this.isOver) this.onChanged(chain);
  }

  /** What comes now is nobody's. */
  close(): void {
    this.isOver = true;
  }
}
