/**
 * The observer of a turn. The runtime calls these methods at the moments that matter when a turn is watched, and does
 * nothing otherwise. The observer reads the clock itself.
 */
import type { AgentAddress, AgentEvent, MessageEvent, MiddlewareKind } from '@goondan/types';
import type { TurnOutcome } from '../ports/turn-outcome.ts';
import type { LocateThrown } from '../log/locate-thrown.ts';
import type { Mask } from '../log/mask-secrets.ts';
import type { EffectKind } from './effect-record.ts';
import type { DrawScope } from './draw-scope.ts';
import type { SpanIds } from './span-id.ts';
import type { ResumePoint } from './resume-point.ts';

/** The identity of a layer. */
export interface WatchedLayer {
  readonly kind: MiddlewareKind;
  readonly extension: string;
  readonly name: string;
}

export interface SpanStart {
  readonly kind: MiddlewareKind;
  /** The subject of this chain: a step's number, a tool's name, a model's reference. */
  readonly label: string;
  readonly id: string;
  /** Masks everything that is written or shown: the values that an observer gets are unmasked. */
  readonly mask: Mask;
  readonly spanIds: SpanIds;
  /** The key of the effect of a model or tool call. */
  readonly effect?: string;
  /** Returns a digest of the plan of a step; undefined when the plan is not JSON. */
  plan?(): string | undefined;
  /** True for a call that was done before a crash: its outcome comes from the record, and only its layers run again. */
  readonly isRepeated?: boolean;
  /** Returns the current fields that layers may change, without copying them. Absent when there are none. */
  inspect?(): Readonly<Record<string, unknown>>;
  /** A value of a field that is not changed in place while the chain runs, so it need not be copied. */
  readonly shared?: unknown;
  /** Returns the input in short, masked. */
  input?(): string;
  /** Returns the error that the handler of a tool call threw; the result has a short form of it. */
  thrown?(): unknown;
}

export interface WatchedTurn extends AgentAddress {
  readonly turnId: string;
  readonly event: AgentEvent;
  readonly spanIds: SpanIds;
  readonly startedAt: Date;
  /** The mask of the turn's chains. */
  readonly mask: Mask;
  /** Finds the place where code of the bundle threw. */
  readonly locate: LocateThrown;
  /** True when it continues an interrupted run. */
  readonly resumed: boolean;
  /** Returns the point from which a resumed turn continues. */
  resumePoint?(): ResumePoint;
}

export interface WatchedEnd extends TurnOutcome {
  /** The error with which it failed. */
  readonly thrown?: unknown;
}

/** A model call, a tool call, a call to another agent or a request for approval, after its end. */
export interface WatchedEffect {
  /** The key of the effect, equal in every run that makes the same calls. */
  readonly key: string;
  readonly kind: EffectKind;
  /** The request itself, which is not changed any more. */
  readonly asked: unknown;
  readonly outcome: { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly thrown: unknown };
}

export interface TurnObserver {
  /** The turn begins. Not called for a turn that was handled before. */
  started?(turn: WatchedTurn): void;
  /** A chain begins, inside another one unless it is the turn's own. Undefined when it is not watched. */
  chain(chain: SpanStart, parent: ChainSpan | undefined): ChainSpan | undefined;
  /** An effect begins; `effect` follows with the same key. */
  asked?(key: string): void;
  /** An effect ended. Not called for effects that a resumed turn had recorded. */
  effect?(effect: WatchedEffect): void;
  /** The turn is cancelled or reached its deadline. Called before any of its code learns of it. */
  cancelled?(reason: Error): void;
  /** The turn is committed. */
  ended?(end: WatchedEnd): void;
}

export interface ChainSpan {
  /** The scope that gets the draws of its layers' code. Absent: the scope of the chain around it. */
  readonly scope?: DrawScope | undefined;
  /** Returns undefined when the layer is not watched. */
  enter(layer: WatchedLayer): LayerSpan | undefined;
  /** The chain returned. */
  end(result: unknown): void;
  /**
   * The chain threw; or, after its end, its result turned out to be a failure. `retryMs` is the delay before a retry.
   */
  fail(error: unknown, retryMs?: number): void;
}

export interface LayerSpan {
  /** The layer called `next()`. */
  next(): void;
  /** The inside of the layer settled; `result` is undefined when it threw. */
  innerSettled(result: unknown): void;
  emitted(event: MessageEvent): void;
  shortCircuit(): void;
  exit(result: unknown): void;
  /** `skipped`: the chain continues without this layer. */
  fail(error: unknown, skipped: boolean): void;
}
