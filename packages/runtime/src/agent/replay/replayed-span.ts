/** One replayed chain with its layers: recorded as in a normal turn, and compared with its record. */
import type { MessageEvent, MiddlewareKind } from '@goondan/types';
import type { ChainRecord, LayerRecord } from '../../trace/turn-trace.ts';
import { cutJson } from '../../json/diff-json.ts';
import type { EffectRecord } from '../../trace/effect-record.ts';
import { describeOneLayer } from '../../trace/describe-span.ts';
import type { DrawKind, DrawnValues } from '../../trace/draw-scope.ts';
import type { ChainSpan, LayerSpan, WatchedLayer } from '../../trace/layer-span.ts';
import { markLayer } from '../../trace/mark-layer.ts';
import type { RunningSpan } from '../../trace/running-span.ts';
import type { RecordedLayer } from '../../trace/recorded-layer.ts';
import {
  asIfItDidNothing,
  compareWayIn,
  compareWayOut,
  describeGone,
  didNotGoIn,
  didSomething,
  failedItself,
  type LayerDifference,
  type LayerNow,
} from './compare-layer.ts';
import type { ReplayWatch } from './replay-watch.ts';
import type { ServedDraws } from './served-draws.ts';

/** The author of an action: a layer, an extension (with an empty layer name), or undefined for the agent itself. */
export type Doer = Pick<LayerRecord, 'extension' | 'name'> | undefined;

export const whom = {
  model: 'the model',
  tool: 'a tool',
  agent: 'another agent',
  approval: 'a person',
  budget: 'a budget',
} as const;

export class ReplayedSpan implements ChainSpan {
  readonly place: readonly string[];
  readonly scope = this;
  readonly #foundLayers = new Map<LayerRecord, ReplayedLayer>();
  readonly #foundChains = new Set<ChainRecord>();
  #hasLookedForGone = false;
  /** True when the chain began after the recorded run was halted, so that no record exists to compare it with. */
  readonly isBeyondHalt: boolean;
  /** The layer whose code is running. */
  active: ReplayedLayer | undefined;

  constructor(
    readonly watch: ReplayWatch,
    readonly now: RunningSpan,
    /** The record of this chain; undefined when the recording has none. */
    readonly then: ChainRecord | undefined,
    outer: ReplayedSpan | undefined,
    /** The layer whose code requested this chain. */
    readonly by: Doer,
  ) {
    this.place = outer === undefined ? [] : [...outer.place, placeOf(now.chain)];
    this.isBeyondHalt = then === undefined && outer?.isAtHalt === true;
  }

  /** True when the chain was running at the halt, and has got at least as far in the replay as in the recording. */
  get isAtHalt(): boolean {
    if (this.isBeyondHalt) return true;
    if (this.then?.isUnfinished !== true) return false;
    return this.then.layers.every((layer) => {
      const found = this.#foundLayers.get(layer);
      if (found === undefined) return !this.watch.hasLayer(layer);
      return rank(found.now.stage) >= rank(layer.stage);
    });
  }

  /** The layer whose code was running at the halt. */
  get haltedIn(): LayerRecord | undefined {
    return this.then?.layers.findLast(({ stage }) => stage === 'in' || stage === 'out');
  }

  get activeLayer(): WatchedLayer | undefined {
    return this.active?.now.layer;
  }

  /** Finds the record of a chain inside this one. If several records have this id, returns the next unused one. */
  findInside(kind: MiddlewareKind, id: string): ChainRecord | undefined {
    const found = this.then?.inside.find(
      (each) => each.kind === kind && each.id === id && !this.#foundChains.has(each),
    );
    if (found !== undefined) this.#foundChains.add(found);
    return found;
  }

  /**
   * Called when something inside the chain starts. If no layer requested it, the core did. All layers have then been
   * entered, so missing layers are reported.
   */
  coreBegins(by: Doer): void {
    if (by === undefined) this.#lookForGone();
  }

  enter(layer: WatchedLayer): ReplayedLayer | undefined {
    const now = this.now.enter(layer);
    if (now === undefined) return undefined;
    const then = this.then?.layers.find(
      (each) => each.extension === layer.extension && each.name === layer.name && !this.#foundLayers.has(each),
    );
    // A new layer that starts after the halt is not compared.
    const isBeyondHalt = then === undefined && this.isAtHalt;
    const draws = this.watch.drawsFor(this.now, layer, then, this.now.layers.length);
    const entered = new ReplayedLayer(this, now, then, draws, isBeyondHalt);
    if (then !== undefined) this.#foundLayers.set(then, entered);
    this.active = entered;
    this.watch.look();
    return entered;
  }

  draw<Kind extends DrawKind>(kind: Kind, make: () => DrawnValues[Kind]): DrawnValues[Kind] {
    return this.active === undefined ? make() : this.active.draws.draw(kind, make);
  }

  end(result: unknown): void {
    this.now.end(result);
    this.#over();
    this.watch.chainEnded(this);
  }

