/**
 * One layer while it is watched. Its methods run between every two layers of every chain, so they do little: read the
 * clock, compare, and store the data that `describe-span.ts` needs later.
 */
import type { MessageEvent } from '@goondan/types';
import { AskedPeople } from './asked-people.ts';
import type { GivenAnswer, LayerRecord } from './turn-trace.ts';
import type { Draw, DrawKind, DrawnValues } from './draw-scope.ts';
import type { LayerSpan, WatchedLayer } from './layer-span.ts';
import type { RunningSpan } from './running-span.ts';

/** The maximum number of events kept for one layer; further events are only counted. */
const MOST_EMITTED = 100;
/** The maximum number of notes kept for one layer. */
const MOST_NOTES = 16;
/**
 * The maximum number of draws kept for one layer, and of characters of a drawn text. All other draws are only counted.
 */
const MOST_DRAWN = 1_000;
const LONGEST_DRAWN = 2_048;

/** The value before and after a change. Both are copies of the runtime, which nobody changes. */
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
  /** The number of events when the layer called `next()`; -1 before that. */
  emittedBefore = -1;
  // Most layers have none of these fields. They are only declared, so they cost nothing until they are set.
  declare events?: MessageEvent[];
  declare authors?: Map<MessageEvent, string>;
  declare emittedMore?: number;
  declare drew?: Draw[];
  declare drewMore?: number;
  declare error?: unknown;
  /** True if `next()` returned a result. */
  declare hasResult?: boolean;
  /** The waits for people, which are not part of the own time. */
  declare people?: AskedPeople;
  /** Sentences about budgets that refused the call, or that it is above of. */
  declare notes?: string[];
  /** The time at which the layer's code last began or continued; below 0 while the code inside the layer runs. */
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

  /** The stage of the layer; undefined when it has ended. */
  get stage(): LayerRecord['stage'] {
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
    if (result !== undefined) this.hasResult = true;
  }

  emitted(event: MessageEvent, author?: string): void {
    this.events ??= [];
    // Events are frozen when they are checked, so they need no copy.
    if (this.events.length >= MOST_EMITTED) {
      this.emittedMore = (this.emittedMore ?? 0) + 1;
      return;
    }
    this.events.push(event);
    if (author !== undefined) (this.authors ??= new Map()).set(event, author);
  }

  draw<Kind extends DrawKind>(kind: Kind, make: () => DrawnValues[Kind]): DrawnValues[Kind] {
    const value = make();
    this.drew ??= [];
    const isLong = typeof value === 'string' && value.length > LONGEST_DRAWN;
    // Safe: kind and value match, but the compiler cannot infer that for a type parameter.
    if (this.drew.length < MOST_DRAWN && !isLong) this.drew.push([kind, value] as unknown as Draw);
    else this.drewMore = (this.drewMore ?? 0) + 1;
    return value;
  }

  beginWait(): void {
    (this.people ??= new AskedPeople()).begin(this.chain.now());
    this.chain.changed();
  }

  endWait(answer?: GivenAnswer): void {
    const now = this.chain.now();
    const since = this.people?.end(now, answer);
    this.chain.changed();
    if (since === undefined || this.resumedAt < 0) return;
    this.ownMs += Math.max(0, since - this.resumedAt);
    this.resumedAt = now;
  }

  note(texts: readonly string[]): void {
    if (texts.length === 0) return;
    const notes = (this.notes ??= []);
    notes.push(...texts.slice(0, MOST_NOTES - notes.length));
  }

  shortCircuit(): void {
    this.outcome = 'short_circuit';
  }

  exit(result: unknown): void {
    this.end(true);
    // A layer that did not call `next()` produced the whole result.
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
    // Records the changes that the layer made to the fields before it failed.
    if (!this.hasGoneIn) this.changed = this.chain.lookForChanges();
  }

  private pause(now: number): void {
    if (this.resumedAt >= 0) this.ownMs += now - this.resumedAt;
    this.resumedAt = -1;
  }
}
