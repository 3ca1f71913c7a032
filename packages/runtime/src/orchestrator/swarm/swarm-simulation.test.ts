// Simulates whole swarms in one process: the state machines of all instances, the slots and the broker, with random
// call graphs and a simulated clock. The seed decides how unreliable the disk and the processes are. A failure prints
// the seed.
import { expect, test } from 'bun:test';
import type { AgentAddress, AgentEvent, TurnResult } from '@goondan/types';
import fc from 'fast-check';
import { samples } from '../../../../../test/samples.ts';
import { addressKey } from '../address/address-key.ts';
import { CallBroker } from '../calls/call-broker.ts';
import { defaultCallLimits, type CallAction, type CallFrame } from '../calls/call.ts';
import { stepInstance } from '../supervision/instance-machine.ts';
import { conditionOf, newInstance, type InstanceAction, type InstanceInput } from '../supervision/instance-state.ts';
import { planSlots, type SlotHolder } from '../supervision/process-slots.ts';
import type { SupervisionPolicy } from '../supervision/supervision-policy.ts';

const policy: SupervisionPolicy = {
  restart: { quickCrashes: 2, baseMs: 50, maxMs: 400, healthyMs: 5_000 },
  idle: { hibernateAfterSeconds: 1 },
  crashesBeforeDeadLetter: 3,
  takeOversBeforeDeadLetter: 5,
  startTimeoutMs: 10_000,
  startAttempts: 2,
  hibernateGraceMs: 1_000,
  isStopping: false,
};

const spent = { stepCount: 1, usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } };

interface Options {
  readonly seed: number;
  readonly agents: number;
  readonly roots: number;
  readonly maxProcesses: number;
  /** The number of faults to cause. After these, the run has no more faults. */
  readonly faults: number;
}

interface Process {
  readonly number: number;
  isReady: boolean;
  isAskedToGo: boolean;
  isKilled: boolean;
  turn?: Turn;
  /** The event that was handed ahead, and has not begun. */
  ahead?: { readonly event: AgentEvent; isCancelled: boolean };
  /** The open frames, by their `callId`. */
  readonly open: Map<string, Frame>;
}

interface Turn {
  readonly event: AgentEvent;
  readonly rounds: readonly (readonly Call[])[];
  round: number;
  isCancelled: boolean;
  readonly isDeadLetter: boolean;
}

interface Call {
  readonly kind: CallFrame['kind'];
  readonly to: AgentAddress;
}

interface Frame {
  readonly turn: Turn;
  readonly effect: string;
  /** A text that only the answer to this question repeats. */
  readonly question: string;
  ends: number;
  /** The tokens of the callee may still follow. */
  isFollowed: boolean;
  isProcessGone: boolean;
}

interface Instance {
  readonly address: AgentAddress;
  state: typeof newInstance;
  process: Process | undefined;
  /** The events that are on disk. */
  readonly accepted: AgentEvent[];
  readonly effects: Set<string>;
  readonly results: Map<string, TurnResult>;
}

