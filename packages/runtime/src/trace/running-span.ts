/**
 * One chain while it is watched: its layers, its fields and its result as they were last seen.
 *
 * The layers of a chain are nested, so what one leaves is what the next one finds: fields and result are kept once for
 * the chain, compared where a layer goes in and comes out, and kept anew only when they changed. The clock is read once
 * where two layers meet.
 *
 * A turn's chain, its step's and the model's are nested as well, and one of them runs at a time: they share a scope.
 * What may run beside something else, a tool call or what a layer asks for, has its own.
 */
import type { MiddlewareKind } from '@goondan/types';
import type { Clock } from '../ports/clock.ts';
import { isAsBefore, snapshotJson } from '../json/snapshot-json.ts';
import type { EffectRecord } from './effect-record.ts';
import type { DrawKind, DrawnValues } from './draw-scope.ts';
import type { ChainSpan, SpanStart, WatchedLayer } from './layer-span.ts';
import { type Difference, RecordedLayer } from './recorded-layer.ts';

/** What the chains of one turn share. */
export interface SpanKeeper {
  readonly clock: Clock;
  /** Layers that may still be kept. */
  layersLeft: number;
  /** It is over, or there is something new about it. */
  settled(chain: RunningSpan): void;
}

/** Tool calls of one reply may run together. */
const mayRunBeside: Readonly<Record<MiddlewareKind, boolean>> = {
  turn: false,
  step: false,
  model: false,
  toolCall: true,
};

type Fields = Readonly<Record<string, unknown>>;

export class RunningSpan implements ChainSpan {
  readonly layers: RecordedLayer[] = [];
  totalMs = 0;
  outcome: 'running' | 'ended' | 'failed' = 'running';
  result: unknown = undefined;
  /** Whose code runs: of nested layers it is one at a time. Undefined while what is inside them all runs. */
  active: RecordedLayer | undefined = undefined;
  readonly startedAt: number;
  // Most chains have none of these: they are there when there is something to keep, and cost nothing before.
  declare layersMore?: number;
  declare error?: unknown;
  declare retryMs?: number | undefined;
  /** For whoever keeps all of them. */
  declare inside?: RunningSpan[];
  /** Its own, unless it runs in that of the chain around it. */
  declare readonly scope?: RunningSpan;
  /** What a layer asked with, before any layer of this chain. */
  declare readonly asked?: Fields | undefined;
  /** Absent: nobody has looked yet. */
  declare private fields?: Fields | undefined;
  /** The chain in whose scope it runs. */
  private readonly owner: RunningSpan;
  /** Of those in its scope, the one that runs. */
  private running: RunningSpan = this;
  /** When a layer was entered or left a moment ago, and nothing has happened since; else below 0. */
  private enteredAt: number;
  private leftAt = -1;
  private keptOf: unknown = undefined;
  private kept: unknown = undefined;

  constructor(
    readonly chain: SpanStart,
    readonly number: number,
    readonly parent: RunningSpan | undefined,
    private readonly keeper: SpanKeeper,
    /** The layer whose code asked for it. */
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

  /** The layer whose code runs in its scope, and the span of that layer's chain. */
  get asker(): EffectRecord['by'] {
    const { active, chain } = this.running;
    if (active === undefined) return undefined;
    const { extension, name } = active.layer;
    return { extension, name, span: chain.spanIds?.spanId ?? '' };
  }

  draw<Kind extends DrawKind>(kind: Kind, make: () => DrawnValues[Kind]): DrawnValues[Kind] {
    const { active } = this.running;
    return active === undefined ? make() : active.draw(kind, make);
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

  /** A layer goes in: what comes next is the layer inside it, or the core. */
  goIn(): number {
    this.active = undefined;
    this.leftAt = -1;
    this.enteredAt = this.keeper.clock.elapsed();
    return this.enteredAt;
  }

  /** What is inside a layer has settled, which the layer inside it has just told, or the core. */
  comeOut(): number {
    const now = this.leftAt >= 0 ? this.leftAt : this.keeper.clock.elapsed();
    this.enteredAt = -1;
    this.leftAt = -1;
    return now;
  }

  /** A layer is done; `isAtOnce`: the one around it hears of it in the same moment. */
  leave(isAtOnce: boolean): number {
    const now = this.keeper.clock.elapsed();
    this.active = undefined;
    this.enteredAt = -1;
    this.leftAt = isAtOnce ? now : -1;
    return now;
  }

  /** What the fields became since somebody looked last. */
  lookForChanges(): Difference | undefined {
    if (this.fields === undefined) return undefined;
    try {
      return this.compareFields(this.fields, this.chain.inspect?.() ?? {});
    } catch {
      // A layer may have left anything. Watching must not decide what comes of it: it is not shown.
      return undefined;
    }
  }

  /** The result as it came from inside, for `compareResult`. The layer inside may have looked at the very same. */
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
      // Not shown, as above.
    }
    this.keptOf = result;
    this.kept = before;
    return undefined;
  }

  /** Whoever failed may have changed it first. */
  forgetResult(): void {
    this.keptOf = undefined;
    this.kept = undefined;
  }

  private compareFields(before: Fields, now: Fields): Difference | undefined {
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

  private look(): Fields | undefined {
    if (this.chain.inspect === undefined) return undefined;
    try {
      const now = this.chain.inspect();
      const fields: Record<string, unknown> = {};
      for (const name in now) fields[name] = now[name] === this.chain.shared ? now[name] : snapshotJson(now[name]);
      return fields;
    } catch {
      // Not shown, as above.
      return undefined;
    }
  }

  /** What is shared stays as it is only while the chain runs; a change is told later. */
  private ownFields(fields: Fields): Fields {
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
