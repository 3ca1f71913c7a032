/**
 * One layer while it is watched. Called between every two layers of every chain, so it does the least that will do:
 * reads the clock, compares, and keeps what it needs to tell later. Words are made by `describe-span.ts`.
 */
import type { MessageEvent } from '@goondan/types';
import type { LayerStage } from './turn-trace.ts';
import type { Draw, DrawKind, DrawnValues } from './draw-scope.ts';
import type { LayerSpan, WatchedLayer } from './layer-span.ts';
import type { RunningSpan } from './running-span.ts';

/** Emitted events kept for one layer; past it they are only counted. */
const MOST_EMITTED = 100;
/** Values drawn by one layer, and characters of one of them; past it they are only counted. */
const MOST_DRAWN = 1_000;
const LONGEST_DRAWN = 2_048;

/** Both are ours: nobody changes them any more. */
export interface Difference {
  readonly before: unknown;
  readonly after: unknown;
}

export class RecordedLayer implements LayerSpan {
  ownMs = 0;
  totalMs = 0;
  outcome: 'running' | 'passed' | 'short_circuit' | 'skipped' | 'failed' = 'running';
  changed: Difference | undefined = undefined;
  resultChanged: Difference | undefined = undefined;
  /** How many events there were when it went in. */
  emittedBefore = -1;
  // Most layers have none of these: they are there when there is something to keep, and cost nothing before.
  declare events?: MessageEvent[];
  declare emittedMore?: number;
  declare drew?: Draw[];
  declare drewMore?: number;
  declare error?: unknown;
  /** When its own time began to run; below 0 while it stands still. */
  private resumedAt: number;
  private innerResult: unknown = undefined;

  constructor(
    readonly layer: WatchedLayer,
    private readonly chain: RunningSpan,
    readonly startedAt: number,
  ) {
    this.resumedAt = startedAt;
  }

  get hasGoneIn(): boolean {
    return this.emittedBefore >= 0;
  }

  /** Undefined when it is over. */
  get stage(): LayerStage | undefined {
    if (this.outcome !== 'running') return undefined;
    if (!this.hasGoneIn) return 'in';
    return this.chain.active === this ? 'out' : 'inside';
  }

  next(): void {
    this.emittedBefore = this.events?.length ?? 0;
    this.pause(this.chain.goIn());
    this.changed = this.chain.lookForChanges();
  }

  innerSettled(result: unknown): void {
    this.chain.active = this;
    this.resumedAt = this.chain.comeOut();
    this.innerResult = this.chain.keepResult(result);
  }

  emitted(event: MessageEvent): void {
    this.events ??= [];
    // Frozen when it was checked.
    if (this.events.length < MOST_EMITTED) this.events.push(event);
    else this.emittedMore = (this.emittedMore ?? 0) + 1;
  }

  draw<Kind extends DrawKind>(kind: Kind, make: () => DrawnValues[Kind]): DrawnValues[Kind] {
    const value = make();
    this.drew ??= [];
    const isLong = typeof value === 'string' && value.length > LONGEST_DRAWN;
    // A pair of a kind and its value, which the compiler cannot follow through a parameter.
    if (this.drew.length < MOST_DRAWN && !isLong) this.drew.push([kind, value] as unknown as Draw);
    else this.drewMore = (this.drewMore ?? 0) + 1;
    return value;
  }

  shortCircuit(): void {
    this.outcome = 'short_circuit';
  }

  exit(result: unknown): void {
    this.end(true);
    // Of one that did not go in, all of the result is its own.
    const inner = this.outcome === 'short_circuit' ? undefined : this.innerResult;
    if (this.outcome === 'running') this.outcome = 'passed';
    this.resultChanged = this.chain.compareResult(inner, result);
    this.innerResult = undefined;
  }

  fail(error: unknown, skipped: boolean): void {
    this.end(!skipped);
    this.chain.forgetResult();
    this.outcome = skipped ? 'skipped' : 'failed';
    this.error = error;
    this.innerResult = undefined;
  }

  private end(isAtOnce: boolean): void {
    const now = this.chain.leave(isAtOnce);
    this.pause(now);
    this.totalMs = now - this.startedAt;
    // What it did to the fields before it gave up going in.
    if (!this.hasGoneIn) this.changed = this.chain.lookForChanges();
  }

  private pause(now: number): void {
    if (this.resumedAt >= 0) this.ownMs += now - this.resumedAt;
    this.resumedAt = -1;
  }
}