  fail(error: unknown, retryMs?: number): void {
    this.now.fail(error, retryMs);
    this.#over();
    this.watch.chainEnded(this);
  }

  differs(doer: Doer, difference: LayerDifference): void {
    this.watch.differs(this.place, doer, difference);
  }

  #over(): void {
    this.#lookForGone();
    for (const effect of this.watch.unasked(this.then?.spanId)) {
      const { path, before } = describeAsked(effect);
      this.differs(effect.by, {
        what: 'not_asked',
        message: `sent no request to ${path}, but did in the recording`,
        changes: [{ path, before }],
      });
    }
    const missing = this.then?.inside.find((each) => !this.#foundChains.has(each));
    if (missing === undefined) return;
    this.#foundChains.add(missing);
    const message = `did not run ${placeOf(missing)}, but did in the recording`;
    const changes = [{ path: missing.kind, before: missing.label }];
    this.differs(missing.by, { what: 'not_asked', message, changes });
  }

  /** Reports layers that did something in the recording but do not exist now. */
  #lookForGone(): void {
    if (this.#hasLookedForGone || this.then === undefined) return;
    this.#hasLookedForGone = true;
    const unasked = this.watch.unasked(this.then.spanId);
    for (const [index, layer] of this.then.layers.entries()) {
      if (this.#foundLayers.has(layer)) continue;
      const itself = failedItself(this.then, index, this.watch.recording.effects);
      const asked = unasked.filter(({ by }) => by?.extension === layer.extension && by.name === layer.name);
      if (didSomething(layer, itself) || asked.length > 0)
        this.differs(layer, describeGone(layer, asked.map(describeAsked)));
    }
  }
}

function describeAsked({ kind, asked }: EffectRecord): { readonly path: string; readonly before: string } {
  return { path: whom[kind], before: cutJson(asked, LONGEST_ASKED) };
}

const LONGEST_ASKED = 500;

function placeOf({ kind, label }: Pick<ChainRecord, 'kind' | 'label'>): string {
  return `${kind} ${label}`;
}

class ReplayedLayer implements LayerSpan {
  constructor(
    private readonly chain: ReplayedSpan,
    readonly now: RecordedLayer,
    /** The record of this layer; undefined when the recording has none. */
    private readonly then: LayerRecord | undefined,
    readonly draws: ServedDraws,
    private readonly isBeyondHalt: boolean,
  ) {}

  next(): void {
    this.now.next();
    this.chain.active = undefined;
    if (!this.isBeyondHalt && this.then?.stage !== 'in') {
      const described = this.#describe();
      this.#tell(compareWayIn(this.then ?? asIfItDidNothing(described.record), described));
      // The layer was running at the halt, so nothing else of it is compared.
      if (this.then?.stage !== undefined) this.chain.watch.compared();
    }
    this.chain.watch.look();
  }

  innerSettled(result: unknown): void {
    this.chain.active = this;
    this.now.innerSettled(result);
    this.chain.watch.look();
  }

  emitted(event: MessageEvent, author?: string): void {
    this.now.emitted(event, author);
  }

  shortCircuit(): void {
    this.now.shortCircuit();
  }

  exit(result: unknown): void {
    this.now.exit(result);
    this.#over();
  }

  fail(error: unknown, skipped: boolean): void {
    this.now.fail(error, skipped);
    this.#over();
  }

  #over(): void {
    this.chain.active = undefined;
    this.#compareEnd();
    this.chain.watch.look();
  }

  #compareEnd(): void {
    if (this.isBeyondHalt || this.then?.stage === 'in') return;
    const described = this.#describe();
    // The layer was running at the halt, so the recording only shows whether it had called `next()`.
    if (this.then?.stage !== undefined) {
      if (!this.now.hasGoneIn) this.#tell(didNotGoIn(described.record));
      return;
    }
    this.chain.watch.compared();
    const then = this.then ?? { ...asIfItDidNothing(described.record), ...passedOn(described.record) };
    this.#tell(compareWayOut(then, described, this.now.hasGoneIn));
  }

  #describe(): LayerNow {
    const { mask } = this.chain.watch;
    return { record: describeOneLayer(this.now, mask), marks: markLayer(this.now, mask) };
  }

  #tell(difference: LayerDifference | undefined): void {
    if (difference !== undefined) this.chain.differs(this.now.layer, difference);
  }
}

/** Returns the progress of a layer as a number; a layer that has ended has the highest number. */
function rank(stage: LayerRecord['stage']): number {
  return stage === undefined ? 3 : ['in', 'inside', 'out'].indexOf(stage);
}

/**
 * Returns the outcome and the error of a new layer whose `next()` failed. With them, a layer that only passed on an error
 * from inside counts as a layer that did nothing.
 */
function passedOn({ outcome, error, isBeforeNext, isAfterNext }: LayerRecord): Partial<LayerRecord> {
  const isOwn = isBeforeNext === true || isAfterNext === true;
  return outcome === 'failed' && !isOwn && error !== undefined ? { outcome, error } : {};
}
