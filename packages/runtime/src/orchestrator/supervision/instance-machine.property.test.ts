// Tests random lives of one instance, in a simulated world that keeps its own records, independent of the state
// machine.
import { expect, test } from 'bun:test';
import type { AgentEvent } from '@goondan/types';
import fc from 'fast-check';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import { eventOf } from '../../testing/driven-instance.ts';
import { backoffMs } from './backoff.ts';
import { stepInstance } from './instance-machine.ts';
import { newInstance, type InstanceAction, type InstanceInput, type InstanceTimer } from './instance-state.ts';
import { isFinal } from './start-failure.ts';
import type { SupervisionPolicy } from './supervision-policy.ts';

const policy: SupervisionPolicy = {
  restart: { quickCrashes: 3, baseMs: 100, maxMs: 1_000, healthyMs: 2_000 },
  idle: { hibernateAfterSeconds: 0.5 },
  crashesBeforeDeadLetter: 3,
  takeOversBeforeDeadLetter: 5,
  startTimeoutMs: 300,
  startAttempts: 2,
  hibernateGraceMs: 50,
  isStopping: false,
};

const spent = { stepCount: 1, usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } };

/** A simulated process of the instance. */
interface Process {
  readonly number: number;
  readySince?: number;
  turn?: string;
  takesAhead: boolean;
  /** The event that the process has, but has not begun. */
  ahead?: string;
  /** True if the event was taken back, which the process has not heard yet. */
  isAskedBack?: true;
  readonly toldToCancel: Set<string>;
  wasAskedToGo: boolean;
  /** The error with which the start failed for good, or with which the store ended the turn. */
  failure?: FrameError;
  isForgiven?: true;
  /** The reason why the orchestrator killed the process: it was late, or it misbehaved. */
  killed?: 'late' | 'fault';
}

class World {
  state = newInstance;
  now = 0;
  process: Process | undefined;
  isInLine = false;
  isStopped = false;
  /** True while the swarm of the instance stops. */
  isStopping = false;
  readonly timers = new Map<InstanceTimer, number>();
  readonly accepted: string[] = [];
  sent = 0;
  readonly finished: string[] = [];
  readonly crashesOf = new Map<string, number>();
  readonly cancelled = new Set<string>();
  crashes = 0;
  healthyMs = 0;
  notBefore = 0;
  spawns = 0;
  /** True when the last start failed for good and no input has arrived since. */
  isBarred = false;
  /** Events whose last turn ended because of the store. */
  readonly excused = new Set<string>();
  /** Events without an answer whose senders have not received an error either. */
  readonly waiting = new Set<string>();

  input(input: InstanceInput): void {
    const { state, actions } = stepInstance(this.state, input, this.now, { ...policy, isStopping: this.isStopping });
    this.state = state;
    for (const action of actions) this.act(action);
    // no sender waits for an instance that does not start.
    if (state.phase.name === 'doesNotStart') expect([...this.waiting]).toEqual([]);
  }

  act(action: InstanceAction): void {
    switch (action.type) {
      case 'slot.ask':
        expect(this.process).toBeUndefined();
        this.isInLine = true;
        return;
      case 'slot.release':
        this.isInLine = false;
        return;
      case 'process.spawn':
        this.spawn(action.process);
        return;
      case 'process.drain':
        expect(this.process?.number).toBe(action.process);
        if (this.process) this.process.wasAskedToGo = true;
        return;
      case 'process.kill':
        expect(this.process?.number).toBe(action.process);
        if (this.process) this.process.killed ??= this.isAtFault(this.process) ? 'fault' : 'late';
        return;
      case 'turn.send':
        expect(action.isExcused === true).toBe(this.excused.has(action.event.id));
        this.send(action.event, action.deadLetter);
        return;
      case 'turn.cancel':
        // The event is that of the running turn, or of the turn that begins now, or was handed ahead.
        expect([this.accepted[this.finished.length], this.process?.ahead]).toContain(action.eventId);
        expect(this.cancelled.has(action.eventId)).toBe(true);
        this.process?.toldToCancel.add(action.eventId);
        return;
      case 'turn.ahead':
        expect(this.process?.number).toBe(action.process);
        this.handAhead(action.event);
        return;
      case 'turn.back':
        expect([this.process?.number, this.process?.ahead]).toEqual([action.process, action.eventId]);
        if (this.process) this.process.isAskedBack = true;
        return;
      case 'turn.steer':
        // No event of this world is for a running turn.
        throw new Error('an event was handed to a running turn');
      case 'turn.started':
        this.begin(action.event);
        return;
      case 'turn.finished':
        this.finished.push(action.event.id);
        this.waiting.delete(action.event.id);
        return;
      case 'event.deadLettered':
        expect(this.crashesOf.get(action.event.id)).toBe(policy.crashesBeforeDeadLetter);
        return;
      case 'timer.set':
        expect(action.at).toBeGreaterThanOrEqual(this.now);
        this.timers.set(action.timer, action.at);
        return;
      case 'timer.clear':
        this.timers.delete(action.timer);
        return;
      case 'requests.fail':
        this.waiting.clear();
        return;
      case 'report':
        return;
    }
  }

