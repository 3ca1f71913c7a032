/**
 * One chain while it is watched: its layers, and its fields and its result in their last known state.
 *
 * Layers are nested, so each layer finds the values that the previous one left. Fields and result are stored once for
 * the chain, compared where a layer begins and ends, and copied again only when they changed. The clock is read once
 * between two layers.
 *
 * The chains of a turn, its step and the model are nested as well, and one of them runs at a time, so they share a
 * scope. Tool calls, and calls made by a layer, can run at the same time as others, so each has its own scope.
 */
import type { MiddlewareKind } from '@goondan/types';
import type { PlainObject } from '../json/copy-json.ts';
import { isAsBefore, snapshotJson } from '../json/snapshot-json.ts';
import { AskedPeople } from './asked-people.ts';
import type { EffectRecord } from './effect-record.ts';
import type { DrawKind, DrawnValues } from './draw-scope.ts';
import type { ChainSpan, LayerChange, ReservedCall, SpanStart, WatchedLayer } from './layer-span.ts';
import { type Difference, RecordedLayer } from './recorded-layer.ts';
import type { TurnKeeper } from './turn-keeper.ts';
import type { GivenAnswer } from './turn-trace.ts';

/** For each kind: true if its chains may run at the same time as others, as the tool calls of one reply do. */
const mayRunBeside: Readonly<Record<MiddlewareKind, boolean>> = {
  turn: false,
  step: false,
  model: false,
  toolCall: true,
};

export class RunningSpan implements ChainSpan {
  readonly layers: RecordedLayer[] = [];
  totalMs = 0;
  outcome: 'running' | 'ended' | 'failed' = 'running';
  result: unknown = undefined;
  /** The layer whose code is running; nested layers run one at a time. Undefined while the core runs. */
  active: RecordedLayer | undefined = undefined;
  readonly startedAt: number;
  // Most chains have none of these fields. They are only declared, so they cost nothing until they are set.
  declare layersMore?: number;
  declare error?: unknown;
  declare retryMs?: number | undefined;
  declare call?: ReservedCall;
  /** The limit that a model call waits for, and the time since which it does. */
  declare wait?: { readonly limit: string; readonly since: number } | undefined;
  /** The waits of the core for people, such as those of a tool's handler. */
  declare people?: AskedPeople;
  /** The chains inside this one, for a listener that keeps the whole tree. */
  declare inside?: RunningSpan[];
  /** The chain's own scope; absent if the chain uses the scope of the enclosing chain. */
  declare readonly scope?: RunningSpan;
  /** The fields as they were when a layer started this chain, before any layer of the chain ran. */
  declare readonly asked?: PlainObject | undefined;
  /** Absent before the first layer. */
  declare private fields?: PlainObject | undefined;
  /** The chain whose scope this chain uses; the chain itself if it has its own scope. */
  private readonly owner: RunningSpan;
  /** The running chain of this scope. */
  private running: RunningSpan = this;
  /**
   * The time at which a layer was entered or left, if nothing has happened since; below 0 otherwise. The next layer
   * then need not read the clock.
   */
  private enteredAt: number;
  private leftAt = -1;
  private keptOf: unknown = undefined;
  private kept: unknown = undefined;

  constructor(
    readonly chain: SpanStart,
    readonly number: number,
    readonly parent: RunningSpan | undefined,
    private readonly keeper: TurnKeeper,
    /** The layer whose code started this chain. */
    readonly by?: WatchedLayer,
  ) {
    this.startedAt = keeper.clock.elapsed();
    this.enteredAt = this.startedAt;
    if (by !== undefined) this.asked = this.look();
    const isBeside = parent === undefined || by !== undefined || mayRunBeside[chain.kind];
    if (isBeside) this.scope = this;
    this.owner = isBeside ? this : parent.owner;
    this.owner.running = this;
  }

  enter(layer: WatchedLayer): RecordedLayer | undefined {
    if (this.keeper.layersLeft <= 0) {
      this.layersMore = (this.layersMore ?? 0) + 1;
      return undefined;
    }
    this.keeper.layersLeft--;
    if (this.layers.length === 0 && this.chain.inspect !== undefined) this.fields = this.look();
    const now = this.enteredAt >= 0 ? this.enteredAt : this.keeper.clock.elapsed();
    this.enteredAt = -1;
    const entered = new RecordedLayer(layer, this, now);
    this.layers.push(entered);
    this.active = entered;
    return entered;
  }

  /** The layer whose code is running in this scope. */
  get activeLayer(): RecordedLayer | undefined {
    return this.running.active;
  }

  /** The part of this scope whose code is running: a layer, or the core of the running chain. */
  get activePart(): RecordedLayer | RunningSpan {
    return this.activeLayer ?? this.running;
  }

