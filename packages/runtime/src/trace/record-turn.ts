/**
 * Records a turn's chains as a tree in memory. Each layer has its changes and its own time, which does not include the
 * time of the layers and chains inside it. Values are stored as differences, not as copies.
 */
import type { LocateThrown } from '../log/locate-thrown.ts';
import { type Mask, noSecrets } from '../log/mask-secrets.ts';
import type { Clock } from '../ports/clock.ts';
import type { ChainRecord } from './turn-trace.ts';
import { describeSpan } from './describe-span.ts';
import type { EffectKind, EffectRecord } from './effect-record.ts';
import type { ChainSpan, SpanStart, TurnObserver, WatchedEffect, WatchedTurn } from './layer-span.ts';
import { PersonWaits } from './person-waits.ts';
import { reachedBy } from './reached-by.ts';
import { EffectRecorder } from './record-effect.ts';
import { RunningSpan } from './running-span.ts';
import { TurnKeeper } from './turn-keeper.ts';
import { WrittenRequests } from './written-requests.ts';

export interface TurnRecorder extends TurnObserver {
  /** Returns the turn chain in its current state; undefined before the chain begins. */
  turn(): ChainRecord | undefined;
}

export function recordTurn(clock: Clock): TurnRecorder {
  return new TreeRecorder(clock);
}

class TreeRecorder implements TurnRecorder {
  private readonly keeper: TurnKeeper;
  private root: RunningSpan | undefined = undefined;
  private locate: LocateThrown | undefined = undefined;
  private mask: Mask = noSecrets;
  private readonly waits = new PersonWaits();
  private readonly recorder = new EffectRecorder();
  private readonly requests = new WrittenRequests();
  /** Effects by key; each is described when the turn is read. */
  private readonly effects = new Map<string, () => EffectRecord>();

  constructor(clock: Clock) {
    this.keeper = new TurnKeeper(clock, ignore);
  }

  started({ locate, mask }: WatchedTurn): void {
    this.locate = locate;
    this.mask = mask;
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

  asked(key: string, kind: EffectKind): void {
    this.waits.begin(key, kind);
  }

  effect(effect: WatchedEffect): void {
    this.waits.end(effect);
    const make = this.recorder.record(effect, this.mask);
    let made: EffectRecord | undefined;
    this.effects.set(effect.key, () => (made ??= make(this.requests)));
  }

  turn(): ChainRecord | undefined {
    const effects = new Map(Array.from(this.effects, ([key, make]) => [key, make()]));
    return this.root && this.describe(this.root, effects);
  }

  private describe(recorded: RunningSpan, effects: ReadonlyMap<string, EffectRecord>): ChainRecord {
    const inside = (recorded.inside ?? []).map((each) => this.describe(each, effects));
    const own = describeSpan(recorded, this.keeper.startedAt, this.locate);
    return { ...own, ...reachedBy(own, effects), inside };
  }
}

/** The tree is built on demand, so notifications of changes are ignored. */
function ignore(): void {}
