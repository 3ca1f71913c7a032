import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import { backoffMs } from '../supervision/backoff.ts';
import { answerPing, beat, firstHeartbeat } from '../supervision/heartbeat.ts';
import { stepInstance } from '../supervision/instance-machine.ts';
import {
  type InstanceAction,
  type InstanceInput,
  type InstanceState,
  type InstanceTimer,
  newInstance,
} from '../supervision/instance-state.ts';
import { defaultSupervisionPolicy } from '../supervision/supervision-policy.ts';
import { connectionStatus, tellStep, type ToldStep } from './describe-connection.ts';

const policyOfTests = {
  ...defaultSupervisionPolicy,
  restart: { quickCrashes: 3, baseMs: 100, maxMs: 1_000, healthyMs: 10_000 },
  heartbeat: { everyMs: 50, missedPings: 3 },
  startTimeoutMs: 2_000,
};

/** Simulates a connection: at most one process, timers that fire, and a list of the actions taken. */
class World {
  state: InstanceState = newInstance;
  now = 0;
  /** The number of the live process, if there is one. */
  alive: number | undefined;
  isKilled = false;
  problem: FrameError | undefined;
  heartbeat = firstHeartbeat;
  /** The time of the live process's next ping. */
  beatAt = Infinity;
  readonly timers = new Map<InstanceTimer, number>();
  readonly spawns: { readonly at: number; readonly wasAlive: boolean }[] = [];
  readonly told: ToldStep[] = [];

  constructor(readonly policy = policyOfTests) {}

  take(input: InstanceInput): void {
    const { now, policy, state: before } = this;
    const { state, actions } = stepInstance(before, input, now, policy);
    this.state = state;
    const told = tellStep({ before, input, after: state, now, policy });
    if (told !== undefined) this.told.push(told);
    this.problem = told?.problem ?? this.problem;
    for (const action of actions) this.act(action);
  }

  act(action: InstanceAction): void {
    switch (action.type) {
      case 'slot.ask':
        return this.take({ type: 'slot.granted' });
      case 'process.spawn':
        this.spawns.push({ at: this.now, wasAlive: this.alive !== undefined });
        this.alive = action.process;
        this.isKilled = false;
        this.heartbeat = firstHeartbeat;
        this.beatAt = this.now + this.policy.heartbeat.everyMs;
        return;
      case 'process.kill':
        this.isKilled = true;
        return;
      case 'timer.set':
        return void this.timers.set(action.timer, action.at);
      case 'timer.clear':
        return void this.timers.delete(action.timer);
      default:
    }
  }

  /** Sends a ping, as `superviseProcess` does. */
  beat(): void {
    const next = beat(this.heartbeat, this.policy.heartbeat);
    this.beatAt = next.type === 'dead' ? Infinity : this.now + this.policy.heartbeat.everyMs;
    if (next.type === 'dead') return this.take({ type: 'heartbeat.missed', process: this.alive ?? 0 });
    this.heartbeat = next.heartbeat;
  }

  /** Lets time pass, and fires timers on the way. */
  pass(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const [next] = [...this.timers].filter(([, at]) => at <= end).toSorted(([, a], [, b]) => a - b);
      const [timer, at] = next ?? [undefined, Infinity];
      if (Math.min(at, this.beatAt) > end) break;
      this.now = Math.max(this.now, Math.min(at, this.beatAt));
      if (timer === undefined || this.beatAt < at) this.beat();
      else {
        this.timers.delete(timer);
        this.take({ type: 'timer', timer });
      }
    }
    this.now = end;
  }

  /** Passes a message of a child process, or its exit, to the connection. By default, this is the live process. */
  say(type: 'ready' | 'failed' | 'pong' | 'exited', process = this.alive ?? 0): void {
    if (type === 'ready') return this.take({ type, process });
    if (type === 'pong') {
      if (process === this.alive) this.heartbeat = answerPing(this.heartbeat, this.heartbeat.sent);
      return;
    }
    if (type === 'failed') {
      return this.take({ type: 'start.failed', process, error: { code: 'E_CONNECTOR_LOAD', message: 'no' } });
    }
    if (process === this.alive) {
      this.alive = undefined;
      this.beatAt = Infinity;
    }
    this.take({ type, process, code: 0, signal: null });
  }

  get status() {
    return connectionStatus(this.state, this.problem, this.now, this.policy);
  }
}

function started(by = policyOfTests): World {
  const world = new World(by);
  world.take({ type: 'keep' });
  return world;
}

function listening(): World {
  const world = started();
  world.say('ready');
  return world;
}

