/**
 * The requests of agent processes about counters of model calls, from the frame to its answer.
 *
 * Invariants:
 * 1. The channel identifies the conversation. The turn follows from its running event, and never from a frame.
 * 2. When a process or a turn has ended, its reservations are ended: settled in full if their calls had begun, and released
 *    otherwise. Requests of the next process or turn wait for that.
 * 3. A budget is raised only by an answer of a person to a question of its own conversation, with exactly its arguments.
 * 4. At most `mostOfOne` requests of a conversation are worked on, and it has at most `mostReserved` open reservations.
 */
import { type AgentAddress, type AgentEvent, GoondanError, type JsonObject } from '@goondan/types';
import { counterOfBudget, readBudget } from '../../counters/budget.ts';
import type { Claim, Reservation } from '../../counters/claim.ts';
import { dayOf } from '../../counters/counter-state.ts';
import { type CounterPlace, nameCounter, namesBeginWith } from '../../counters/counter-name.ts';
import type { PlannedLimit } from '../../counters/limit-counter.ts';
import { type WaitingCall, WaitingCalls } from '../../counters/waiting-calls.ts';
import { toFrameError } from '../../ipc/check/frame-error.ts';
import type { CallClaim, CounterRequest, FromAgent } from '../../ipc/from-agent.ts';
import type { CounterEnd, ToAgent } from '../../ipc/to-agent.ts';
import { withoutPlace } from '../../ipc/without-place.ts';
import { roundAmount } from '../../json/round-amount.ts';
import type { Clock } from '../../ports/clock.ts';
import { turnIdOf } from '../../ports/ids.ts';
import type { Counters } from '../../store/counters.ts';
import { addressKey } from '../address/address-key.ts';
import {
  type AgentFrame,
  type FinishedTurn,
  type Report,
  type SwarmListener,
  turnOf,
} from '../instances/swarm-listener.ts';
import { followLimits } from './follow-limits.ts';

export interface CounterRequestsDeps {
  readonly clock: Clock;
  readonly store: Counters;
  readonly report: Report;
  /** The limits of models in the plan in force, by counter; another map after each change of the plan. */
  limits(): ReadonlyMap<string, PlannedLimit>;
  /** Sends a message to the process of this instance, if it has one. */
  say(at: AgentAddress, message: ToAgent): void;
  /** Returns true if a person approved this question of the instance about a budget. */
  isApproved(at: AgentAddress, approvalId: string, budget: JsonObject): boolean;
}

export const requestLimits = { mostOfOne: 256, mostReserved: 256 };

type AskFrame = Extract<FromAgent, { readonly type: 'counters.ask' }>;

/** The requests and reservations of one conversation. */
interface Asking {
  readonly at: AgentAddress;
  readonly requests: Map<string, { readonly eventId: string; readonly stop: AbortController }>;
  readonly reserved: Map<string, { readonly eventId: string; readonly reservation: Reservation }>;
  /** Work on the store that has begun. */
  readonly working: Set<Promise<unknown>>;
  /** The events of turns that have a counter of their own. */
  readonly counted: Set<string>;
  /** Settles when the reservations of earlier processes and turns are ended (invariant 2). */
  cleaned: Promise<void>;
}

/** The turn of a request. */
interface RequestTurn {
  readonly eventId: string;
  readonly signal: AbortSignal;
  /** Tells the process that its call waits for this limit. */
  readonly waits: (limit: string) => void;
}

/** A call that waits for a limit of its model. */
export interface LimitWait {
  /** The limit in words. */
  readonly limit: string;
  readonly waitedMs: number;
}

export class CounterRequests implements SwarmListener {
  readonly #asking = new Map<string, Asking>();
  readonly #waiting: WaitingCalls;

  constructor(private readonly deps: CounterRequestsDeps) {
    this.#waiting = new WaitingCalls({ clock: deps.clock });
  }

