/**
 * What watches a turn while it runs. The runtime calls these when somebody watches, and nothing when nobody does.
 * Times are the watcher's business: it is called at the moments that matter.
 */
import type { AgentAddress, AgentEvent, MessageEvent, MiddlewareKind } from '@goondan/types';
import type { TurnOutcome } from '../ports/turn-outcome.ts';
import type { LocateThrown } from '../log/locate-thrown.ts';
import type { Mask } from '../log/mask-secrets.ts';
import type { EffectKind } from './effect-record.ts';
import type { DrawScope } from './draw-scope.ts';
import type { SpanIds } from './span-id.ts';
import type { ResumePoint } from './resume-point.ts';

/** The layer as a watcher needs to know it. */
export interface WatchedLayer {
  readonly kind: MiddlewareKind;
  readonly extension: string;
  readonly name: string;
}

export interface SpanStart {
  readonly kind: MiddlewareKind;
  /** What this chain is about: a step's number, a tool's name, a model's reference. */
  readonly label: string;
  readonly id: string;
  /** For whatever of it is written down or shown: what a watcher is given is as it is, with the secrets in it. */
  readonly mask: Mask;
  readonly spanIds: SpanIds;
  /** The key of the effect that a model or tool call is. */
  readonly effect?: string;
  /** A digest of the plan that a step runs with, made when somebody asks; undefined when the plan is not JSON. */
  plan?(): string | undefined;
  /** A call that was done before a crash: its outcome comes from the record, and only its layers run again. */
  readonly isRepeated?: boolean;
  /** The fields its layers may change, as they are now: the things themselves, no copies. Absent: there are none. */
  inspect?(): Readonly<Record<string, unknown>>;
  /** A value of a field that nobody changes in place while the chain runs: it need not be copied. */
  readonly shared?: unknown;
  /** What was asked for, in short; masked. */
  input?(): string;
  /** The error that the handler of a tool call threw; the result tells of it in short. */
  thrown?(): unknown;
}

export interface WatchedTurn extends AgentAddress {
  readonly turnId: string;
  readonly event: AgentEvent;
  readonly spanIds: SpanIds;
  readonly startedAt: Date;
  /** As of its chains. */
  readonly mask: Mask;
  /** Finds out where code of the bundle threw. */
  readonly locate: LocateThrown;
  /** It goes on from what an interrupted run had recorded. */
  readonly resumed: boolean;
  /** Of one that does: from what. Made when it is asked for. */
  resumePoint?(): ResumePoint;
}

export interface WatchedEnd extends TurnOutcome {
  /** The error that made it fail. */
  readonly thrown?: unknown;
}

/** A model call, a tool call, a call to another agent or a question to a person, as it ended. */
export interface WatchedEffect {
  /** The same in every run that takes the same way. */
  readonly key: string;
  readonly kind: EffectKind;
  /** What was asked for: the thing itself, which nobody changes any more. */
  readonly asked: unknown;
  readonly outcome: { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly thrown: unknown };
}

export interface TurnObserver {
  /** The turn begins; not told of one that was handled before. */
  started?(turn: WatchedTurn): void;
  /** A chain starts, inside another one unless it is the turn's own. Undefined: this one is not watched. */
  chain(chain: SpanStart, parent: ChainSpan | undefined): ChainSpan | undefined;
  /** Something of the outside is asked for; `effect` follows under the same key. */
  asked?(key: string): void;
  /** Something of the outside answered, or failed. Not told of what a resumed turn had recorded. */
  effect?(effect: WatchedEffect): void;
  /** It is cancelled, or out of time: told before anything of it hears of that. */
  cancelled?(reason: Error): void;
  /** It is committed. */
  ended?(end: WatchedEnd): void;
}

export interface ChainSpan {
  /** What its layers' code draws from the clock and from chance is this one's. Absent: the chain runs in that around it. */
  readonly scope?: DrawScope | undefined;
  /** Undefined: this one is not watched. */
  enter(layer: WatchedLayer): LayerSpan | undefined;
  /** The chain is over. */
  end(result: unknown): void;
  /** It threw; or, after its end, what it gave turned out to be no success. `retryMs`: it is tried again after so long. */
  fail(error: unknown, retryMs?: number): void;
}

export interface LayerSpan {
  /** The layer called `next()`. */
  next(): void;
  /** What is inside the layer is done; `result` is what it gave, undefined when it threw. */
  innerSettled(result: unknown): void;
  emitted(event: MessageEvent): void;
  shortCircuit(): void;
  exit(result: unknown): void;
  /** `skipped`: the chain goes on without it. */
  fail(error: unknown, skipped: boolean): void;
}
