/**
 * One turn watched once, for everybody who wants to know: the chains are kept by one keeper, and each listener is told of
 * the same ones.
 */
import type { Clock } from '../ports/clock.ts';
import type { ChainSpan, TurnObserver, SpanStart, WatchedEffect, WatchedEnd, WatchedTurn } from './layer-span.ts';
import { RunningSpan } from './running-span.ts';
import { TurnKeeper } from './turn-keeper.ts';

/** Told while the turn runs, so it does the least that will do. Must not throw. */
export interface TurnListener {
  /** `startedAt` is on the clock that only grows. */
  started(turn: WatchedTurn, startedAt: number): void;
  /** A chain begins, is over, or there is something new about one that is. Only after `started`. */
  changed(chain: RunningSpan): void;
  asked?(key: string): void;
  effect?(effect: WatchedEffect): void;
  cancelled?(reason: Error): void;
  ended(end: WatchedEnd, whole: WholeTurn): void;
}

export interface WholeTurn {
  readonly durationMs: number;
  /** Chains past the bound of one turn. */
  readonly chainsMore: number;
}

export function watchTurn(clock: Clock, listeners: readonly TurnListener[]): TurnObserver {
  return new SharedTurn(clock, listeners);
}

class SharedTurn implements TurnObserver {
  readonly #clock: Clock;
  readonly #listeners: readonly TurnListener[];
  readonly #keeper: TurnKeeper;
  #hasStarted = false;

  constructor(clock: Clock, listeners: readonly TurnListener[]) {
    this.#clock = clock;
    this.#listeners = listeners;
    this.#keeper = new TurnKeeper(clock, (chain) => {
      if (this.#hasStarted) for (const listener of listeners) listener.changed(chain);
    });
  }

  started(turn: WatchedTurn): void {
    this.#keeper.start();
    this.#hasStarted = true;
    for (const listener of this.#listeners) listener.started(turn, this.#keeper.startedAt);
  }

  chain(chain: SpanStart, parent: ChainSpan | undefined): RunningSpan | undefined {
    return this.#keeper.open(chain, parent instanceof RunningSpan ? parent : undefined);
  }

  asked(key: string): void {
    for (const listener of this.#listeners) listener.asked?.(key);
  }

  cancelled(reason: Error): void {
    for (const listener of this.#listeners) listener.cancelled?.(reason);
  }

  effect(effect: WatchedEffect): void {
    for (const listener of this.#listeners) listener.effect?.(effect);
  }

  ended(end: WatchedEnd): void {
    const { chainsMore, startedAt } = this.#keeper;
    this.#keeper.close();
    const durationMs = this.#clock.elapsed() - startedAt;
    for (const listener of this.#listeners) listener.ended(end, { durationMs, chainsMore });
  }
}
