/**
 * What watches a turn while it runs. The runtime calls these when somebody watches, and nothing when nobody does.
 * Times are the watcher's business: it is called at the moments that matter.
 */
import type { JsonValue, MessageEvent } from '@goondan/types';

/** The layer as a watcher needs to know it. */
export interface WatchedLayer {
  readonly kind: string;
  readonly extension: string;
  readonly name: string;
}

export interface WatchedChain {
  readonly kind: string;
  /** What this chain is about: a step's number, a tool's name, a model's reference. */
  readonly label: string;
  readonly id: string;
  /** The fields its layers may change, as they are now. */
  inspect(): JsonValue;
}

export interface TurnObserver {
  /** A chain starts, inside another one unless it is the turn's own. */
  chain(chain: WatchedChain, parent: ChainSpan | undefined): ChainSpan;
}

export interface ChainSpan {
  enter(layer: WatchedLayer): LayerSpan;
  /** The chain is over; the error when it threw. */
  end(error?: unknown): void;
}

export interface LayerSpan {
  /** The layer called `next()`. */
  next(): void;
  /** What is inside the layer is done; `result` is what it gave, undefined when it threw. */
  innerSettled(result: unknown): void;
  emitted(event: MessageEvent): void;
  shortCircuit(): void;
  exit(outcome: { result: unknown } | { error: unknown; skipped?: boolean }): void;
}
