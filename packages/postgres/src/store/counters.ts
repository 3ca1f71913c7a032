/**
 * Counters in PostgreSQL. The rules are those of every store (`@goondan/runtime`, `counters/`): a node reads the states of
 * the counters, changes them, and writes them with one statement, if nobody else has changed them since. So a statement
 * that is late or repeated changes nothing that a later one has changed.
 *
 * Operations that wait at the same time are written together, so a node has one statement under way, however many
 * processes it has.
 */
import type { Counters, Reservation } from '@goondan/runtime/history';
import {
  abandonReservation,
  beginReservations,
  type Changed,
  type CounterMoment,
  type CounterState,
  endReservation,
  notReserved,
  raiseLimit,
  type ReadState,
  reserveClaims,
  tooManyCounters,
} from '@goondan/runtime/internal';
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { Query } from '../driver/repeat.ts';
import {
  ADD_COUNTERS,
  type CounterRow,
  DROP_COUNTERS,
  READ_COUNTERS,
  WRITE_COUNTERS,
  type WriteOutcome,
} from './counter-statements.ts';
import { notTheOwner, ownerQueryOf, type StoreContext } from './store-context.ts';

export interface PostgresCountersOptions {
  /** Returns the epoch of the claim of an own instance. **Errors** — `E_FENCED`. */
  epochOf(instance: AgentAddress): number;
}

/** The most operations that are written together. */
const MOST_TOGETHER = 200;
/** The number of attempts after which other nodes are given time. */
const PATIENT_AFTER = 3;
const MOST_PAUSE_MS = 20;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A turn may wait for people, at most 30 days for each question. */
const TURN_MS = 60 * DAY_MS;

interface Operation {
  readonly counters: readonly string[];
  /** The instance whose owner makes the change; absent if the reservation belongs to this node in any case. */
  readonly instance?: AgentAddress;
  apply(read: ReadState, moment: CounterMoment): Changed<unknown>;
  resolve(outcome: unknown): void;
  reject(error: unknown): void;
}

/** An operation that only the owner of its instance may make. */
type OwnerOperation = Operation & Required<Pick<Operation, 'instance'>>;

/** The outcomes of one attempt. */
type Applied = ReadonlyMap<Operation, { readonly outcome: unknown; readonly isChange: boolean }>;

export class PostgresCounters implements Counters {
  readonly #query: Query;
  #waiting: Operation[] = [];
  #running: Promise<void> | undefined;
  /** The versions of the rows that were read last. */
  #versions: ReadonlyMap<string, number> = new Map();

  constructor(
    private readonly context: StoreContext,
    private readonly options: PostgresCountersOptions,
  ) {
    this.#query = ownerQueryOf(context);
  }

