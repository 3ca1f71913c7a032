/**
 * Calls that wait for the limits of a model, in one process. Calls of an agent are served in their order, and agents take
 * turns. Their attempts decide, because other nodes have waiting calls, too.
 *
 * Invariants:
 * 1. At most `mostWaiting` calls wait in a line, and each at most `mostWaitMs`; then it gets `E_MODEL_LIMIT`.
 * 2. One attempt at a time runs for a line. A call that was called off gets no reservation, or releases it.
 */
import { GoondanError } from '@goondan/types';
import type { Clock } from '../ports/clock.ts';
import type { ReserveOutcome, WaitingReservation } from './claim.ts';

export const waitLimits = { mostWaiting: 1_000, mostWaitMs: 300_000 };

/** The times between two attempts of a line, which other nodes may have made possible. */
const FEWEST_MS = 20;
const MOST_MS = 250;

export interface WaitingCall {
  readonly reservation: WaitingReservation & { readonly turnOf: string };
  /** The limits of the model in words, by claim: `requestsPerMinute: 20 of Model/main`. They may change during the wait. */
  readonly limits: readonly string[];
  readonly signal: AbortSignal;
  /** Makes an attempt. */
  reserve(): Promise<ReserveOutcome>;
  /** Called once, with the limit in words, when the call has to wait. Must not throw. */
  waits?(limit: string): void;
  /** Releases a reservation that was made when the call was called off already. */
  release(): void;
}

interface Waiter {
  readonly call: WaitingCall;
  readonly since: number;
  readonly answer: PromiseWithResolvers<void>;
  readonly callOff: () => void;
  isOver: boolean;
  hasToldWait: boolean;
}

interface Line {
  /** The waiting calls of each agent. The order of the agents is that of their turns. */
  readonly agents: Map<string, Waiter[]>;
  /** The counter that refused a call last. All other calls wait behind that call. */
  heldBy: string | undefined;
  isTrying: boolean;
  isAgain: boolean;
  callOffTimer: () => void;
}

export class WaitingCalls {
  readonly #lines = new Map<string, Line>();

  constructor(private readonly deps: { readonly clock: Clock }) {}

  /**
   * Waits until the reservation is made. Returns the time of the wait in milliseconds. **Errors** — `E_MODEL_LIMIT`; the
   * reason of the signal; those of `reserve`.
   */
  async wait(call: WaitingCall): Promise<number> {
    call.signal.throwIfAborted();
    const { clock } = this.deps;
    const name = lineOf(call);
    const line = this.#lines.get(name) ?? newLine();
    this.#lines.set(name, line);
    const waiting = waitersOf(line).length;
    if (waiting >= waitLimits.mostWaiting) {
      throw limitError(`${waiting} calls wait already for the limits of ${call.limits.join(', ')}.`);
    }
    const since = clock.elapsed();
    const giveUp = () => this.#settle(name, waiter, () => waiter.answer.reject(call.signal.reason));
    call.signal.addEventListener('abort', giveUp, { once: true });
    const late = clock.after(waitLimits.mostWaitMs, () =>
      this.#settle(name, waiter, () => waiter.answer.reject(tooLate(line, waiter))),
    );
    const callOff = () => {
      call.signal.removeEventListener('abort', giveUp);
      late();
    };
    const answer = Promise.withResolvers<void>();
    const waiter: Waiter = { call, since, answer, callOff, isOver: false, hasToldWait: false };
    line.agents.set(call.reservation.turnOf, [...(line.agents.get(call.reservation.turnOf) ?? []), waiter]);
    this.#try(name);
    await answer.promise;
    return clock.elapsed() - since;
  }