class Swarm {
  readonly #options: Options;
  readonly #random: () => number;
  readonly #instances = new Map<string, Instance>();
  readonly #line = new Set<string>();
  readonly #timers = new Map<string, { readonly at: number; readonly ring: () => void }>();
  readonly #deliveries: { readonly to: AgentAddress; readonly event: AgentEvent }[] = [];
  readonly #frames: Frame[] = [];
  broker: CallBroker;
  readonly codes = new Map<string, number>();
  #now = 0;
  #faultsLeft: number;
  #callCount = 0;
  #isPlanning = false;
  mostProcesses = 0;
  answers = 0;
  lateReplies = 0;
  restarts = 0;
  begunAhead = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#faultsLeft = options.faults;
    this.#random = seeded(options.seed);
    this.broker = this.#newBroker();
  }

  #newBroker(): CallBroker {
    const timesOf = () => ({ queueTimeoutMs: 30_000, turnTimeoutMs: 15_000 });
    const limits = { ...defaultCallLimits, depth: 5 };
    return new CallBroker(() => ({ agents: this.#names(), askableBy: () => this.#names(), limits, timesOf }));
  }

  run(): void {
    for (let root = 0; root < this.#options.roots; root++) this.#acceptRoot(root);
    for (let steps = 0; ; steps++) {
      if (steps > 100_000) throw new Error('It does not come to rest.');
      const faults = this.#faultsLeft > 0 && this.#random() < 0.15 ? this.#faults() : [];
      const deeds = faults.length > 0 ? faults : this.#deeds();
      if (faults.length > 0) this.#faultsLeft--;
      if (deeds.length > 0) pick(deeds, this.#random)();
      else if (!this.#passTime()) break;
    }
    this.#checkEnd();
  }

  #names(): string[] {
    return Array.from({ length: this.#options.agents }, (_, index) => `agent${index}`);
  }

  #instance(address: AgentAddress): Instance {
    const key = addressKey(address);
    const found = this.#instances.get(key);
    if (found !== undefined) return found;
    const instance: Instance = {
      address,
      state: newInstance,
      process: undefined,
      accepted: [],
      effects: new Set(),
      results: new Map(),
    };
    this.#instances.set(key, instance);
    return instance;
  }

  #acceptRoot(root: number): void {
    const to = { agentName: pick(this.#names(), this.#random), instanceKey: pick(tenants, this.#random) };
    this.#accept(to, {
      id: `root${root}`,
      type: 'user.message',
      input: `root${root}`,
      instanceKey: to.instanceKey,
      source: { kind: 'cli', name: 'test' },
      auth: { root: `root${root}` },
      metadata: { budget: 3 },
      traceId: `root${root}`,
      createdAt: new Date(0),
    });
  }

  #accept(to: AgentAddress, event: AgentEvent): void {
    const instance = this.#instance(to);
    const known = instance.accepted.findIndex(({ id }) => id === event.id);
    // A request whose turn has ended is sent to the process again, because the process knows the result.
    if (known >= 0 && event.replyTo === undefined) return;
    if (known < 0) instance.accepted.push(event);
    const seq = known < 0 ? instance.accepted.length - 1 : known;
    this.#input(instance, { type: 'work', seq, event: instance.accepted[seq] ?? event });
  }

  /** Lists the events that can happen next in a run without faults. */
  #deeds(): (() => void)[] {
    const deeds: (() => void)[] = [];
    const [delivery] = this.#deliveries;
    if (delivery !== undefined) {
      deeds.push(() => {
        this.#deliveries.shift();
        this.#accept(delivery.to, delivery.event);
        this.#do(this.broker.delivered(delivery.to, delivery.event));
      });
    }
    for (const instance of this.#instances.values()) {
      const { process } = instance;
      if (process === undefined) continue;
      if (process.isKilled || (process.isAskedToGo && process.turn === undefined)) {
        deeds.push(() => this.#exit(instance));
      } else if (!process.isReady) {
        deeds.push(() => this.#becomeReady(instance, process));
      } else if (process.turn !== undefined && (process.turn.isCancelled || openFrames(process).length === 0)) {
        const { turn } = process;
        deeds.push(() => this.#advance(instance, process, turn));
      }
    }
    return deeds;
  }

  #faults(): (() => void)[] {
    const faults: (() => void)[] = [];
    const [delivery] = this.#deliveries;
    if (delivery !== undefined) {
      faults.push(() => {
        this.#deliveries.shift();
        this.#do(this.broker.refused(delivery.event.id, { code: 'E_INBOX_FULL', message: 'full' }));
      });
    }
    for (const instance of this.#instances.values()) {
      const { process } = instance;
      if (process === undefined) continue;
      const number = process.number;
      faults.push(() => this.#exit(instance));
      faults.push(() => this.#input(instance, { type: 'heartbeat.missed', process: number }));
      if (!process.isReady) {
        const error = { code: 'E_PROCESS_START', message: 'no memory' } as const;
        faults.push(() => this.#input(instance, { type: 'start.failed', process: number, error }));
      }
      const { turn } = process;
      if (turn === undefined) continue;
      faults.push(() => this.#input(instance, { type: 'cancel', eventId: turn.event.id, reason: 'a person' }));
      faults.push(() => this.#input(instance, { type: 'drain', graceMs: 100, afterwards: 'serve' }));
      for (const callId of openFrames(process))
        faults.push(() => this.#do(this.broker.cancelled(instance.address, callId, this.#now)));
    }
    faults.push(() => this.#restart());
    // Any timer may fire early, including timeouts.
    for (const name of this.#timers.keys()) faults.push(() => this.#ring(name));
    return faults;
  }

  #passTime(): boolean {
    const [next] = [...this.#timers].toSorted(([, left], [, right]) => left.at - right.at);
    if (next === undefined) return false;
    const [name] = next;
    // If all instances are idle and there were no faults, a request that can end only by its timeout is a deadlock.
    if (this.#options.faults === 0) expect(name).not.toStartWith('call');
    this.#ring(name);
    return true;
  }

  #ring(name: string): void {
    const timer = this.#timers.get(name);
    if (timer === undefined) return;
    this.#timers.delete(name);
    this.#now = Math.max(this.#now, timer.at);
    timer.ring();
  }

  #input(instance: Instance, input: InstanceInput): void {
    const { state, actions } = stepInstance(instance.state, input, this.#now, policy);
    instance.state = state;
    for (const action of actions) this.#act(instance, action);
    this.#planSlots();
  }

  #act(instance: Instance, action: InstanceAction): void {
    const key = addressKey(instance.address);
    switch (action.type) {
      case 'slot.ask':
        this.#line.add(key);
        return;
      case 'slot.release':
        this.#line.delete(key);
        return;
      case 'process.spawn':
        expect(instance.process).toBeUndefined();
        expect(this.#now).toBeGreaterThanOrEqual(instance.state.restarts.notBefore);
        instance.process = {
          number: action.process,
          isReady: false,
          isAskedToGo: false,
          isKilled: false,
          open: new Map(),
        };
        return;
      case 'process.drain':
        if (instance.process) instance.process.isAskedToGo = true;
        return;
      case 'process.kill':
        if (instance.process) instance.process.isKilled = true;
        return;
      case 'turn.send':
        this.#startTurn(instance, action.event, action.deadLetter);
        this.#do(this.broker.turnStarted(instance.address, action.event.id, this.#now));
        return;
      case 'turn.cancel':
        if (instance.process?.turn?.event.id === action.eventId) instance.process.turn.isCancelled = true;
        if (instance.process?.ahead?.event.id === action.eventId) instance.process.ahead.isCancelled = true;
        return;
      case 'turn.ahead':
        expect(instance.process?.turn).toBeDefined();
        expect(instance.process?.ahead).toBeUndefined();
        if (instance.process) instance.process.ahead = { event: action.event, isCancelled: false };
        return;
      case 'turn.back':
      case 'turn.steer':
        // This swarm never stops, and no event of it is for a running turn.
        throw new Error(`${action.type} was not expected`);
      case 'turn.started':
        this.begunAhead++;
        expect(instance.process?.turn?.event.id).toBe(action.event.id);
        this.#do(this.broker.turnStarted(instance.address, action.event.id, this.#now));
        return;
      case 'turn.finished':
        this.#do(this.broker.turnFinished(instance.address, action.event, action.outcome.result));
        return;
      case 'requests.fail':
        this.#do(this.broker.failCallee(instance.address, action.error));
        return;
      case 'timer.set': {
        const ring = () => this.#input(instance, { type: 'timer', timer: action.timer });
        this.#timers.set(`${action.timer} ${key}`, { at: action.at, ring });
        return;
      }
      case 'timer.clear':
        this.#timers.delete(`${action.timer} ${key}`);
        return;
      case 'event.deadLettered':
      case 'report':
        return;
    }
  }

  #planSlots(): void {
    if (this.#isPlanning) return;
    this.#isPlanning = true;
    for (;;) {
      const holders = this.#holders();
      const { start, hibernate } = planSlots({
        holders,
        line: this.#line,
        isAwaited: (key) => this.broker.isAwaited(this.#at(key).address),
        agentOf: (key) => this.#at(key).address.agentName,
        isForPerson: (key) => this.#at(key).state.queue.some(({ event }) => event.source.kind !== 'agent'),
        maxProcesses: this.#options.maxProcesses,
      });
      if (start.length + hibernate.length === 0) break;
      if (holders.length + start.length > this.#options.maxProcesses && start.length > 0) {
        expect(holders.every(({ condition }) => condition === 'waiting')).toBe(true);
      }
      for (const key of start) {
        this.#line.delete(key);
        this.#input(this.#at(key), { type: 'slot.granted' });
      }
      for (const key of hibernate) this.#input(this.#at(key), { type: 'hibernate' });
      this.mostProcesses = Math.max(this.mostProcesses, this.#holders().length);
    }
    this.#isPlanning = false;
  }

  #at(key: string): Instance {
    const instance = this.#instances.get(key);
    if (instance === undefined) throw new Error(`no instance ${key}`);
    return instance;
  }

  #holders(): SlotHolder[] {
    return [...this.#instances].flatMap(([key, { address, state }]) => {
      const condition = conditionOf(state, this.broker.isWaiting(address));
      if (condition === undefined) return [];
      return [{ key, condition, ...(state.phase.name === 'ready' ? { idleSince: state.phase.idleSince } : {}) }];
    });
  }

  #becomeReady(instance: Instance, process: Process): void {
    process.isReady = true;
    const takesAhead = this.#random() < 0.7 ? ({ takesAhead: true } as const) : {};
    this.#input(instance, { type: 'ready', process: process.number, ...takesAhead });
  }

  #exit(instance: Instance): void {
    const { process } = instance;
    if (process === undefined) return;
    instance.process = undefined;
    for (const frame of process.open.values()) frame.isProcessGone = !frame.isFollowed;
    // The slot of the process becomes free only when the process has exited, which is the last line of this method.
    this.#isPlanning = true;
    this.#do(this.broker.processGone(instance.address, this.#now));
    this.#isPlanning = false;
    this.#input(instance, { type: 'exited', process: process.number, code: null, signal: 'SIGKILL' });
  }

  /** Kills the orchestrator, and with it everything that is not on disk. */
  #restart(): void {
    this.restarts++;
    this.broker = this.#newBroker();
    this.#timers.clear();
    this.#line.clear();
    this.#deliveries.length = 0;
    for (const instance of this.#instances.values()) {
      for (const frame of instance.process?.open.values() ?? []) frame.isProcessGone = !frame.isFollowed;
      instance.process = undefined;
      instance.state = newInstance;
    }
    for (const instance of [...this.#instances.values()]) {
      for (const [seq, event] of instance.accepted.entries()) {
        if (!instance.results.has(event.id)) this.#input(instance, { type: 'work', seq, event });
      }
    }
  }

  #startTurn(instance: Instance, event: AgentEvent, isDeadLetter: boolean, isCancelled = false): void {
    const { process, address } = instance;
    if (process === undefined) throw new Error('a turn without a process');
    expect(process.turn).toBeUndefined();
    // No event crosses instances, and the original caller is known over any number of hops.
    expect(event.instanceKey).toBe(address.instanceKey);
    expect(event.auth).toEqual({ root: event.traceId });
    expect(instance.accepted).toContainEqual(event);
    if (event.source.kind === 'agent') expect(event.input).toContain(` ${JSON.stringify(address)} `);
    if (event.callChain !== undefined) expect(event.input).toStartWith(JSON.stringify(event.callChain.at(-1)));
    if (!instance.results.has(event.id)) {
      expect(event.id).toBe(instance.accepted[instance.results.size]?.id ?? 'nothing');
    }
    delete process.ahead;
    process.turn = {
      event,
      isDeadLetter,
      rounds: this.#plan(event, address),
      round: 0,
      isCancelled,
    };
  }

  /** Plans the calls that the turn of an event makes. Every process gets the same plan for the same event. */
  #plan({ id, metadata }: AgentEvent, own: AgentAddress): Call[][] {
    const random = seeded(this.#options.seed + hash(id));
    const budget = Number(metadata?.['budget'] ?? 0);
    if (budget === 0) return [];
    const call = (): Call => ({
      kind: random() < 0.75 ? 'request' : 'send',
      to: {
        agentName: random() < 0.03 ? 'ghost' : pick(this.#names(), random),
        instanceKey: random() < 0.8 ? own.instanceKey : pick(tenants, random),
      },
    });
    return Array.from({ length: Math.floor(random() * 3) }, () =>
      Array.from({ length: 1 + Math.floor(random() * 2) }, call),
    );
  }

  #advance(instance: Instance, process: Process, turn: Turn): void {
    const { event } = turn;
    const known = instance.results.get(event.id);
    if (known !== undefined) return this.#finish(instance, process, known);
    if (turn.isDeadLetter) return this.#finish(instance, process, failure('E_DEAD_LETTER'));
    if (turn.isCancelled) {
      // Some processes withdraw a frame when they no longer wait for it. For all others, the end of the turn withdraws
      // the frame.
      if (this.#random() < 0.5) {
        for (const callId of openFrames(process)) this.#do(this.broker.cancelled(instance.address, callId, this.#now));
      }
      return this.#finish(instance, process, failure('E_CANCELLED'));
    }
    const calls = turn.rounds[turn.round];
    if (calls === undefined) {
      const isError = hash(event.id) % 5 === 0;
      return this.#finish(
        instance,
        process,
        isError ? failure('E_MODEL_FAILED') : { turnId: event.input ?? '', finishReason: 'text_response' },
      );
    }
    turn.round++;
    // Unlike real ids, these ids can be equal at two instances. Then only the caller's address differs.
    const number = instance.accepted.findIndex(({ id }) => id === event.id);
    for (const [index, call] of calls.entries()) this.#ask(instance, process, call, `${number}:${turn.round}.${index}`);
  }

  #ask(instance: Instance, { open, turn }: Process, { kind, to }: Call, effect: string): void {
    if (instance.effects.has(effect) || turn === undefined) return;
    const { event } = turn;
    const question = `${JSON.stringify(instance.address)} ${JSON.stringify(to)} ${effect}`;
    const callId = `c${this.#callCount++}`;
    const frame: Frame = { turn, effect, question, ends: 0, isFollowed: false, isProcessGone: false };
    open.set(callId, frame);
    this.#frames.push(frame);
    const metadata = { budget: Number(event.metadata?.['budget'] ?? 0) - 1 };
    // The process forges every claim about itself.
    const claims = { auth: { root: 'forged' }, traceId: 'forged', callChain: [], source: event.source };
    const asked = { ...event, ...claims, id: effect, input: question, metadata, instanceKey: 'forged' };
    const moment = { date: new Date(this.#now), now: this.#now };
    const bound = hash(callId) % 3 === 0 ? ({ timeoutMs: 20_000, timeoutFrom: 'call' } as const) : {};
    const call = { type: 'call', callId, kind, to, event: asked, ...bound } as const;
    this.#do(this.broker.call(instance.address, event, call, moment));
  }

  #finish(instance: Instance, process: Process, result: TurnResult): void {
    const eventId = process.turn?.event.id ?? '';
    instance.results.set(eventId, instance.results.get(eventId) ?? result);
    delete process.turn;
    // An event that was handed ahead may be on its way still, and so may a drain.
    const next = this.#random() < 0.7 ? process.ahead : undefined;
    if (next !== undefined) this.#startTurn(instance, next.event, false, next.isCancelled);
    const begins = next === undefined ? {} : { begins: next.event.id };
    this.#input(instance, {
      type: 'turn.done',
      process: process.number,
      eventId,
      outcome: { ...spent, result },
      ...begins,
    });
  }

  #do(actions: readonly CallAction[]): void {
    for (const action of actions) {
      switch (action.type) {
        case 'event.deliver':
          this.#deliveries.push(action);
          break;
        case 'call.end':
          this.#endCall(action);
          break;
        case 'turn.cancel':
          this.#input(this.#instance(action.at), { type: 'cancel', eventId: action.eventId, reason: action.reason });
          break;
        case 'timer.set':
          this.#timers.set(`call ${action.timer}`, {
            at: action.at,
            ring: () => this.#do(this.broker.expire(action.timer, this.#now)),
          });
          break;
        case 'timer.clear':
          this.#timers.delete(`call ${action.timer}`);
          break;
        case 'report':
          if (action.event === 'reply.late') this.lateReplies++;
          break;
      }
    }
    this.#planSlots();
  }

  #endCall({ caller, callId, outcome }: Extract<CallAction, { type: 'call.end' }>): void {
    const instance = this.#at(addressKey(caller));
    const frame = instance.process?.open.get(callId);
    if (frame === undefined) throw new Error(`${callId} is not an open frame of ${caller.agentName}`);
    if (frame.isFollowed) {
      expect(outcome).not.toHaveProperty('usageFollows');
      return void instance.process?.open.delete(callId);
    }
    frame.isFollowed = outcome.status === 'failed' && outcome.usageFollows === true;
    if (!frame.isFollowed) instance.process?.open.delete(callId);
    frame.ends++;
    instance.effects.add(frame.effect);
    if (outcome.status === 'answered') {
      expect(outcome.result.turnId).toBe(frame.question);
      this.answers++;
    }
    if (outcome.status === 'failed') {
      this.codes.set(outcome.error.code, (this.codes.get(outcome.error.code) ?? 0) + 1);
    }
  }

  #checkEnd(): void {
    for (const { ends, isProcessGone } of this.#frames) {
      if (isProcessGone) expect(ends).toBe(0);
      else expect(ends).toBe(1);
    }
    for (const { accepted, results, state } of this.#instances.values()) {
      expect([...results.keys()]).toEqual(accepted.map(({ id }) => id));
      expect(state.queue).toEqual([]);
    }
    expect(this.broker.openCalls).toBe(0);
    expect(this.broker.finishedCalls).toBe(0);
    expect(this.#deliveries).toEqual([]);
    expect(this.#line.size).toBe(0);
  }
}

const tenants = ['tenant-1', 'tenant-2'];

/** Lists the open frames of the running turn. */
function openFrames({ open, turn }: Process): string[] {
  return [...open].filter(([, frame]) => frame.turn === turn && !frame.isFollowed).map(([callId]) => callId);
}

function failure(code: string): TurnResult {
  return { turnId: 'failed', finishReason: 'error', error: { code, message: 'failed' } };
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

/** Creates a generator that returns the same numbers for the same seed. */
function seeded(seed: number): () => number {
  let state = seed % 2_147_483_646;
  return () => {
    state = (state * 48_271 + 11) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

function hash(text: string): number {
  return Bun.hash.crc32(text) % 1_000_003;
}

const swarms = fc.record({
  seed: fc.integer({ min: 1, max: 2_000_000_000 }),
  agents: fc.integer({ min: 1, max: 6 }),
  roots: fc.integer({ min: 1, max: 8 }),
  maxProcesses: fc.integer({ min: 1, max: 5 }),
});

test('A-03 A-04 R-02 R-03 random call graphs with crashes, restarts, timeouts, cancels and rejections: every request ends once, nothing crosses, nothing is lost', () => {
  const seen = { answers: 0, lateReplies: 0, restarts: 0, begunAhead: 0, codes: new Set<string>() };
  fc.assert(
    fc.property(swarms, fc.integer({ min: 1, max: 40 }), (options, faults) => {
      const swarm = new Swarm({ ...options, faults });
      swarm.run();
      seen.answers += swarm.answers;
      seen.lateReplies += swarm.lateReplies;
      seen.restarts += swarm.restarts;
      seen.begunAhead += swarm.begunAhead;
      for (const code of swarm.codes.keys()) seen.codes.add(code);
    }),
    { numRuns: 520 },
  );
  // These numbers show that the runs were not all trivial.
  expect(seen.answers).toBeGreaterThan(500);
  expect(seen.lateReplies).toBeGreaterThan(50);
  expect(seen.restarts).toBeGreaterThan(50);
  expect(seen.begunAhead).toBeGreaterThan(50);
  for (const code of ['E_AGENT_CYCLE', 'E_AGENT_DEADLOCK', 'E_AGENT_FAILED', 'E_AGENT_TIMEOUT', 'E_AGENT_UNKNOWN']) {
    expect(seen.codes).toContain(code);
  }
  expect(seen.codes).toContain('E_CANCELLED');
  expect(seen.codes).toContain('E_INBOX_FULL');
}, 60_000);

test('A-04 A-05 random call graphs without faults end without a timeout, for any maxProcesses', () => {
  let beyond = 0;
  fc.assert(
    fc.property(swarms, (options) => {
      const swarm = new Swarm({ ...options, faults: 0 });
      swarm.run();
      expect(swarm.codes.get('E_AGENT_TIMEOUT')).toBeUndefined();
      if (swarm.mostProcesses > options.maxProcesses) beyond++;
    }),
    { numRuns: samples(520, 4) },
  );
  expect(beyond).toBeGreaterThan(samples(20, 4));
}, 60_000);
