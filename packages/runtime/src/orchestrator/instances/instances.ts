/**
 * All instances of a swarm, with one queue of inputs and one line of instances that wait for a process.
 *
 * Invariants:
 * 1. Inputs are handled one after the other, in the order of posting, and never inside another step.
 * 2. When the queue of inputs is empty, slots are assigned again (`supervision/process-slots.ts`), at most once in a tick:
 *    that takes a look at every process, and the frames of many processes arrive in one tick. Changes after it wait for
 *    the next tick.
 * 3. An instance held by `whileAsleep` gets no process until it is released; its input stays queued.
 * 4. After `close` nothing happens any more: a later input is ignored and starts nothing.
 * 5. An instance whose agent is not declared, or misses values here, gets no process until the plan changes.
 * 6. An instance of a paused agent gets no process until the agent is resumed; its input stays queued.
 * 7. An instance that sleeps, has nothing to do and never crashed is forgotten. If more than `MOST_REMEMBERED`
 *    instances are left, the oldest of those that sleep and have nothing to do is forgotten too, even if it crashed.
 * 8. An instance that may share a process takes a free seat at once. Otherwise one instance of its agent waits for a slot,
 *    and the others take seats in the process that it gets. If no slot is free, idle conversations make room.
 * 9. Each assignment starts at most one process: a start blocks the event loop for milliseconds, until the system has
 *    loaded the program. So many starts at once do not delay the frames of running processes.
 */
import type { AgentAddress } from '@goondan/types';
import { addressKey } from '../address/address-key.ts';
import type { CallBroker } from '../calls/call-broker.ts';
import type { HeldInstances } from '../calls/held-instances.ts';
import type { WatchFilter } from '../../control/swarm.ts';
import { type CurrentPlan, isRunnable } from '../plan/current-plan.ts';
import { conditionOf, type InstanceInput } from '../supervision/instance-state.ts';
import type { Grace } from '../supervision/drain-process.ts';
import { planSlots, type SlotHolder } from '../supervision/process-slots.ts';
import { Instance, type InstanceDeps } from './instance.ts';
import { type HoldingInstance, seatsToClear, slotsOf } from './slot-holders.ts';
import { WaitingLine } from './waiting-line.ts';
import type { SwarmListener } from './swarm-listener.ts';

export interface InstancesDeps extends Omit<InstanceDeps, 'policy' | 'post' | 'spawn' | 'askSlot' | 'releaseSlot'> {
  /** Starts processes, and knows the free seats of shared ones. */
  readonly processes: Pick<InstanceDeps, 'spawn'> & {
    isShared(agentName: string): boolean;
    roomFor(agentName: string): number;
  };
  readonly currentPlan: CurrentPlan;
  readonly calls: Pick<CallBroker, 'isWaiting' | 'isAwaited'>;
  readonly held: Pick<HeldInstances, 'has' | 'size'>;
  /** Called when an instance has neither a process nor work. Must not throw. */
  readonly slept?: (at: AgentAddress) => void;
}

const MOST_REMEMBERED = 10_000;

export class Instances implements SwarmListener {
  readonly #instanceDeps: InstanceDeps;
  readonly #instances = new Map<string, Instance>();
  /** Every instance with state on disk, by key, so that the disk is not read again while the swarm runs. */
  readonly #known = new Map<string, AgentAddress>();
  /** Instances with a process. The set is small, however many instances wait. */
  readonly #withProcess = new Set<Instance>();
  readonly #line = new WaitingLine();
  /** Instances held by `whileAsleep`, by key, and whether each has asked for a process meanwhile. */
  readonly #held = new Map<string, { asked: boolean }>();
  /** Names of agents whose instances get no process for now. */
  #paused: ReadonlySet<string> = new Set();
  readonly #inputs: { readonly instance: Instance; readonly input: InstanceInput }[] = [];
  /** Functions called after every step, each to check a condition. */
  readonly #lookers = new Set<() => void>();
  /** The number of processes started for people since the last one started for an agent's input. */
  #peopleInARow = 0;
  /** Whether slots were assigned in this tick, and whether they are to be assigned again in the next (invariant 2). */
  #assigned: 'not yet' | 'once' | 'again later' = 'not yet';
  #isStepping = false;
  #isStopping = false;
  #isClosed = false;

