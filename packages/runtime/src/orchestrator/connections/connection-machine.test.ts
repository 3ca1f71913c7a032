import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { backoffMs } from '../supervision/backoff.ts';
import { stepConnection } from './connection-machine.ts';
import {
  type ConnectionAction,
  type ConnectionInput,
  type ConnectionPolicy,
  type ConnectionState,
  type ConnectionTimer,
  newConnection,
} from './connection-state.ts';
import { connectionStatus } from './connection-status.ts';

const policyOfTests: ConnectionPolicy = {
  restart: { quickCrashes: 3, baseMs: 100, maxMs: 1_000, healthyMs: 10_000 },
  heartbeat: { everyMs: 50, missedPings: 3 },
  startTimeoutMs: 2_000,
};

/** A connection with its world around it: one process at most, timers that ring, and what was done. */
class World {
  state: ConnectionState = newConnection;
  now = 0;
  /** The number of the process that lives. */
  alive: number | undefined;
  isKilled = false;
  readonly timers = new Map<ConnectionTimer, number>();
  readonly spawns: { readonly at: number; readonly wasAlive: boolean }[] = [];
  readonly pings: number[] = [];
  readonly drains: number[] = [];
  readonly reports: string[] = [];

  constructor(readonly policy: ConnectionPolicy = policyOfTests) {}

  take(input: ConnectionInput): void {
    const { state, actions } = stepConnection(this.state, input, this.now, this.policy);
    this.state = state;
    for (const action of actions) this.act(action);
  }

  act(action: ConnectionAction): void {
    switch (action.type) {
      case 'process.spawn':
        this.spawns.push({ at: this.now, wasAlive: this.alive !== undefined });
        this.alive = action.process;
        this.isKilled = false;
        return;
      case 'process.ping':
        return void this.pings.push(action.n);
      case 'process.drain':
        return void this.drains.push(action.graceMs);
      case 'process.kill':
        this.isKilled = true;
        return;
      case 'timer.set':
        return void this.timers.set(action.timer, action.at);
      case 'timer.clear':
        return void this.timers.delete(action.timer);
      case 'report':
        return void this.reports.push(`${action.level} ${action.event}`);
    }
  }

  /** Lets time pass, and timers ring on the way. */
  pass(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const [next] = [...this.timers].filter(([, at]) => at <= end).toSorted(([, a], [, b]) => a - b);
      if (next === undefined) break;
      const [timer, at] = next;
      this.timers.delete(timer);
      this.now = Math.max(this.now, at);
      this.take({ type: 'timer', timer });
    }
    this.now = end;
  }

  /** The child says something; nobody, when there is none. */
  say(type: 'ready' | 'failed' | 'pong' | 'exited', process = this.alive ?? 0): void {
    if (type === 'ready') return this.take({ type, process });
    if (type === 'pong') return this.take({ type, process, n: this.pings.at(-1) ?? 0 });
    if (type === 'failed') return this.take({ type, process, error: { code: 'E_CONNECTOR_LOAD', message: 'no' } });
    if (process === this.alive) this.alive = undefined;
    this.take({ type, process, code: 0, signal: null });
  }

  get status() {
    return connectionStatus(this.state, this.now, this.policy);
  }
}

function started(by: ConnectionPolicy = policyOfTests): World {
  const world = new World(by);
  world.take({ type: 'start' });
  return world;
}

function listening(): World {
  const world = started();
  world.say('ready');
  return world;
}

