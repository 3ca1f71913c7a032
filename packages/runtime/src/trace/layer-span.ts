/**
 * The observer of a turn. While a turn is watched, the runtime calls the observer's methods as things happen. If no
 * observer watches the turn, the runtime calls nothing. The observer reads the clock itself.
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
  /** The subject of this chain: a step's number, a tool's name, or a model's reference. */
  readonly label: string;
  readonly id: string;
  /** Masks secrets. An observer gets unmasked values, and must mask everything it writes or shows. */
  readonly mask: Mask;
  readonly spanIds: SpanIds;
  /** The key of the effect, for a model call or a tool call. */
  readonly effect?: string;
  /** The layer whose context started this chain, for a tool call by a layer. */
  readonly by?: WatchedLayer | undefined;
  /** The digest of the plan of a turn or step; undefined when the plan is not JSON. */
  readonly plan?: string | undefined;
  /** The events whose inputs the turn took just before this step. */
  readonly took?: readonly AgentEvent[];
  /**
   * True for a call that completed before a crash: its outcome comes from the record, and only its layers run again.
   */
  readonly isRepeated?: boolean;
  /**
   * Returns the current fields that layers may change, without copying them. Absent when the chain has no such fields.
   */
  inspect?(): Readonly<Record<string, unknown>>;
  /**
   * The value of one of these fields, if it is never changed in place while the chain runs. Such a value need not be
   * copied.
   */
  readonly shared?: unknown;
  /** Returns a short form of the input, with secrets masked. */
  input?(): string;
  /** Returns the error that the handler of a tool call threw; the result contains only a short form of it. */
  thrown?(): unknown;
}

export interface WatchedTurn extends AgentAddress {
  readonly turnId: string;
  readonly event: AgentEvent;
  readonly spanIds: SpanIds;
  readonly startedAt: Date;
  /** The mask of the turn's chains. */
  readonly mask: Mask;
  /** Finds the place where bundle code threw. */
  readonly locate: LocateThrown;
  /** True when this run continues an interrupted run. */
  readonly resumed: boolean;
  /** Returns the point from which a resumed turn continues. */
  resumePoint?(): ResumePoint;
}

export interface WatchedEnd extends TurnOutcome {
  /** The events whose inputs the turn took while it ran, in order. */
  readonly took: readonly string[];
  /** The error with which the turn failed. */
  readonly thrown?: unknown;
}

/** An effect after its end: a model call, a tool call, a call to another agent, or an approval request. */
export interface WatchedEffect {
  /** The key of the effect. It is the same in every run that makes the same calls. */
  readonly key: string;
  readonly kind: EffectKind;
  /** The request itself, which is no longer changed. */
  readonly asked: unknown;
  readonly outcome: { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly thrown: unknown };
}

export interface TurnObserver {
  /** Called when the turn begins, but not when its event was handled before. */
  started?(turn: WatchedTurn): void;
  /**
   * Called when a chain begins. `parent` is undefined for the turn chain. Returns undefined when the chain is not
   * watched.
   */
  chain(chain: SpanStart, parent: ChainSpan | undefined): ChainSpan | undefined;
  /** Called when an effect begins; `effect` follows with the same key. */
  asked?(key: string, kind: EffectKind): void;
  /** Called when an effect has ended, but not for an effect whose outcome a resumed turn takes from the record. */
  effect?(effect: WatchedEffect): void;
  /** Called when the turn is cancelled or reaches its deadline, before any code of the turn is notified. */
  cancelled?(reason: Error): void;
  /** Called when the turn is committed. */
  ended?(end: WatchedEnd): void;
}

/** The reservations of a model call. */
export interface ReservedCall {
  /** The time that the call waited for the limits of its model; absent if it has none. */
  readonly limitMs?: number;
  /** The tokens that were reserved for the call; absent if none were. */
  readonly reservedTokens?: number;
}

export interface ChainSpan {
  /**
   * The scope for draws by the code of this chain's layers; absent if the chain uses the scope of the enclosing chain.
   */
  readonly scope?: DrawScope | undefined;
  /** Called when a layer begins. Returns undefined when the layer is not watched. */
  enter(layer: WatchedLayer): LayerSpan | undefined;
  /**
   * Returns the changes that layers made to the fields of this chain and of the chain around it, in order; absent if
   * changes are not kept.
   */
  changes?(): readonly LayerChange[];
  /** Called when a model call has to wait for a limit of its model, given in words. */
  waits?(limit: string): void;
  /** Called when a model call begins, with its reservations. */
  reserved?(call: ReservedCall): void;
  /** Called when the chain returned a result. */
  end(result: unknown): void;
  /**
   * Called when the chain threw, or when its result later turned out to be a failure. `retryMs`: the delay before a
   * retry.
   */
  fail(error: unknown, retryMs?: number): void;
}

/** The fields of a chain before and after a layer changed them. */
export interface LayerChange {
  readonly extension: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface LayerSpan {
  /** Called when the layer calls `next()`. */
  next(): void;
  /** Called when the promise of `next()` settles; `result` is undefined if the promise was rejected. */
  innerSettled(result: unknown): void;
  /** `author`: the extension in whose name the layer emitted the event, if it is not that of the layer. */
  emitted(event: MessageEvent, author?: string): void;
  shortCircuit(): void;
  exit(result: unknown): void;
  /** Called when the layer threw. If `skipped` is true, the chain continues without this layer. */
  fail(error: unknown, skipped: boolean): void;
}