  heard(at: AgentAddress, frame: AgentFrame, during: AgentEvent | undefined): void {
    switch (frame.type) {
      case 'counters.ask':
        return this.#ask(at, frame, during);
      case 'counters.withdrawn':
        return this.#asking.get(addressKey(at))?.requests.get(frame.callId)?.stop.abort(calledOff());
      case 'counters.settled':
        return this.#end(at, frame.id, frame.amounts);
      default:
    }
  }

  processGone(at: AgentAddress): void {
    const asking = this.#asking.get(addressKey(at));
    if (asking !== undefined) this.#clean(asking, () => true);
  }

  turnFinished(at: AgentAddress, { event }: Pick<FinishedTurn, 'event'>): void {
    const asking = this.#asking.get(addressKey(at));
    if (asking !== undefined) this.#clean(asking, (eventId) => eventId === event.id, event.id);
  }

  /** Returns the longest wait of a conversation for a limit; `undefined` if none of its calls waits. */
  waitOf(at: AgentAddress): LimitWait | undefined {
    const reserved = this.#asking.get(addressKey(at))?.reserved;
    if (reserved === undefined || reserved.size === 0) return undefined;
    const own = this.#waiting.list().filter(({ id }) => reserved.has(id));
    const [longest] = own.toSorted((one, other) => other.waitedMs - one.waitedMs);
    return longest && { limit: longest.limit, waitedMs: longest.waitedMs };
  }

  /** Removes the counters of a conversation that was deleted. */
  async drop(at: AgentAddress): Promise<void> {
    await this.deps.store.drop(namesBeginWith(at));
  }

  /** Calls off all waits, and waits until the reservations of ended processes are ended. */
  async close(): Promise<void> {
    this.#waiting.close();
    await Promise.all([...this.#asking.values()].map(({ cleaned }) => cleaned));
  }

  #ask(at: AgentAddress, { callId, request }: AskFrame, during: AgentEvent | undefined): void {
    const asking = this.#of(at);
    const answer = (outcome: CounterEnd) => this.deps.say(at, { type: 'counters.ended', callId, outcome });
    if (during === undefined) return answer(failed(outside()));
    // The calls of open reservations must be able to begin, or they would never end.
    const isFull = request.kind === 'reserve' && asking.reserved.size >= requestLimits.mostReserved;
    if (isFull || asking.requests.size >= requestLimits.mostOfOne) return answer(failed(tooMany()));
    const stop = new AbortController();
    asking.requests.set(callId, { eventId: during.id, stop });
    const waits = (limit: string) => this.deps.say(at, { type: 'counters.waiting', callId, limit });
    const work = this.#work(asking, request, { eventId: during.id, signal: stop.signal, waits }).catch(
      (error: unknown) => this.#failure(at, error),
    );
    void work.then((outcome) => {
      asking.requests.delete(callId);
      if (!stop.signal.aborted) answer(outcome);
    });
  }