describe('a connection', () => {
  test('starts when it is asked to, once, and listens when its process says so', () => {
    const world = new World();
    expect([world.status.status, world.spawns.length]).toEqual(['stopped', 0]);
    world.take({ type: 'start' });
    world.take({ type: 'start' });
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

  test('R-03 waits longer and longer after quick crashes, and not at all after a healthy time', () => {
    const world = started();
    for (let crash = 1; crash <= 9; crash++) {
      world.say('ready');
      world.say('exited');
      const waitMs = backoffMs(crash, policyOfTests.restart);
      if (waitMs > 0) {
        expect(world.status.status).toBe('waiting');
        world.pass(waitMs - 1);
        expect(world.spawns).toHaveLength(crash);
        world.pass(1);
      }
      expect(world.spawns).toHaveLength(crash + 1);
    }
    const { heartbeat, restart } = policyOfTests;
    world.say('ready');
    for (let passed = 0; passed < restart.healthyMs; passed += heartbeat.everyMs) {
      world.pass(heartbeat.everyMs);
      world.say('pong');
    }
    expect(world.status).toEqual({ status: 'listening', crashes: 0 });
    world.say('exited');
    expect([world.status.status, world.status.crashes]).toEqual(['starting', 1]);
  });

  test('says in whole milliseconds when the next process starts', () => {
    const world = started();
    world.now = 77.7;
    world.say('exited');
    world.say('exited');
    const exit = { type: 'exited', process: world.alive ?? 0, code: 0, signal: null } as const;
    const { actions } = stepConnection(world.state, exit, world.now, policyOfTests);
    const said = actions.flatMap((action) => (action.type === 'report' ? [action.message] : []));
    expect(said).toEqual([expect.stringMatching(/; the next one starts in 100 ms\.$/)]);
  });

  test('whose process fails is killed, then replaced', () => {
    for (const world of [started(), listening()]) {
      world.say('failed');
      expect([world.isKilled, world.spawns.length, world.timers.size]).toEqual([true, 1, 0]);
      expect(world.status).toEqual({ status: 'waiting', crashes: 0, problem: 'E_CONNECTOR_LOAD: no' });
      world.say('exited');
      expect(world.spawns).toHaveLength(2);
      // What it said itself counts, not how its process ended.
      expect(world.status).toMatchObject({ crashes: 1, problem: 'E_CONNECTOR_LOAD: no' });
    }
  });

  test('that never got a process tries again under the backoff', () => {
    const world = started();
    const process = world.alive ?? 0;
    world.say('failed');
    world.take({ type: 'exited', process, code: null, signal: null });
    expect([world.status.crashes, world.spawns.length]).toEqual([1, 2]);
  });

  test('that does not listen in time is killed', () => {
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

  test('that does not answer three pings is killed, while it starts and while it listens', () => {
    for (const world of [started(), listening()]) {
      world.pass(199);
      expect([world.pings, world.isKilled]).toEqual([[1, 2, 3], false]);
      world.pass(1);
      expect(world.isKilled).toBe(true);
      expect(world.status.problem).toContain('it does not answer');
      // The next one is not blamed for it.
      world.say('exited');
      world.pass(199);
      expect([world.spawns.length, world.isKilled]).toEqual([2, false]);
    }
  });

  test('R-03 that failed after a healthy time is forgiven what was before, too', () => {
    const world = started();
    for (let crash = 1; crash <= 2; crash++) world.say('exited');
    expect(world.status.crashes).toBe(2);
    world.say('ready');
    for (let passed = 0; passed < policyOfTests.restart.healthyMs; passed += 50) {
      world.pass(50);
      world.say('pong');
    }
    world.say('failed');
    world.say('exited');
    expect(world.status).toMatchObject({ status: 'starting', crashes: 1 });
  });

  test('is not ended by a timer that rings early', () => {
    const starting = started();
    starting.pass(10);
    starting.take({ type: 'timer', timer: 'start' });
    expect([starting.state.phase.name, starting.timers.get('start')]).toEqual(['starting', 2_000]);
    const draining = listening();
    draining.take({ type: 'drain', graceMs: 500 });
    draining.timers.clear();
    draining.take({ type: 'timer', timer: 'grace' });
    expect([draining.state.phase.name, draining.timers.get('grace')]).toEqual(['draining', 500]);
    for (const timer of ['backoff', 'grace'] as const) starting.take({ type: 'timer', timer });
    for (const timer of ['backoff', 'start', 'beat'] as const) draining.take({ type: 'timer', timer });
    expect([starting.state.phase.name, draining.state.phase.name]).toEqual(['starting', 'draining']);
  });

  test('that answers is not killed', () => {
    const world = listening();
    for (let passed = 0; passed < 5_000; passed += 50) {
      world.pass(50);
      world.say('pong');
    }
    expect(world.isKilled).toBe(false);
  });
});

describe('R-07 a connection that is drained', () => {
  test('asks its process to go, waits for it, and is stopped', () => {
    for (const world of [started(), listening()]) {
      world.take({ type: 'drain', graceMs: 500 });
      expect([world.drains, world.isKilled, world.status.status]).toEqual([[500], false, 'stopped']);
      world.pass(499);
      world.say('exited');
      expect([world.state.phase.name, world.spawns.length, world.timers.size]).toEqual(['stopped', 1, 0]);
      expect(world.state.restarts.crashes).toBe(0);
    }
  });

  test('kills what has not gone in time, and the second word may only shorten that', () => {
    const world = listening();
    world.take({ type: 'drain', graceMs: 500 });
    world.take({ type: 'drain', graceMs: 900 });
    world.pass(200);
    world.take({ type: 'drain', graceMs: 100 });
    world.pass(99);
    expect(world.isKilled).toBe(false);
    world.pass(1);
    expect([world.isKilled, world.state.phase.name]).toEqual([true, 'killed']);
    world.say('exited');
    expect(world.state.phase.name).toBe('stopped');
  });

  test('is not given more time by a second word', () => {
    const world = listening();
    world.take({ type: 'drain', graceMs: 500 });
    world.take({ type: 'drain', graceMs: 900 });
    world.pass(500);
    expect([world.drains, world.isKilled]).toEqual([[500], true]);
  });

  test('without a grace kills at once', () => {
    const world = listening();
    world.take({ type: 'drain', graceMs: 0 });
    expect([world.drains, world.isKilled]).toEqual([[], true]);
    world.say('exited');
    expect(world.state.phase.name).toBe('stopped');
  });

  test('without a process is stopped at once, and stays so', () => {
    const waiting = listening();
    for (let crash = 0; crash < 3; crash++) waiting.say('exited');
    expect(waiting.status.status).toBe('waiting');
    for (const world of [new World(), waiting]) {
      const spawns = world.spawns.length;
      world.take({ type: 'drain', graceMs: 500 });
      expect([world.state.phase.name, world.timers.size]).toEqual(['stopped', 0]);
      world.take({ type: 'start' });
      world.pass(100_000);
      expect(world.spawns).toHaveLength(spawns);
    }
  });

  test('while its process is being killed is stopped when that is gone', () => {
    const world = listening();
    world.say('failed');
    world.take({ type: 'drain', graceMs: 500 });
    world.say('exited');
    expect([world.state.phase.name, world.spawns.length]).toEqual(['stopped', 1]);
  });
});

test('R-03 whatever happens in whatever order: one process, no start before its time, no dead end', () => {
  const events = fc.oneof(
    fc.record({ type: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 3_000 }) }),
    fc.record({
      type: fc.constant('say' as const),
      what: fc.constantFrom('ready', 'failed', 'pong', 'exited'),
      // An earlier process speaks, too.
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
        // Reckoned apart from the machine.
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
        world.take({ type: 'drain', graceMs });
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

/** In every phase something is under way that ends it, or it has a process that is looked after. */
function expectNoDeadEnd({ state: { phase }, timers, alive, isKilled }: World): void {
  const set = (...names: ConnectionTimer[]) => expect([...timers.keys()].toSorted()).toEqual(names.toSorted());
  if (phase.name === 'waiting') set('backoff');
  if (phase.name === 'starting') set('beat', 'start');
  if (phase.name === 'listening') set('beat');
  if (phase.name === 'draining') set('grace');
  if (phase.name === 'killed') expect(isKilled).toBe(true);
  const hasProcess = phase.name !== 'waiting' && phase.name !== 'stopped' && phase.name !== 'new';
  expect(alive !== undefined).toBe(hasProcess);
}