  /** True while an input reports that the process misbehaved. */
  faulty = false;
  isAskingToGo = false;

  private isAtFault({ readySince, wasAskedToGo }: Process): boolean {
    const startedTooSlowly = readySince === undefined && !wasAskedToGo && !this.isAskingToGo;
    return this.faulty || startedTooSlowly;
  }

  private spawn(number: number): void {
    expect(this.process).toBeUndefined();
    expect(this.isStopped).toBe(false);
    expect(this.isBarred).toBe(false);
    expect(number).toBe(++this.spawns);
    expect(this.now).toBeGreaterThanOrEqual(this.notBefore);
    expect(this.accepted.length).toBeGreaterThan(this.finished.length);
    this.process = { number, wasAskedToGo: false, takesAhead: false, toldToCancel: new Set() };
    this.isInLine = false;
  }

  private send({ id }: AgentEvent, deadLetter: boolean): void {
    expect(this.isStopping).toBe(false);
    expect(this.process?.readySince).toBeDefined();
    expect(this.process?.turn).toBeUndefined();
    expect(this.process?.wasAskedToGo).toBe(false);
    expect(this.process?.killed).toBeUndefined();
    expect(id).toBe(this.accepted[this.finished.length] ?? 'nothing');
    expect(deadLetter).toBe((this.crashesOf.get(id) ?? 0) >= policy.crashesBeforeDeadLetter);
    if (this.cancelled.has(id)) expect(this.process?.toldToCancel.has(id)).toBe(true);
    if (this.process?.ahead !== undefined) expect(this.process.ahead).toBe(id);
    delete this.process?.ahead;
    if (this.process) this.process.turn = id;
  }

  private handAhead({ id }: AgentEvent): void {
    expect(this.isStopping).toBe(false);
    expect(this.process?.takesAhead).toBe(true);
    expect(this.process?.turn).toBe(this.accepted[this.finished.length] ?? 'nothing');
    expect(this.process?.ahead).toBeUndefined();
    expect(this.process?.wasAskedToGo).toBe(false);
    expect(this.process?.killed).toBeUndefined();
    expect(id).toBe(this.accepted[this.finished.length + 1] ?? 'nothing');
    expect([this.cancelled.has(id), this.excused.has(id), this.crashesOf.has(id)]).toEqual([false, false, false]);
    if (this.process) this.process.ahead = id;
  }

  /** Handles the news that the process has begun the event that it was handed ahead. */
  private begin({ id }: AgentEvent): void {
    expect(this.process?.turn).toBe(id);
    expect(id).toBe(this.accepted[this.finished.length] ?? 'nothing');
    if (this.cancelled.has(id)) expect(this.process?.toldToCancel.has(id)).toBe(true);
  }

  accept(): void {
    const id = `e${this.sent++}`;
    this.accepted.push(id);
    this.waiting.add(id);
    this.isBarred = false;
    this.input({ type: 'work', seq: this.accepted.length, event: eventOf(id) });
  }

  acceptAgain(): void {
    const id = this.accepted[this.finished.length];
    if (id === undefined) return;
    this.waiting.add(id);
    this.isBarred = false;
    this.input({ type: 'work', seq: 1, event: eventOf(id) });
  }