describe('a connection', () => {
  test('starts once on request, and listens when its process says so', () => {
    const world = new World();
    expect([world.status.status, world.spawns.length]).toEqual(['stopped', 0]);
    world.take({ type: 'keep' });
    world.take({ type: 'keep' });
    expect([world.status.status, world.spawns.length]).toEqual(['starting', 1]);
    world.say('ready');
    expect(world.status).toEqual({ status: 'listening', crashes: 0 });
    expect(world.timers.has('start')).toBe(false);
  });

  test('R-03 gets another process when its own ends, whatever its exit code', () => {
    const world = listening();
    world.say('exited');
    expect(world.spawns).toHaveLength(2);
    expect(world.status).toEqual({
      status: 'starting',
      crashes: 1,
      problem: 'E_CONNECTOR_ENDED: The connector ended: its process ended with code 0.',
    });
  });

  test('reports in whole milliseconds when the next process starts', () => {
    const world = started();
    world.now = 77.7;
    world.say('exited');
    world.say('exited');
    world.say('exited');
    expect(world.told.at(-1)?.message).toEndWith('; the next one starts in 100 ms.');
  });

  test('gets another process even after an error that stops the retries of an agent', () => {
    const world = started();
    const error = { code: 'E_ENV_MISSING', message: 'TOKEN is not set' } as const;
    world.take({ type: 'start.failed', process: world.alive ?? 0, error });
    world.say('exited');
    expect([world.status.status, world.spawns.length]).toEqual(['starting', 2]);
  });

  test('is killed when it does not listen in time', () => {
    const world = started();
    while (world.now < 1_950) {
      world.pass(50);
      world.say('pong');
    }
    world.pass(49);
    expect(world.isKilled).toBe(false);
    world.pass(1);
    expect(world.isKilled).toBe(true);
    expect(world.status.problem).toBe(
      'E_CONNECTOR_START: The connector did not start: it did not listen within 2000 ms.',
    );
  });

  test('shows its problem until it was healthy for long enough', () => {
    const world = listening();
    world.pass(200);
    const problem = 'E_CONNECTOR_ENDED: The connector ended: it does not answer.';
    expect(world.status).toEqual({ status: 'waiting', crashes: 0, problem });
    world.say('exited');
    world.say('ready');
    expect(world.status).toEqual({ status: 'listening', crashes: 1, problem });
    for (let passed = 0; passed < policyOfTests.restart.healthyMs; passed += 50) {
      world.pass(50);
      world.say('pong');
    }
    expect(world.status).toEqual({ status: 'listening', crashes: 0 });
  });

  test('R-07 is stopped as soon as it is drained, and leaves no timer of its backoff', () => {
    const waiting = listening();
    for (let crash = 0; crash < 3; crash++) waiting.say('exited');
    for (const world of [listening(), waiting]) {
      world.take({ type: 'drain', graceMs: 500, afterwards: 'stop' });
      expect(world.status.status).toBe('stopped');
    }
    expect([waiting.state.phase.name, waiting.timers.size]).toEqual(['stopped', 0]);
  });

  test('R-07 has its whole grace even if it does not answer, and is killed after it', () => {
    const world = listening();
    world.take({ type: 'drain', graceMs: 500, afterwards: 'stop' });
    world.pass(499);
    expect([world.isKilled, world.state.phase.name]).toEqual([false, 'draining']);
    world.pass(1);
    expect([world.isKilled, world.state.phase.name]).toEqual([true, 'killed']);
  });
});

test('R-03 in any order of inputs: one process, no early start, no dead end', () => {
  const events = fc.oneof(
    fc.record({ type: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 3_000 }) }),
    fc.record({
      type: fc.constant('say' as const),
      what: fc.constantFrom('ready', 'failed', 'pong', 'exited'),
      // Earlier processes send messages, too.
      age: fc.constantFrom(0, 0, 0, 1, 2),
    }),
    fc.record({ type: fc.constant('die' as const) }),
  );
  fc.assert(
    fc.property(fc.array(events, { maxLength: 60 }), fc.array(fc.integer({ min: 0, max: 2_000 })), (before, drains) => {
      const world = started(neverForgiving);
      let crashes = 0;
      let earliest = 0;
      const die = () => {
        const isCrash = !['draining', 'stopped'].includes(world.state.phase.name) && !isStopping(world);
        // The test computes the backoff itself, without the state machine.
        if (isCrash) earliest = world.now + backoffMs(++crashes, neverForgiving.restart);
        world.say('exited');
      };
      for (const event of before) {
        const spawned = world.spawns.length;
        if (event.type === 'pass') world.pass(event.ms);
        else if (event.type === 'die' || (event.what === 'exited' && event.age === 0)) {
          if (world.alive !== undefined) die();
        } else if (world.alive !== undefined) world.say(event.what, world.alive - event.age);
        for (const { at, wasAlive } of world.spawns.slice(spawned)) {
          expect(wasAlive).toBe(false);
          expect(at).toBeGreaterThanOrEqual(earliest);
        }
        expectNoDeadEnd(world);
      }
      for (const graceMs of [...drains, 0]) {
        world.take({ type: 'drain', graceMs, afterwards: 'stop' });
        expectNoDeadEnd(world);
      }
      const spawned = world.spawns.length;
      if (world.alive !== undefined) die();
      world.pass(1_000_000);
      expect([world.state.phase.name, world.spawns.length, world.timers.size]).toEqual(['stopped', spawned, 0]);
    }),
    { numRuns: 500 },
  );
});

const neverForgiving = {
  ...policyOfTests,
  restart: { ...policyOfTests.restart, healthyMs: Infinity },
};

function isStopping({ state: { phase } }: World): boolean {
  return phase.name === 'killed' && phase.afterwards === 'stop';
}

/** Expects that every phase can end: by a timer, by a signal, or because a supervised process ends. */
function expectNoDeadEnd({ state: { phase }, timers, alive, isKilled, beatAt }: World): void {
  const set = (...names: InstanceTimer[]) => expect([...timers.keys()].toSorted()).toEqual(names.toSorted());
  if (phase.name === 'backoff') set('backoff');
  if (phase.name === 'starting') set('start');
  if (phase.name === 'ready') set();
  if (phase.name === 'draining') set('grace');
  if (phase.name === 'killed') expect(isKilled).toBe(true);
  if (phase.name === 'starting' || phase.name === 'ready') expect(beatAt).toBeLessThan(Infinity);
  const hasProcess = !['absent', 'backoff', 'inLine', 'stopped'].includes(phase.name);
  expect(alive !== undefined).toBe(hasProcess);
}