  /** The time at which a layer or the core asked a person who has not answered yet. */
  get askedAt(): number | undefined {
    const times = [this, ...this.layers].flatMap(({ people }) => people?.since ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  now(): number {
    return this.keeper.clock.elapsed();
  }

  /** The layer whose code is running in this scope, and the span of that layer's chain. */
  get asker(): EffectRecord['by'] {
    const { active, chain } = this.running;
    if (active === undefined) return undefined;
    const { extension, name } = active.layer;
    return { extension, name, span: chain.spanIds?.spanId ?? '' };
  }

  /** The layer that started the running chain, as with `ctx.model.generate`, and the span of the chain. */
  get starter(): EffectRecord['by'] {
    const { by, chain } = this.running;
    return by && { extension: by.extension, name: by.name, span: chain.spanIds?.spanId ?? '' };
  }

  /**
   * The layers that may have changed the request of the running model chain, innermost first: those of the chain, and
   * those of its step. Undefined when some layers were only counted.
   */
  get changers(): readonly RecordedLayer[] | undefined {
    const { layers, layersMore, by, parent } = this.running;
    // A layer that makes a call itself does not pass on the catalog of the step.
    const step = by === undefined && parent?.chain.kind === 'step' ? parent : undefined;
    if (layersMore !== undefined || step?.layersMore !== undefined) return undefined;
    return [...layers.toReversed(), ...(step?.layers.toReversed() ?? [])];
  }

  draw<Kind extends DrawKind>(kind: Kind, make: () => DrawnValues[Kind]): DrawnValues[Kind] {
    const { active } = this.running;
    return active === undefined ? make() : active.draw(kind, make);
  }

  changes(): readonly LayerChange[] {
    return [...(this.parent?.layers ?? []), ...this.layers].flatMap(({ layer: { extension }, changed }) =>
      changed === undefined ? [] : [{ extension, ...changed }],
    );
  }

  waits(limit: string): void {
    this.wait = { limit, since: this.now() };
    this.changed();
  }

  reserved(call: ReservedCall): void {
    this.call = call;
    if (this.wait === undefined) return;
    this.wait = undefined;
    this.changed();
  }

  beginWait(): void {
    (this.people ??= new AskedPeople()).begin(this.now());
    this.changed();
  }

  endWait(answer?: GivenAnswer): void {
    this.people?.end(this.now(), answer);
    this.changed();
  }

  /** Called when something new is known about the chain. */
  changed(): void {
    this.keeper.settled(this);
  }

  end(result: unknown): void {
    this.outcome = 'ended';
    this.result = result;
    this.settle();
  }

  fail(error: unknown, retryMs?: number): void {
    this.outcome = 'failed';
    this.error = error;
    if (retryMs !== undefined) this.retryMs = retryMs;
    this.settle();
  }

  /** Called when a layer calls `next()`: the next inner layer follows, or the core. Returns the time. */
  goIn(): number {
    this.active = undefined;
    this.leftAt = -1;
    this.enteredAt = this.keeper.clock.elapsed();
    return this.enteredAt;
  }

  /**
   * Called when the promise of a layer's `next()` settles, just after the inner layer or the core has ended. Returns
   * the time.
   */
  comeOut(): number {
    const now = this.leftAt >= 0 ? this.leftAt : this.keeper.clock.elapsed();
    this.enteredAt = -1;
    this.leftAt = -1;
    return now;
  }

  /** Called when a layer ends. `isAtOnce`: the outer layer continues at the same moment. Returns the time. */
  leave(isAtOnce: boolean): number {
    const now = this.keeper.clock.elapsed();
    this.active = undefined;
    this.enteredAt = -1;
    this.leftAt = isAtOnce ? now : -1;
    return now;
  }

  /** Returns the changes of the fields since the last call. */
  lookForChanges(): Difference | undefined {
    if (this.fields === undefined) return undefined;
    try {
      return this.compareFields(this.fields, this.chain.inspect?.() ?? {});
    } catch {
      // A layer may have left any value here. Watching must not affect the turn, so the value is just not recorded.
      return undefined;
    }
  }

  /**
   * Stores a copy of the inner result, for `compareResult`. The inner layer may already have copied the same result.
   */
  keepResult(result: unknown): unknown {
    if (result !== this.keptOf || result === undefined) this.keep(result);
    return this.kept;
  }

  compareResult(before: unknown, result: unknown): Difference | undefined {
    try {
      if (!isAsBefore(before, result)) {
        this.keep(result);
        return { before, after: this.kept };
      }
    } catch {
      // Not shown, for the same reason.
    }
    this.keptOf = result;
    this.kept = before;
    return undefined;
  }

  /** Drops the copy of the result, because code may have changed the result before it failed. */
  forgetResult(): void {
    this.keptOf = undefined;
    this.kept = undefined;
  }

  private compareFields(before: PlainObject, now: PlainObject): Difference | undefined {
    let after: Record<string, unknown> | undefined;
    for (const name in now) {
      if (isAsBefore(before[name], now[name])) continue;
      after ??= { ...before };
      after[name] = snapshotJson(now[name]);
    }
    if (after === undefined) return undefined;
    this.fields = after;
    return { before: this.ownFields(before), after: this.ownFields(after) };
  }

  private keep(result: unknown): void {
    this.keptOf = result;
    try {
      this.kept = snapshotJson(result);
    } catch {
      this.kept = undefined;
    }
  }

  private look(): PlainObject | undefined {
    if (this.chain.inspect === undefined) return undefined;
    try {
      const now = this.chain.inspect();
      const fields: Record<string, unknown> = {};
      for (const name in now) fields[name] = now[name] === this.chain.shared ? now[name] : snapshotJson(now[name]);
      return fields;
    } catch {
      // Not shown, for the same reason.
      return undefined;
    }
  }

  /** Copies the shared value, because it is fixed only while the chain runs, and changes are described later. */
  private ownFields(fields: PlainObject): PlainObject {
    const { shared } = this.chain;
    if (!Array.isArray(shared)) return fields;
    return Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, value === shared ? [...shared] : value]),
    );
  }

  private settle(): void {
    this.totalMs = this.comeOut() - this.startedAt;
    if (this.scope === undefined && this.parent !== undefined) this.owner.running = this.parent;
    this.forgetResult();
    if (this.fields !== undefined) this.fields = undefined;
    this.keeper.settled(this);
  }
}