  /** Deletes the conversation. While the instance has a process, this must change nothing. */
  discard(): void {
    this.input({ type: 'discard', error: { code: 'E_INSTANCE_DELETED', message: 'gone' } });
    if (this.process !== undefined) return;
    this.accepted.length = this.finished.length;
    this.isBarred = false;
    this.crashes = this.healthyMs = this.notBefore = 0;
    expect(this.isInLine).toBe(false);
    expect(this.timers.size).toBe(0);
  }

  cancel(pick: number): void {
    const id = this.accepted[pick % (this.accepted.length + 1)];
    if (id === undefined) return;
    this.cancelled.add(id);
    this.input({ type: 'cancel', eventId: id, reason: 'gave up' });
  }

  grant(): void {
    if (this.isInLine) this.input({ type: 'slot.granted' });
  }

  becomeReady(takesAhead = false): void {
    const { process } = this;
    if (process === undefined || process.readySince !== undefined || process.killed) return;
    process.takesAhead = takesAhead;
    // A process that is ending does not become healthy by its `ready`.
    if (!process.wasAskedToGo) process.readySince = this.now;
    this.input({ type: 'ready', process: process.number, ...(takesAhead ? { takesAhead } : {}) });
  }

  failStart(pick: number): void {
    const { process } = this;
    if (process === undefined || process.readySince !== undefined || process.wasAskedToGo) return;
    const error = { code: pick % 2 === 0 ? 'E_EXT_LOAD' : 'E_PROCESS_START', message: 'gone' } as const;
    if (process.killed === undefined) process.failure = error;
    this.faulty = true;
    this.input({ type: 'start.failed', process: process.number, error });
    this.faulty = false;
  }

  /** Lets the store end the running turn, because the store is damaged or full. */
  loseTurn(pick: number): void {
    const { process } = this;
    if (process?.turn === undefined || process.killed) return;
    const error = { code: pick % 2 === 0 ? 'E_STORE_CORRUPT' : 'E_DISK_FULL', message: 'no' } as const;
    process.failure = error;
    this.faulty = true;
    this.input({ type: 'turn.lost', process: process.number, error });
    this.faulty = false;
  }

  /** Simulates a person who allows another attempt. */
  forgive(): void {
    this.crashes = this.healthyMs = this.notBefore = 0;
    this.isBarred = false;
    if (this.process?.failure !== undefined) this.process.isForgiven = true;
    this.input({ type: 'forgive' });
  }

  /** Makes the inbox unreadable. While the instance has a process, this changes nothing. */
  damage(): void {
    if (this.process === undefined) this.isBarred = true;
    this.input({ type: 'damaged', error: { code: 'E_STORE_CORRUPT', message: 'bad line' } });
    if (this.process === undefined) expect([this.isInLine, this.timers.size]).toEqual([false, 0]);
  }

  /** Ends the running turn. `beginsNext`: begins the event that was handed ahead, even if a drain is on its way. */
  finishTurn(beginsNext = false): void {
    const { process } = this;
    if (process?.turn === undefined) return;
    const eventId = process.turn;
    delete process.turn;
    const begins = beginsNext ? process.ahead : undefined;
    if (begins !== undefined) {
      process.turn = begins;
      delete process.ahead;
    }
    this.input({
      type: 'turn.done',
      process: process.number,
      eventId,
      outcome: { ...spent, result: { turnId: eventId, finishReason: 'text_response' } },
      ...(begins === undefined ? {} : { begins }),
    });
  }

  /** Lets the process hear that its event was taken back. */
  returnAhead(): void {
    const { process } = this;
    if (process?.isAskedBack !== true) return;
    const { ahead } = process;
    delete process.ahead;
    delete process.isAskedBack;
    if (ahead === undefined) return;
    this.input({ type: 'turn.returned', process: process.number, eventId: ahead });
    expect(this.state.ahead).toBeUndefined();
  }

  /** Suspends the running turn, which waits for people. */
  leaveTurn(): void {
    const { process } = this;
    if (process?.turn === undefined || !process.wasAskedToGo || process.killed) return;
    delete process.turn;
    this.input({ type: 'turn.left', process: process.number });
  }