  reserve: Counters['reserve'] = (instance, reservation) =>
    this.#change({
      counters: countersOf([reservation]),
      instance,
      apply: (read, moment) => reserveClaims(read, reservation, this.context.node, moment),
    });

  async begin(instance: AgentAddress, reservations: readonly Reservation[]): Promise<void> {
    const hasBegun = await this.#change<boolean>({
      counters: countersOf(reservations),
      instance,
      apply: (read, moment) => beginReservations(read, reservations, moment),
    });
    if (!hasBegun) throw notReserved();
  }

  settle: Counters['settle'] = (reservation, amounts) => this.#end(reservation, amounts);

  release: Counters['release'] = (reservation) => this.#end(reservation);

  async abandon(reservations: readonly Reservation[]): Promise<void> {
    const abandon = (reservation: Reservation) =>
      this.#change<void>({
        counters: countersOf([reservation]),
        apply: (read, moment) => abandonReservation(read, reservation, moment),
      });
    await Promise.all(reservations.map(abandon));
  }

  raise: Counters['raise'] = (counter, to) =>
    this.#change({
      counters: [counter.counter],
      apply: (read, moment) => raiseLimit(read, { ...counter, to }, moment),
    });

  async drop(beginnings: readonly string[]): Promise<void> {
    await this.#query(DROP_COUNTERS, [this.context.swarm, beginnings]);
  }

  /** Waits for the operations under way. */
  async close(): Promise<void> {
    await this.#running;
  }

  #end(reservation: Reservation, amounts?: readonly number[]): Promise<void> {
    return this.#change({
      counters: countersOf([reservation]),
      apply: (read, moment) => endReservation(read, reservation, amounts, moment),
    });
  }

  #change<Outcome>(operation: Omit<Operation, 'resolve' | 'reject'>): Promise<Outcome> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.push({ ...operation, resolve, reject });
    this.#running ??= this.#run();
    // Safe: the outcome is that of the operation.
    return promise as Promise<Outcome>;
  }

  async #run(): Promise<void> {
    // Operations of the same moment are written together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MOST_TOGETHER);
      try {
        await this.#write(batch);
      } catch (error) {
        for (const operation of batch) operation.reject(error);
      }
    }
    // In the same moment as the check above: an operation that comes later begins the next run.
    this.#running = undefined;
  }

  async #write(batch: readonly Operation[]): Promise<void> {
    let left = batch;
    for (let attempt = 1; left.length > 0; attempt += 1) {
      if (attempt > PATIENT_AFTER) await Bun.sleep(Math.random() * MOST_PAUSE_MS);
      left = await this.#attempt(left);
    }
  }

  /** Tries to write the operations. Returns those that have no outcome yet. */
  async #attempt(batch: readonly Operation[]): Promise<readonly Operation[]> {
    const names = [...new Set(batch.flatMap(({ counters }) => counters))];
    const { rows, moment } = await this.#read(names);
    const states = new Map(rows);
    const applied = applyAll(batch, states, moment);
    const changed = [...states].filter(([name, state]) => state !== rows.get(name));
    const missing = changed.map(([name]) => name).filter((name) => !this.#versions.has(name));
    if (missing.length > 0) {
      const added = await this.#query(ADD_COUNTERS, [this.context.swarm, missing]);
      return added.length === 0 ? refuseNew(applied, missing) : [...applied.keys()];
    }
    const owners = [...applied].flatMap(([operation, { isChange }]) => (isChange ? ownerOf(operation) : []));
    const fenced = changed.length === 0 ? [] : await this.#put(changed, owners, moment.now);
    if (fenced === 'again') return [...applied.keys()];
    for (const operation of fenced) operation.reject(notTheOwner(operation.instance));
    if (fenced.length > 0) {
      const refused = new Set<Operation>(fenced);
      return [...applied.keys()].filter((operation) => !refused.has(operation));
    }
    for (const [operation, { outcome }] of applied) operation.resolve(outcome);
    return [];
  }

  async #read(names: readonly string[]) {
    const { swarm, node } = this.context;
    const found = await this.#query<CounterRow>(READ_COUNTERS, [swarm, names]);
    const living = new Set(found[0]?.living);
    this.#versions = new Map(
      found.flatMap(({ name, version }) => (version === null ? [] : [[name, version] as const])),
    );
    const rows = new Map(found.flatMap(({ name, state }) => (state ? [[name, decode(state)] as const] : [])));
    const isLost = (owner: string) => owner !== node && !living.has(owner);
    return { rows, moment: { now: found[0]?.now_ms ?? 0, isLost } };
  }

  /** Writes the states. Returns the operations of instances that this node does not own; `again` if a state has changed. */
  async #put(
    changed: readonly (readonly [string, CounterState])[],
    owners: readonly OwnerOperation[],
    now: number,
  ): Promise<readonly OwnerOperation[] | 'again'> {
    const { swarm, node } = this.context;
    const epochs = owners.map(({ instance }) => this.#epochOf(instance));
    const lost = owners.filter((_, index) => epochs[index] === undefined);
    if (lost.length > 0) return lost;
    const [outcome] = await this.#query<WriteOutcome>(WRITE_COUNTERS, [
      swarm,
      node,
      changed.map(([name]) => name),
      listOf(changed.map(([name]) => this.#versions.get(name) ?? 0)),
      changed.map(([, state]) => JSON.stringify(state)),
      listOf(changed.map(([name, state]) => keptUntil(name, state, now))),
      owners.map(({ instance }) => instance.agentName),
      owners.map(({ instance }) => instance.instanceKey),
      listOf(epochs),
    ]);
    if (outcome?.lives === false) throw new GoondanError('E_FENCED', 'The lease of this node has ended.');
    const positions = new Set(outcome?.lost);
    const refused = owners.filter((_, index) => positions.has(index + 1));
    return refused.length > 0 || outcome?.is_done === true ? refused : 'again';
  }

  #epochOf(instance: AgentAddress): number | undefined {
    try {
      return this.options.epochOf(instance);
    } catch {
      return undefined;
    }
  }
}

/** Applies the operations in their order to the states. An operation that fails is answered now. */
function applyAll(batch: readonly Operation[], states: Map<string, CounterState>, moment: CounterMoment): Applied {
  const applied = new Map<Operation, { outcome: unknown; isChange: boolean }>();
  for (const operation of batch) {
    try {
      const { outcome, states: changed } = operation.apply((name) => states.get(name), moment);
      for (const [name, state] of changed) states.set(name, state);
      applied.set(operation, { outcome, isChange: changed.size > 0 });
    } catch (error) {
      operation.reject(error);
    }
  }
  return applied;
}

/** Refuses the operations that need another counter, since there are too many. Returns the others. */
function refuseNew(applied: Applied, missing: readonly string[]): readonly Operation[] {
  const left: Operation[] = [];
  for (const [operation, { isChange }] of applied) {
    const needsNew = isChange && operation.counters.some((name) => missing.includes(name));
    if (needsNew) operation.reject(tooManyCounters());
    else left.push(operation);
  }
  return left;
}

function ownerOf(operation: Operation): readonly OwnerOperation[] {
  // Safe: the instance is there.
  return operation.instance === undefined ? [] : [operation as OwnerOperation];
}

function countersOf(reservations: readonly Reservation[]): readonly string[] {
  return reservations.flatMap(({ claims }) => claims.map(({ counter }) => counter));
}

function decode(state: string): CounterState {
  // Safe: only this file writes these texts.
  return JSON.parse(state) as CounterState;
}

/** Returns the time after which nothing of a counter counts; undefined if it counts always. */
function keptUntil(name: string, { window }: CounterState, now: number): number | undefined {
  if (name.startsWith('["turn"')) return now + TURN_MS;
  if (window === 'ever') return undefined;
  return now + (window === 'day' ? 2 * DAY_MS : HOUR_MS);
}

/** The text of an array of numbers. */
function listOf(numbers: readonly (number | undefined)[]): string {
  return `{${numbers.map((each) => each ?? 'null').join(',')}}`;
}
