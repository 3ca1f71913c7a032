/** One chain that is run again, with its layers: recorded as the first time, and compared with what was recorded then. */
import type { MessageEvent } from '@goondan/types';
import type { ChainRecord, LayerRecord } from '../../trace/chain-record.ts';
import { describeOneLayer } from '../../trace/describe-chain.ts';
import type { DrawKind, DrawnValues } from '../../trace/draw-scope.ts';
import type { ChainSpan, LayerSpan, WatchedLayer } from '../../trace/layer-span.ts';
import { markLayer } from '../../trace/mark-layer.ts';
import type { RecordedChain } from '../../trace/recorded-chain.ts';
import type { RecordedLayer } from '../../trace/recorded-layer.ts';
import {
  asIfItDidNothing,
  compareWayIn,
  compareWayOut,
  describeGone,
  didSomething,
  type LayerDifference,
  type LayerNow,
} from './compare-layer.ts';
import { failedItself } from './failed-itself.ts';
import type { ReplayWatch } from './replay-watch.ts';
import type { ServedDraws } from './served-draws.ts';

/** Whoever did it: a layer, an extension (without a name), or nobody but the agent itself. */
export type Doer = Pick<LayerRecord, 'extension' | 'name'> | undefined;

export class ReplayedChain implements ChainSpan {
  readonly place: readonly string[];
  readonly scope = this;
  readonly #foundLayers = new Set<LayerRecord>();
  readonly #foundChains = new Set<ChainRecord>();
  #hasLookedForGone = false;
  #active: ReplayedLayer | undefined;

  constructor(
    readonly watch: ReplayWatch,
    readonly now: RecordedChain,
    /** As it was. Undefined: there was none. */
    readonly then: ChainRecord | undefined,
    outer: ReplayedChain | undefined,
    /** The layer whose code asked for it. */
    readonly by: Doer,
  ) {
    this.place = outer === undefined ? [] : [...outer.place, placeOf(now.chain)];
  }

  get activeLayer(): WatchedLayer | undefined {
    return this.#active?.now.layer;
  }

  set active(layer: ReplayedLayer | undefined) {
    this.#active = layer;
  }

  /** The chain inside this one that is run again now: of several with this id, the next. */
  findInside(kind: string, id: string): ChainRecord | undefined {
    const found = this.then?.inside.find(
      (each) => each.kind === kind && each.id === id && !this.#foundChains.has(each),
    );
    if (found !== undefined) this.#foundChains.add(found);
    return found;
  }

  /** All its layers are in, unless one of them asks. */
  coreBegins(by: Doer): void {
    if (by === undefined) this.#lookForGone();
  }

  enter(layer: WatchedLayer): ReplayedLayer | undefined {
    const now = this.now.enter(layer);
    if (now === undefined) return undefined;
    const then = this.then?.layers.find(
      (each) => each.extension === layer.extension && each.name === layer.name && !this.#foundLayers.has(each),
    );
    if (then !== undefined) this.#foundLayers.add(then);
    const draws = this.watch.drawsFor(this.now, layer, then, this.now.layers.length);
    this.active = new ReplayedLayer(this, now, then, draws);
    return this.#active;
  }

  draw<Kind extends DrawKind>(kind: Kind, make: () => DrawnValues[Kind]): DrawnValues[Kind] {
    return this.#active === undefined ? make() : this.#active.draws.draw(kind, make);
  }

  end(result: unknown): void {
    this.now.end(result);
    this.#over();
  }

  fail(error: unknown, retryMs?: number): void {
    this.now.fail(error, retryMs);
    this.#over();
  }

  differs(doer: Doer, difference: LayerDifference): void {
    this.watch.differs(this.place, doer, difference);
  }

  #over(): void {
    this.#lookForGone();
    const missing = this.then?.inside.find((each) => !this.#foundChains.has(each));
    if (missing === undefined) return;
    this.#foundChains.add(missing);
    const message = `does not ask for: ${placeOf(missing)}`;
    const changes = [{ path: missing.kind, before: missing.label }];
    this.differs(missing.by, { what: 'not_asked', message, changes });
  }

  /** Layers that did something then and are not there now. */
  #lookForGone(): void {
    if (this.#hasLookedForGone || this.then === undefined) return;
    this.#hasLookedForGone = true;
    for (const [index, layer] of this.then.layers.entries()) {
      if (this.#foundLayers.has(layer)) continue;
      const itself = failedItself(this.then, index, this.watch.recording.effects);
      if (didSomething(layer, itself)) this.differs(layer, describeGone(layer));
    }
  }
}

function placeOf({ kind, label }: Pick<ChainRecord, 'kind' | 'label'>): string {
  return `${kind} ${label}`;
}

class ReplayedLayer implements LayerSpan {
  constructor(
    private readonly chain: ReplayedChain,
    readonly now: RecordedLayer,
    /** As it was. Undefined: it was not there. */
    private readonly then: LayerRecord | undefined,
    readonly draws: ServedDraws,
  ) {}

  next(): void {
    this.now.next();
    this.chain.active = undefined;
    const described = this.#describe();
    this.#tell(compareWayIn(this.then ?? asIfItDidNothing(described.record), described));
  }

  innerSettled(result: unknown): void {
    this.chain.active = this;
    this.now.innerSettled(result);
  }

  emitted(event: MessageEvent): void {
    this.now.emitted(event);
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
    this.chain.watch.compared();
    const described = this.#describe();
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

/** A layer that was not there then and lets an error from inside pass has done nothing. */
function passedOn({ outcome, error, isBeforeNext }: LayerRecord): Partial<LayerRecord> {
  return outcome === 'failed' && isBeforeNext !== true && error !== undefined ? { outcome, error } : {};
}