  hang(): void {
    const { process } = this;
    if (process === undefined || process.killed) return;
    this.faulty = true;
    this.input({ type: 'heartbeat.missed', process: process.number });
    this.faulty = false;
  }

  exit(): void {
    const { process } = this;
    if (process === undefined) return;
    this.process = undefined;
    if (process.readySince !== undefined) this.healthyMs += this.now - process.readySince;
    if (this.healthyMs >= policy.restart.healthyMs) this.crashes = this.healthyMs = this.notBefore = 0;
    const isMeant =
      process.killed === 'late' || (!process.killed && process.wasAskedToGo && process.turn === undefined);
    if (!isMeant) {
      this.crashes++;
      this.healthyMs = 0;
      this.notBefore = this.now + backoffMs(this.crashes, policy.restart);
      const { failure } = process;
      this.isBarred = failure !== undefined && isFinal(failure) && process.isForgiven === undefined;
      if (process.turn !== undefined && failure !== undefined) this.excused.add(process.turn);
      if (process.turn !== undefined && failure === undefined) {
        this.excused.delete(process.turn);
        this.crashesOf.set(process.turn, (this.crashesOf.get(process.turn) ?? 0) + 1);
      }
    }
    this.input({ type: 'exited', process: process.number, code: null, signal: 'SIGKILL' });
    expect(this.state.restarts.crashes).toBe(this.crashes);
  }

  drain(graceMs: number, afterwards: 'serve' | 'stop'): void {
    this.isAskingToGo = true;
    this.input({ type: 'drain', graceMs, afterwards });
    this.isAskingToGo = false;
  }

  /** Sends late messages of a dead process, and messages that no process is allowed to send. */
  lie(pick: number): void {
    const process = pick % 2 === 0 ? this.spawns - 1 : this.spawns + 1;
    if (this.process === undefined) this.input({ type: 'exited', process: this.spawns, code: 0, signal: null });
    this.input({ type: 'exited', process, code: 0, signal: null });
    this.input({ type: 'ready', process });
    const outcome = { ...spent, result: { turnId: 'lie', finishReason: 'error' } } as const;
    this.input({ type: 'turn.done', process, eventId: this.process?.turn ?? 'x', outcome });
    this.input({ type: 'turn.done', process: this.spawns, eventId: 'not-running', outcome, begins: 'e0' });
    for (const each of [process, this.spawns]) this.input({ type: 'turn.returned', process: each, eventId: 'lie' });
  }

  pass(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const [due] = [...this.timers].filter(([, at]) => at <= end).toSorted(([, a], [, b]) => a - b);
      if (due === undefined) break;
      const [timer, at] = due;
      this.timers.delete(timer);
      this.now = Math.max(this.now, at);
      this.input({ type: 'timer', timer });
    }
    this.now = end;
  }

  /** Fires a timer too early. */
  ringEarly(pick: number): void {
    this.input({ type: 'timer', timer: (['backoff', 'start', 'idle', 'grace'] as const)[pick % 4] ?? 'idle' });
  }

  /** Lets the instance finish its work, without further faults. */
  settle(): void {
    for (let round = 0; round < 10_000; round++) {
      if (this.process?.killed || (this.process?.wasAskedToGo && this.process.turn === undefined)) this.exit();
      this.grant();
      this.becomeReady();
      this.finishTurn();
      if (this.isBarred) this.forgive();
      if (this.isStopped ? this.process === undefined : this.finished.length === this.accepted.length) return;
      this.pass(10);
    }
  }
}

