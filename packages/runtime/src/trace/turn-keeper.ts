/**
 * Keeps the chains of one turn while it is watched. Chains above `MOST_CHAINS` and layers above `MOST_LAYERS` are only
 * counted. A chain is reported when it begins, when it ends, and when something new is known about it.
 */
import type { Clock } from '../ports/clock.ts';
import type { SpanStart } from './layer-span.ts';
import { RunningSpan } from './running-span.ts';

const MOST_CHAINS = 5_000;
const MOST_LAYERS = 5_000;

export class TurnKeeper {
  /** The number of layers that may still be recorded. */
  layersLeft = MOST_LAYERS;
  chainsMore = 0;
  /** The start time on the monotonic clock; below 0 before the start. */
  startedAt = -1;
  private count = 0;
  private isOver = false;

  constructor(
    readonly clock: Clock,
    private readonly onChanged: (chain: RunningSpan) => void,
  ) {}

  /** Starts the turn. Without this call, the turn starts with its first chain. */
  start(): void {
    this.startedAt = this.clock.elapsed();
  }

  /**
   * Opens a chain. `by`: the layer that starts the chain. Returns undefined above the limit and after the end of the
   * turn.
   */
  open(
    chain: SpanStart,
    parent: RunningSpan | undefined,
    by = parent?.active?.layer ?? chain.by,
  ): RunningSpan | undefined {
    if (this.isOver) return undefined;
    if (this.count >= MOST_CHAINS) {
      this.chainsMore++;
      return undefined;
    }
    const opened = new RunningSpan(chain, this.count++, parent, this, by);
    if (this.startedAt < 0) this.startedAt = opened.startedAt;
    this.onChanged(opened);
    return opened;
  }

  /** Called when the chain ended, or when something about it changed. */
  settled(chain: RunningSpan): void {
    // A layer that hung may continue long after its turn was given up.
    if (!this.isOver) this.onChanged(chain);
  }

  /** Closes the turn: later chains are ignored. */
  close(): void {
    this.isOver = true;
  }
}