  async #work(asking: Asking, request: CounterRequest, during: RequestTurn): Promise<CounterEnd> {
    await asking.cleaned;
    during.signal.throwIfAborted();
    switch (request.kind) {
      case 'reserve':
        return this.#reserve(asking, request, during);
      case 'begin': {
        const begun = request.ids.map((id) => asking.reserved.get(id)?.reservation);
        if (begun.includes(undefined)) throw new GoondanError('E_FENCED', 'The reservation of this call was ended.');
        await this.#onStore(asking, () =>
          this.deps.store.begin(
            asking.at,
            begun.filter((each) => each !== undefined),
          ),
        );
        return { status: 'done' };
      }
      case 'raise':
        await this.#raise(asking, request, during.eventId);
        return { status: 'done' };
    }
  }

  async #reserve(
    asking: Asking,
    { id, claims, limits }: Extract<CounterRequest, { readonly kind: 'reserve' }>,
    during: RequestTurn,
  ): Promise<CounterEnd> {
    const { at } = asking;
    const { eventId } = during;
    const reservation = { id, claims: claims.map((claim) => namedClaim(claim, placeOf(at, eventId))) };
    if (claims.some(({ scope }) => scope === 'turn')) asking.counted.add(eventId);
    // Noted before the store knows it, so that it is ended with its process in any case.
    asking.reserved.set(id, { eventId, reservation });
    if (limits !== undefined) return this.#wait(asking, reservation, limits, during);
    const outcome = await this.#onStore(asking, () => this.deps.store.reserve(at, reservation));
    if (outcome.status === 'reserved') return { ...outcome, waitedMs: 0 };
    asking.reserved.delete(id);
    if (outcome.status === 'refused') return { ...outcome };
    throw new GoondanError('E_UNEXPECTED', 'A reservation without turns waits for a turn.');
  }

  async #wait(
    asking: Asking,
    asked: Reservation,
    words: readonly string[],
    { eventId, signal, waits }: RequestTurn,
  ): Promise<CounterEnd> {
    const { at } = asking;
    const { id } = asked;
    const taking = { turnOf: at.agentName, isBegun: true };
    const current = followLimits({ claims: asked.claims, words }, () => this.deps.limits());
    const reserve = () => {
      const reservation = { id, claims: current().claims };
      // It is ended with the claims that were reserved last.
      if (asking.reserved.has(id)) asking.reserved.set(id, { eventId, reservation });
      return this.#onStore(asking, () => this.deps.store.reserve(at, { ...reservation, ...taking }));
    };
    const waiting: WaitingCall = {
      reservation: { ...asked, ...taking },
      get limits() {
        return current().words;
      },
      ...{ signal, waits, reserve },
      release: () => void this.#onStore(asking, () => this.deps.store.release(asked)).catch(() => undefined),
    };
    try {
      return { status: 'reserved', marked: [], waitedMs: await this.#waiting.wait(waiting) };
    } catch (error) {
      // The store may have made the reservation, although its answer was lost.
      this.#end(at, id, undefined);
      throw error;
    }
  }

  async #raise(
    asking: Asking,
    { approvalId, budget }: Extract<CounterRequest, { readonly kind: 'raise' }>,
    eventId: string,
  ): Promise<void> {
    const { at } = asking;
    const wanted = readBudget(budget);
    if (wanted === undefined || !this.deps.isApproved(at, approvalId, budget)) {
      throw new GoondanError('E_APPROVAL_DENIED', 'No person has approved to raise this budget.');
    }
    const { scope, counter, window } = counterOfBudget(wanted);
    const { day } = wanted;
    const raisedDay = day === undefined ? {} : { day: dayOf(Date.parse(day)) };
    const named = { counter: nameCounter(scope, counter, placeOf(at, eventId)), window, ...raisedDay };
    const isRaised = await this.#onStore(asking, () => this.deps.store.raise(named, wanted.to));
    const { limit, to, measure, currency = measure } = wanted;
    const ofDay = day === undefined ? '' : ` for ${day}`;
    const how = isRaised
      ? `raised from ${roundAmount(limit)} to ${roundAmount(to)} ${currency}${ofDay}`
      : `not raised${ofDay}, because that day is over`;
    const message = `The budget "${wanted.budget}" of ${wanted.extension} is ${how}.`;
    this.deps.report('info', isRaised ? 'budget.raised' : 'budget.not_raised', message, turnOf(at, eventId));
  }

  #end(at: AgentAddress, id: string, amounts: readonly number[] | undefined): void {
    const asking = this.#asking.get(addressKey(at));
    const reserved = asking?.reserved.get(id);
    if (asking === undefined || reserved === undefined) return;
    asking.reserved.delete(id);
    const { reservation } = reserved;
    const { store } = this.deps;
    const end = () => (amounts === undefined ? store.release(reservation) : store.settle(reservation, amounts));
    void this.#onStore(asking, end).then(
      () => this.#ended([reservation]),
      (error: unknown) => this.#reportUnsettled(at, error),
    );
  }

  /** Ends the requests and reservations of a process or a turn (invariant 2). */
  #clean(asking: Asking, isMeant: (eventId: string) => boolean, turnEvent?: string): void {
    for (const { eventId, stop } of asking.requests.values()) if (isMeant(eventId)) stop.abort(calledOff());
    const left = [...asking.reserved].filter(([, { eventId }]) => isMeant(eventId));
    for (const [id] of left) asking.reserved.delete(id);
    const isCounted = turnEvent !== undefined && asking.counted.delete(turnEvent);
    const reservations = left.map(([, { reservation }]) => reservation);
    const { store } = this.deps;
    const cleaned: Promise<void> = asking.cleaned
      .then(() => Promise.allSettled([...asking.working]))
      .then(async () => {
        if (reservations.length > 0) await store.abandon(reservations);
        if (isCounted) await store.drop(namesBeginWith(asking.at, turnIdOf(turnEvent)));
        this.#ended(reservations);
      })
      .catch((error: unknown) => this.#reportUnsettled(asking.at, error))
      .then(() => this.#forgetIdle(asking, cleaned));
    asking.cleaned = cleaned;
  }

  /** Forgets a conversation without work, unless another cleaning has begun after this one. */
  #forgetIdle({ at, requests, reserved, working, counted, cleaned: last }: Asking, cleaned: Promise<void>): void {
    const isIdle = requests.size + reserved.size + working.size + counted.size === 0;
    if (isIdle && last === cleaned) this.#asking.delete(addressKey(at));
  }

  /** Hides texts of the store, which may have an address of it. */
  #failure(at: AgentAddress, thrown: unknown): CounterEnd {
    const error = toFrameError(thrown, 'E_UNEXPECTED');
    if (OWN_TEXTS.has(error.code)) return failed(thrown);
    this.deps.report('error', 'counters.failed', `A model call is not counted: ${error.code}: ${error.message}`, at);
    return failed(
      new GoondanError('E_STORE_WRITE', 'The call cannot be counted. The log of the swarm has the reason.', {
        retryable: true,
      }),
    );
  }

  #ended(reservations: readonly Reservation[]): void {
    this.#waiting.ended(reservations.flatMap(({ claims }) => claims.map(({ counter }) => counter)));
  }

  /** A reservation that could not be ended is ended when this node has ended. */
  #reportUnsettled(at: AgentAddress, error: unknown): void {
    const { code, message } = toFrameError(error, 'E_STORE_WRITE');
    this.deps.report(
      'warn',
      'counters.not_settled',
      `A reservation stays until the swarm ends: ${code}: ${message}`,
      at,
    );
  }

  async #onStore<Value>(asking: Asking, work: () => Promise<Value>): Promise<Value> {
    const working = work();
    asking.working.add(working);
    return working.finally(() => asking.working.delete(working));
  }

  #of(at: AgentAddress): Asking {
    const key = addressKey(at);
    const known = this.#asking.get(key);
    if (known !== undefined) return known;
    const asking: Asking = {
      at,
      requests: new Map(),
      reserved: new Map(),
      working: new Set(),
      counted: new Set(),
      cleaned: Promise.resolve(),
    };
    this.#asking.set(key, asking);
    return asking;
  }
}

const OWN_TEXTS: ReadonlySet<string> = new Set([
  'E_APPROVAL_DENIED',
  'E_CANCELLED',
  'E_COUNTER_LIMIT',
  'E_DISK_FULL',
  'E_FENCED',
  'E_MODEL_LIMIT',
  'E_SWARM_STOPPED',
]);

function placeOf({ agentName, instanceKey }: AgentAddress, eventId: string): CounterPlace {
  return { agentName, instanceKey, turnId: turnIdOf(eventId) };
}

function namedClaim({ scope, counter, ...claim }: CallClaim, place: CounterPlace): Claim {
  return { ...claim, counter: nameCounter(scope, counter, place) };
}

function failed(error: unknown): CounterEnd {
  return { status: 'failed', error: withoutPlace(toFrameError(error, 'E_UNEXPECTED')) };
}

function outside(): GoondanError {
  return new GoondanError('E_FENCED', 'A model call was counted outside of a turn.');
}

function tooMany(): GoondanError {
  return new GoondanError('E_COUNTER_LIMIT', 'This conversation counts too many model calls at the same time.', {
    retryable: true,
  });
}

function calledOff(): GoondanError {
  return new GoondanError('E_CANCELLED', 'Nobody waits for the model call any more.');
}