  constructor(private readonly deps: InstancesDeps) {
    this.#instanceDeps = {
      ...deps,
      spawn: (...asked) => deps.processes.spawn(...asked),
      policy: () => ({ ...deps.currentPlan.value.settings.supervision, isStopping: this.#isStopping }),
      post: (instance, input) => this.#push(instance, input),
      askSlot: ({ key, address }) => {
        const held = this.#held.get(key);
        if (held !== undefined) held.asked = true;
        else this.#enterLine(key, address);
      },
      releaseSlot: ({ key, address }) => {
        const held = this.#held.get(key);
        if (held !== undefined) held.asked = false;
        this.#line.leave(key, address.agentName);
      },
    };
  }

  /** The number of instances that wait for a process. */
  get waiting(): number {
    return this.#line.size;
  }

  /** The number of instances with a process. */
  get processes(): number {
    return this.#withProcess.size;
  }

  /** Lists instances that are awake, have work, or crashed recently. */
  all(): Iterable<Instance> {
    return this.#instances.values();
  }

  find(address: AgentAddress): Instance | undefined {
    return this.#instances.get(addressKey(address));
  }

  /** Lists the instances with a process that a watch with this filter may concern. */
  concernedBy({ agent, instanceKey }: WatchFilter): Iterable<Instance> {
    if (agent === undefined || instanceKey === undefined) return this.#withProcess;
    const instance = this.find({ agentName: agent, instanceKey });
    return instance === undefined ? [] : [instance];
  }

  post(address: AgentAddress, input: InstanceInput): void {
    if (!this.#isClosed) this.#push(this.#of(address), input);
  }

  /** Returns true if the instance has state on disk, and neither a process nor work. */
  isAsleep(address: AgentAddress): boolean {
    const key = addressKey(address);
    return this.#known.has(key) && !this.#instances.has(key);
  }

  /** Lists instances that have state on disk. */
  known(): Iterable<AgentAddress> {
    return this.#known.values();
  }

  /** Adds an instance that has state on disk. */
  remember({ agentName, instanceKey }: AgentAddress): void {
    const key = addressKey({ agentName, instanceKey });
    if (!this.#known.has(key)) this.#known.set(key, { agentName, instanceKey });
  }

  /** Removes an instance that no longer has state on disk. */
  forget(address: AgentAddress): void {
    this.#known.delete(addressKey(address));
  }

  /** Assigns the slots again, because an instance may have begun or stopped waiting. */
  waitsChanged(): void {
    if (!this.#isStepping) this.#run();
  }

  /** Adds instances to the line or removes them from it, after the list of declared agents has changed. */
  redeclare(): void {
    for (const key of this.#line.all()) {
      const instance = this.#instances.get(key);
      if (instance === undefined) continue;
      this.#line.leave(key, instance.address.agentName);
      this.#enterLine(key, instance.address);
    }
    this.waitsChanged();
  }

  /**
   * Lets no process of these agents start until the returned function is called. Running processes are not affected.
   * Only one pause at a time.
   */
  pause(agents: ReadonlySet<string>): () => void {
    this.#paused = agents;
    return () => {
      this.#paused = new Set();
      this.waitsChanged();
    };
  }

  /** From now on, only turns begin that another turn waits for. See `beginNothing` in drain-instances.ts. */
  stopBeginning(): void {
    this.#isStopping = true;
  }

  /** Stops everything. Call it when every process has exited. */
  close(): void {
    this.#isClosed = true;
  }

  /**
   * Resolves when `isTrue` returns true. `isTrue` is called now and after every step, including steps that the call
   * itself causes.
   */
  async until(isTrue: () => boolean): Promise<void> {
    const reached = Promise.withResolvers<void>();
    const look = () => void (isTrue() && reached.resolve());
    this.#lookers.add(look);
    look();
    await reached.promise;
    this.#lookers.delete(look);
  }

  /** Runs `action` while the instance has no process: drains its process, and lets the next process wait. */
  async whileAsleep<Value>(
    address: AgentAddress,
    { graceMs, cleanUpMs }: Grace,
    action: () => Promise<Value>,
  ): Promise<Value> {
    const key = addressKey(address);
    // When several callers wait, the first one holds the instance again before the others continue.
    while (this.#held.has(key)) await this.until(() => !this.#held.has(key));
    this.#held.set(key, { asked: this.#line.leave(key, address.agentName) });
    try {
      const cleanUp = cleanUpMs === undefined ? {} : { cleanUpMs };
      if (this.#instances.has(key)) this.post(address, { type: 'drain', graceMs, ...cleanUp, afterwards: 'serve' });
      await this.until(() => this.#instances.get(key)?.hasProcess !== true);
      return await action();
    } finally {
      const asked = this.#held.get(key)?.asked === true;
      this.#held.delete(key);
      if (asked) this.#enterLine(key, address);
      this.#run();
    }
  }

  /** Adds an instance to the line, or sets it aside while its agent cannot run here (invariant 5). */
  #enterLine(key: string, { agentName }: AgentAddress): void {
    if (!isRunnable(this.deps.currentPlan.value, agentName)) return this.#line.setAside(key);
    const needsOwn = this.#instances.get(key)?.state.isAlone === true || !this.deps.processes.isShared(agentName);
    return needsOwn ? this.#line.enter(key) : this.#line.enterForSeat(key, agentName);
  }

  #of(address: AgentAddress): Instance {
    const key = addressKey(address);
    const known = this.#instances.get(key);
    if (known !== undefined) return known;
    const { agentName, instanceKey } = address;
    const instance = new Instance({ agentName, instanceKey }, key, this.#instanceDeps);
    this.#instances.set(key, instance);
    return instance;
  }

  #push(instance: Instance, input: InstanceInput): void {
    if (this.#isClosed) return;
    this.#inputs.push({ instance, input });
    if (!this.#isStepping) this.#run();
  }

  #run(): void {
    this.#isStepping = true;
    try {
      do {
        for (let next = this.#inputs.shift(); next !== undefined; next = this.#inputs.shift()) {
          const { instance, input } = next;
          instance.step(input);
          if (instance.hasProcess) this.#withProcess.add(instance);
          else this.#withProcess.delete(instance);
          this.#dropIdle(instance);
        }
        this.#plan();
      } while (this.#inputs.length > 0);
    } finally {
      this.#isStepping = false;
    }
    for (const look of [...this.#lookers]) look();
  }

  #plan(): void {
    this.#takeSeats();
    if (this.#line.size === 0 || !this.#mayAssign()) return;
    const { calls, held, currentPlan } = this.deps;
    const holding = this.#holders();
    const { holders, membersOf } = slotsOf(holding);
    const line = this.#startable(holders);
    if (line.size === 0) return;
    const { start, hibernate, leave } = planSlots({
      holders,
      line,
      isAwaited: (key) => this.#isSo(key, (address) => calls.isAwaited(address)),
      agentOf: (key) => this.#instances.get(key)?.address.agentName ?? key,
      isForPerson: (key) => this.#isForPerson(key),
      peopleInARow: this.#peopleInARow,
      ...(held.size > 0 ? { isHeld: (key) => this.#isHeld(key) } : {}),
      maxProcesses: currentPlan.value.settings.maxProcesses,
    });
    if (start[0] !== undefined) this.#startOne(start[0]);
    const ending = [...hibernate, ...leave].flatMap(membersOf);
    for (const { key, condition } of ending) this.#tell(key, { type: condition === 'held' ? 'leave' : 'hibernate' });
    if (start.length + ending.length === 0) this.#makeSeats(holding);
  }

  /** Returns false if slots were already assigned in this tick; they are then assigned again in the next. */
  #mayAssign(): boolean {
    if (this.#assigned !== 'not yet') {
      this.#assigned = 'again later';
      return false;
    }
    this.#assigned = 'once';
    setImmediate(() => {
      const isDue = this.#assigned === 'again later' && !this.#isClosed;
      this.#assigned = 'not yet';
      if (isDue) this.#run();
    });
    return true;
  }

  /** Starts a process. The step of its instance assigns the slots again, and so serves the next one in line. */
  #startOne(key: string): void {
    this.#peopleInARow = this.#isForPerson(key) ? this.#peopleInARow + 1 : 0;
    this.#grant(key);
  }

  /** Gives free seats of shared processes to the instances that wait for one (invariant 8). */
  #takeSeats(): void {
    for (const [agentName, keys] of [...this.#line.forSeats]) {
      if (this.#paused.has(agentName)) continue;
      for (const key of [...Iterator.from(keys).take(this.deps.processes.roomFor(agentName))]) this.#grant(key);
    }
  }

  /** Closes idle conversations of shared processes that are full, longest idle first, for those that wait. */
  #makeSeats(holding: readonly HoldingInstance[]): void {
    for (const [agentName, { size }] of this.#line.forSeats) {
      if (this.#paused.has(agentName)) continue;
      const seats = holding.filter(({ key, shared }) => shared !== undefined && this.#isOf(key, agentName));
      for (const { key } of seatsToClear(seats, size)) this.#tell(key, { type: 'hibernate' });
    }
  }

  #grant(key: string): void {
    const instance = this.#instances.get(key);
    if (instance !== undefined) this.#line.leave(key, instance.address.agentName);
    this.#tell(key, { type: 'slot.granted' });
  }

  /**
   * Returns the instances that compete for slots: without those of paused agents (invariant 6), and one of each agent
   * whose instances wait for seats (invariant 8). If every process waits for an answer, that is one which answers.
   */
  #startable(holders: readonly SlotHolder[]): ReadonlySet<string> {
    const { own, forSeats } = this.#line;
    if (this.#paused.size === 0 && forSeats.size === 0) return own;
    const isWaiting = holders.every(({ condition }) => condition === 'waiting');
    const isAwaited = (key: string) => this.#isSo(key, (address) => this.deps.calls.isAwaited(address));
    const first = [...forSeats.values()].flatMap((keys) => {
      const awaited = isWaiting ? [...keys].find(isAwaited) : undefined;
      return awaited === undefined ? [...Iterator.from(keys).take(1)] : [awaited];
    });
    return new Set(
      [...own, ...first].filter((key) => !this.#isSo(key, ({ agentName }) => this.#paused.has(agentName))),
    );
  }

  #isOf(key: string, agentName: string): boolean {
    return this.#isSo(key, (address) => address.agentName === agentName);
  }

  #isSo(key: string, isTrue: (address: AgentAddress) => boolean): boolean {
    const instance = this.#instances.get(key);
    return instance !== undefined && isTrue(instance.address);
  }

  /** Returns true if a client or a connector sent one of the instance's events. */
  #isForPerson(key: string): boolean {
    return this.#instances.get(key)?.state.queue.some(({ event }) => event.source.kind !== 'agent') === true;
  }

  /** Returns true if the instance waits for people. An instance whose turn is cancelled does not. */
  #isHeld(key: string): boolean {
    const isCancelled = this.#instances.get(key)?.state.queue[0]?.cancelled !== undefined;
    return !isCancelled && this.#isSo(key, (address) => this.deps.held.has(address));
  }

  #tell(key: string, input: InstanceInput): void {
    const instance = this.#instances.get(key);
    if (instance !== undefined) this.#inputs.push({ instance, input });
  }

  #holders(): HoldingInstance[] {
    const { calls, held } = this.deps;
    const holders: HoldingInstance[] = [];
    for (const { address, key, state, shared } of this.#withProcess) {
      const condition = conditionOf(state, calls.isWaiting(address), held.has(address));
      if (condition === undefined) continue;
      const { phase } = state;
      const idle = phase.name === 'ready' ? { idleSince: phase.idleSince } : {};
      holders.push({ key, condition, ...idle, ...(shared === undefined ? {} : { shared }) });
    }
    return holders;
  }

  /** Forgets an instance without a process and without work (invariant 7). */
  #dropIdle({ key, state, address }: Instance): void {
    if (state.phase.name !== 'absent' || state.queue.length > 0) return;
    this.deps.slept?.(address);
    if (state.restarts.crashes === 0 && state.startFailures === 0) {
      this.#instances.delete(key);
      return;
    }
    if (this.#instances.size <= MOST_REMEMBERED) return;
    for (const [oldest, { state: each }] of this.#instances) {
      if (each.phase.name !== 'absent' || each.queue.length > 0) continue;
      this.#instances.delete(oldest);
      return;
    }
  }
}
