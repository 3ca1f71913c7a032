/**
 * Watches one turn for all listeners. One keeper keeps the chains, and every listener is notified of the same chains.
 */
import type { Clock } from '../ports/clock.ts';
import type { EffectKind } from './effect-record.ts';
import type { ChainSpan, TurnObserver, SpanStart, WatchedEffect, WatchedEnd, WatchedTurn } from './layer-span.ts';
import { PersonWaits } from './person-waits.ts';
import { RunningSpan } from './running-span.ts';
import { TurnKeeper } from './turn-keeper.ts';

/** A listener. Its methods are called while the turn runs, so they must be fast and must not throw. */
export interface TurnListener extends Pick<TurnObserver, 'asked' | 'effect' | 'cancelled'> {
  /** Called when the turn starts. `startedAt`: the time on the monotonic clock. */
  started(turn: WatchedTurn, startedAt: number): void;
  /** Called when a chain begins, changes, ends, or changes after its end, and only after `started`. */
  changed(chain: RunningSpan): void;
  /** Called when the turn is committed. `chainsMore`: the number of chains above the limit of one turn. */
  ended(end: WatchedEnd, durationMs: number, chainsMore: number): void;
}

export function watchTurn(clock: Clock, listeners: readonly TurnListener[]): TurnObserver {
  return new SharedTurn(clock, listeners);
}

class SharedTurn implements TurnObserver {
  readonly #keeper: TurnKeeper;
  readonly #waits = new PersonWaits();
  #hasStarted = false;

  constructor(
    private readonly clock: Clock,
    private readonly listeners: readonly TurnListener[],
  ) {
    this.#keeper = new TurnKeeper(clock, (chain) => {
      if (this.#hasStarted) for (const listener of listeners) listener.changed(chain);
    });
  }

  started(turn: WatchedTurn): void {
    this.#keeper.start();
    this.#hasStarted = true;
    for (const listener of this.listeners) listener.started(turn, this.#keeper.startedAt);
  }

  chain(chain: SpanStart, parent: ChainSpan | undefined): RunningSpan | undefined {
    return this.#keeper.open(chain, parent instanceof RunningSpan ? parent : undefined);
  }

  asked(key: string, kind: EffectKind): void {
    this.#waits.begin(key, kind);
    for (const listener of this.listeners) listener.asked?.(key, kind);
  }

  cancelled(reason: Error): void {
    for (const listener of this.listeners) listener.cancelled?.(reason);
  }

  effect(effect: WatchedEffect): void {
    this.#waits.end(effect);
    for (const listener of this.listeners) listener.effect?.(effect);
  }

  ended(end: WatchedEnd): void {
    const { chainsMore, startedAt } = this.#keeper;
    this.#keeper.close();
    const durationMs = this.clock.elapsed() - startedAt;
    for (const listener of this.listeners) listener.ended(end, durationMs, chainsMore);
  }
}