const deeds: Readonly<Record<string, (world: World, pick: number) => void>> = {
  accept: (world) => world.accept(),
  acceptMore: (world) => world.accept(),
  acceptAgain: (world) => world.acceptAgain(),
  cancel: (world, pick) => world.cancel(pick),
  grant: (world) => world.grant(),
  grantAgain: (world) => world.grant(),
  becomeReady: (world) => world.becomeReady(),
  becomeReadyToo: (world) => world.becomeReady(),
  becomeReadyForMore: (world) => world.becomeReady(true),
  failStart: (world, pick) => world.failStart(pick),
  grantAndFail: (world, pick) => {
    world.grant();
    world.failStart(pick);
    world.exit();
  },
  loseTurn: (world, pick) => world.loseTurn(pick),
  loseTurnAndExit: (world, pick) => {
    world.loseTurn(pick);
    world.exit();
  },
  forgive: (world) => world.forgive(),
  damage: (world) => world.damage(),
  finishTurn: (world) => world.finishTurn(),
  finishAnother: (world) => world.finishTurn(),
  finishAndBegin: (world) => world.finishTurn(true),
  runSeveral: (world, pick) => {
    world.grant();
    world.becomeReady(true);
    for (let turn = 0; turn < pick % 4; turn++) {
      world.accept();
      world.finishTurn(true);
    }
  },
  takeBack: (world) => world.input({ type: 'takeBack' }),
  returnAhead: (world) => world.returnAhead(),
  leave: (world) => world.input({ type: 'leave' }),
  leaveTurn: (world) => world.leaveTurn(),
  replaceAndLeave: (world, pick) => {
    world.drain(1 + (pick % 60), 'serve');
    world.leaveTurn();
    if (pick % 2 === 0) world.exit();
  },
  hang: (world) => world.hang(),
  exit: (world) => world.exit(),
  liveAndCrash: (world) => {
    world.grant();
    world.becomeReady();
    world.finishTurn();
    world.exit();
  },
  lie: (world, pick) => world.lie(pick),
  pass: (world, pick) => world.pass(pick),
  passLong: (world, pick) => world.pass(pick * 10),
  ringEarly: (world, pick) => world.ringEarly(pick),
  hibernate: (world) => world.input({ type: 'hibernate' }),
  replace: (world, pick) => world.drain(pick % 60, 'serve'),
  discard: (world) => world.discard(),
};

const lives = fc.array(fc.tuple(fc.constantFrom(...Object.keys(deeds)), fc.nat(200)), { maxLength: 200, size: 'max' });

test('R-02 R-03 in any life of an instance no event is lost or reordered, no two turns run, no start skips the backoff, no retry comes unasked, and no event counts a failure of the store', () => {
  fc.assert(
    fc.property(lives, (life) => {
      const world = new World();
      for (const [deed, pick] of life) deeds[deed]?.(world, pick);
      world.settle();
      expect(world.finished).toEqual(world.accepted);
      expect(world.state.queue).toEqual([]);
    }),
    { numRuns: 1_500 },
  );
});

test('R-07 after any history, a drained instance has no process after its grace, and its events in order', () => {
  fc.assert(
    fc.property(lives, fc.nat(100), (life, graceMs) => {
      const world = new World();
      for (const [deed, pick] of life) deeds[deed]?.(world, pick);
      world.drain(graceMs, 'stop');
      world.isStopped = true;
      world.pass(graceMs);
      if (world.process !== undefined) expect(world.process.killed).toBeDefined();
      world.exit();
      world.accept();
      world.pass(10_000);
      expect(world.process).toBeUndefined();
      expect(world.state.phase.name).toBe('stopped');
      const left = world.state.queue.map(({ event }) => event.id);
      expect([...world.finished, ...left]).toEqual(world.accepted);
    }),
    { numRuns: 500 },
  );
});

test('R-07 in any life of an instance whose swarm stops, at most the event that its process was handed ahead begins, and none after the process has returned it', () => {
  fc.assert(
    fc.property(lives, lives, (life, rest) => {
      const world = new World();
      for (const [deed, pick] of life) deeds[deed]?.(world, pick);
      const { ahead } = world.state;
      world.isStopping = true;
      world.input({ type: 'takeBack' });
      const begun = () => (world.process?.turn === undefined ? [] : [world.process.turn]);
      const allowed = [...begun(), ...(ahead === undefined ? [] : [ahead])];
      for (const [deed, pick] of rest) {
        const isReturned = world.state.ahead === undefined;
        const before = begun();
        deeds[deed]?.(world, pick);
        expect(isReturned ? before : allowed).toEqual(expect.arrayContaining(begun()));
      }
      const left = world.state.queue.map(({ event }) => event.id);
      expect([...world.finished, ...left]).toEqual(world.accepted);
    }),
    { numRuns: 500 },
  );
});