  /** Tries again now, because a reservation of a counter has ended. */
  ended(counters: readonly string[]): void {
    for (const name of counters) if (this.#lines.has(name)) this.#try(name);
  }

  /** Lists the calls that have learned that they wait. */
  list(): readonly { readonly id: string; readonly limit: string; readonly waitedMs: number }[] {
    const now = this.deps.clock.elapsed();
    return [...this.#lines.values()].flatMap((line) =>
      waitersOf(line)
        .filter(({ hasToldWait }) => hasToldWait)
        .map((waiter) => {
          return { id: waiter.call.reservation.id, limit: limitOf(line, waiter), waitedMs: now - waiter.since };
        }),
    );
  }

  /** Rejects all waiting calls. */
  close(): void {
    const over = new GoondanError('E_SWARM_STOPPED', 'The swarm is being stopped, so the call does not begin.');
    for (const [name, line] of [...this.#lines]) {
      for (const waiter of waitersOf(line)) this.#settle(name, waiter, () => waiter.answer.reject(over));
    }
  }

  #try(name: string): void {
    const line = this.#lines.get(name);
    if (line === undefined) return;
    line.isAgain = true;
    if (line.isTrying) return;
    line.isTrying = true;
    void this.#tryAll(name, line);
  }

  async #tryAll(name: string, line: Line): Promise<void> {
    let retryMs = MOST_MS;
    while (line.isAgain) {
      line.isAgain = false;
      line.callOffTimer();
      const waiters = waitersOf(line);
      retryMs = await this.#tryOnce(name, line);
      // After each round, because a busy line may have no pause. Calls that came during the round have the next one.
      tellWaits(line, waiters);
    }
    // In the same moment as the check above: whoever asks later begins the next attempts.
    line.isTrying = false;
    if (line.agents.size === 0) return void this.#lines.delete(name);
    line.callOffTimer = this.deps.clock.after(retryMs, () => this.#try(name));
  }

  /** Makes attempts until one is refused by a limit. Returns the time until the next attempts. */
  async #tryOnce(name: string, line: Line): Promise<number> {
    const passed = new Set<string>();
    for (;;) {
      const next = [...line.agents].find(([agent]) => !passed.has(agent));
      if (next === undefined) return MOST_MS;
      const [agent, [waiter]] = next;
      if (waiter === undefined) return MOST_MS;
      const outcome = await this.#attempt(name, line, waiter);
      if (outcome === undefined) continue;
      if (outcome.status === 'notYet') passed.add(agent);
      if (outcome.status === 'refused') {
        line.heldBy = waiter.call.reservation.claims[outcome.claim]?.counter;
        return Math.min(MOST_MS, Math.max(FEWEST_MS, outcome.retryAfterMs ?? MOST_MS));
      }
    }
  }

  /** Returns the outcome of an attempt; `undefined` if the call waits no more. */
  async #attempt(name: string, line: Line, waiter: Waiter): Promise<ReserveOutcome | undefined> {
    try {
      const outcome = await waiter.call.reserve();
      if (outcome.status !== 'reserved') return waiter.isOver ? undefined : outcome;
      if (waiter.isOver) waiter.call.release();
      else {
        const { turnOf } = waiter.call.reservation;
        this.#settle(name, waiter, () => waiter.answer.resolve());
        // The agent goes to the end of the line.
        const rest = line.agents.get(turnOf);
        line.agents.delete(turnOf);
        if (rest !== undefined) line.agents.set(turnOf, rest);
      }
      return undefined;
    } catch (error) {
      this.#settle(name, waiter, () => waiter.answer.reject(error));
      return undefined;
    }
  }

  #settle(name: string, waiter: Waiter, answer: () => void): void {
    if (waiter.isOver) return;
    waiter.isOver = true;
    waiter.callOff();
    const { agents } = this.#lines.get(name) ?? newLine();
    const { turnOf } = waiter.call.reservation;
    const rest = (agents.get(turnOf) ?? []).filter((each) => each !== waiter);
    if (rest.length > 0) agents.set(turnOf, rest);
    else agents.delete(turnOf);
    answer();
  }
}

function newLine(): Line {
  return { agents: new Map(), heldBy: undefined, isTrying: false, isAgain: false, callOffTimer: () => undefined };
}

function waitersOf({ agents }: Line): readonly Waiter[] {
  return [...agents.values()].flat();
}

/** Tells the calls that were not served by the last attempts that they wait. */
function tellWaits(line: Line, waiters: readonly Waiter[]): void {
  for (const waiter of waiters) {
    if (waiter.hasToldWait || waiter.isOver) continue;
    waiter.hasToldWait = true;
    waiter.call.waits?.(limitOf(line, waiter));
  }
}

/** Returns the limit that holds the line, in words; all limits of the call if it does not have that limit. */
function limitOf({ heldBy }: Line, { call: { limits, reservation } }: Waiter): string {
  const position = reservation.claims.findIndex(({ counter }) => counter === heldBy);
  return limits[position] ?? limits.join(', ');
}

/** The line of a call: its first counter, which keeps the turns of the agents. */
function lineOf({ reservation: { claims } }: WaitingCall): string {
  return claims[0]?.counter ?? '';
}

function tooLate(line: Line, waiter: Waiter): GoondanError {
  return limitError(`The call waited ${waitLimits.mostWaitMs / 1_000} s for the limit ${limitOf(line, waiter)}.`);
}

function limitError(message: string): GoondanError {
  return new GoondanError('E_MODEL_LIMIT', message, { retryable: true });
}
