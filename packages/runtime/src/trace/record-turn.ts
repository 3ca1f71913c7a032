/**
 * Records a turn's chains as a tree in memory: every layer with its own time (what is inside it excluded) and what it
 * changed. Diffs, not copies.
 */
import type { LocateThrown } from '../log/locate-thrown.ts';
import type { Clock } from '../ports/clock.ts';
import type { ChainRecord } from './turn-trace.ts';
import { describeSpan } from './describe-span.ts';
import type { ChainSpan, TurnObserver, SpanStart, WatchedTurn } from './layer-span.ts';
import { RunningSpan } from './running-span.ts';
import { TurnKeeper } from './turn-keeper.ts';

export interface TurnRecorder extends TurnObserver {
  /** The turn's own chain, once it has started, as far as it got. */
  turn(): ChainRecord | undefined;
}

export function recordTurn(clock: Clock): TurnRecorder {
  return new TreeRecorder(clock);
}

class TreeRecorder implements TurnRecorder {
  private readonly keeper: TurnKeeper;
  private root: RunningSpan | undefined = undefined;
  private locate: LocateThrown | undefined = undefined;

  constructor(clock: Clock) {
    this.keeper = new TurnKeeper(clock, ignore);
  }

  started({ locate }: WatchedTurn): void {
    this.locate = locate;
    this.keeper.start();
  }

  chain(chain: SpanStart, parent: ChainSpan | undefined): RunningSpan | undefined {
    const outer = parent instanceof RunningSpan ? parent : this.root;
    const recorded = this.keeper.open(chain, outer);
    if (recorded === undefined) return undefined;
    if (outer === undefined) this.root = recorded;
    else (outer.inside ??= []).push(recorded);
    return recorded;
  }

  turn(): ChainRecord | undefined {
    return this.root && this.describe(this.root);
  }

  private describe(recorded: RunningSpan): ChainRecord {
    const inside = (recorded.inside ?? []).map((each) => this.describe(each));
    return { ...describeSpan(recorded, { turnStartedAt: this.keeper.startedAt, locate: this.locate }), inside };
  }
}

/** The tree is looked at when somebody asks. */
function ignore(): void {}
