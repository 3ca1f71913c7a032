import { describe, expect, test } from 'bun:test';
import { DrivenInstance, eventOf as event, outcome } from '../../testing/driven-instance.ts';
import { conditionOf, type InstanceAction, type InstanceInput } from './instance-state.ts';
import { defaultSupervisionPolicy, type SupervisionPolicy } from './supervision-policy.ts';

const work = (id: string, crashes?: number): InstanceInput => ({
  type: 'work',
  seq: 1,
  event: event(id),
  ...(crashes === undefined ? {} : { crashes }),
});

const badExtension = { code: 'E_EXT_LOAD', message: 'no such file' } as const;
const noProcess = { code: 'E_PROCESS_START', message: 'no memory' } as const;

/** One instance, without its reports and timers. */
class Driven extends DrivenInstance<InstanceAction> {
  constructor(policy?: SupervisionPolicy) {
    super((action) => (action.type === 'report' || action.type.startsWith('timer.') ? [] : [action]), policy);
  }
}

const sent = (actions: readonly InstanceAction[]) =>
  actions.flatMap((action) => (action.type === 'turn.send' ? [action.event.id] : []));

/** An instance that was sent these events, and whose process runs the first. */
function running(...ids: string[]): Driven {
  const instance = new Driven();
  instance.acts(...ids.map((id) => work(id)));
  instance.start();
  return instance;
}

describe('the process of an instance', () => {
  test('R-01 work without a process asks for a slot, starts a process there and gives it the turn', () => {
    const instance = new Driven();
    expect(instance.acts(work('a'))).toEqual([{ type: 'slot.ask' }]);
    expect(instance.acts({ type: 'slot.granted' })).toEqual([{ type: 'process.spawn', process: 1 }]);
    expect(instance.acts({ type: 'ready', process: 1 })).toEqual([
      { type: 'turn.send', process: 1, seq: 1, event: event('a'), deadLetter: false },
    ]);
    expect(instance.done('a')).toEqual([{ type: 'turn.finished', event: event('a'), outcome }]);
    expect(instance.state.phase.name).toBe('ready');
  });

  test('R-02 one turn at a time, in the order of acceptance', () => {
    const instance = new Driven();
    instance.acts(work('a'), work('b'), work('c'));
    expect(sent(instance.start())).toEqual(['a']);
    expect(sent(instance.acts(work('d')))).toEqual([]);
    expect(['a', 'b', 'c', 'd'].map((id) => sent(instance.done(id)))).toEqual([['b'], ['c'], ['d'], []]);
  });

  test('a queued event is not queued again', () => {
    const instance = running('a', 'a');
    expect(sent(instance.acts(work('a')))).toEqual([]);
    expect(sent(instance.done('a'))).toEqual([]);
    expect(instance.state.queue).toEqual([]);
  });

  test('R-02 a turn.done for another event than the running one is ignored', () => {
    const instance = running('a', 'b');
    expect(instance.do({ type: 'turn.done', process: 1, eventId: 'b', outcome })).toEqual([
      expect.objectContaining({ type: 'report', event: 'frame.ignored' }),
    ]);
    expect(instance.state.queue.map((queued) => queued.event.id)).toEqual(['a', 'b']);
  });

  test('R-03 a crash during a turn sends the same event to the next process', () => {
    const instance = running('a', 'b');
    expect(instance.exit()).toEqual([{ type: 'slot.release' }, { type: 'slot.ask' }]);
    expect(sent(instance.start())).toEqual(['a']);
    expect(sent(instance.done('a'))).toEqual(['b']);
  });

  test('R-03 after three crashes an event is sent as a dead letter, and the next one follows', () => {
    const instance = running('bad', 'good');
    expect(instance.exit()).not.toContainEqual(expect.objectContaining({ type: 'event.deadLettered' }));
    instance.start();
    instance.exit();
    instance.start();
    expect(instance.exit()).toContainEqual({
      type: 'event.deadLettered',
      event: event('bad'),
      ended: 'process',
      crashes: 3,
    });
    expect(instance.start()).toContainEqual(expect.objectContaining({ type: 'turn.send', deadLetter: true }));
    expect(instance.done('bad')).toContainEqual(
      expect.objectContaining({ type: 'turn.send', event: event('good'), deadLetter: false }),
    );
  });

  test('R-03 S-10 an event whose turn has ended five nodes is announced and sent as a dead letter, and before that runs', () => {
    const given = { type: 'work', seq: 1, event: event('bad') } as const;
    const fourth = new Driven();
    fourth.acts({ ...given, takeOvers: 4, isExcused: true });
    expect(fourth.start()).toContainEqual(expect.objectContaining({ type: 'turn.send', deadLetter: false }));
    const fifth = new Driven();
    expect(fifth.acts({ ...given, takeOvers: 5, isExcused: true })).toContainEqual({
      type: 'event.deadLettered',
      event: event('bad'),
      ended: 'node',
      crashes: 5,
    });
    const fifthSent = expect.objectContaining({ type: 'turn.send', deadLetter: true, takeOvers: 5 });
    expect(fifth.start()).toContainEqual(fifthSent);
  });

  test('R-03 a dead letter whose folding crashes is sent again as one, announced once and never dropped', () => {
    const instance = new Driven();
    instance.acts(work('bad', 3));
    for (let crash = 0; crash < 4; crash++) {
      expect(instance.start()).toContainEqual(expect.objectContaining({ type: 'turn.send', deadLetter: true }));
      expect(instance.exit().map(({ type }) => type)).not.toContain('event.deadLettered');
    }
    expect(instance.state.queue.map((queued) => queued.event.id)).toEqual(['bad']);
  });

  test('a person can end the backoff: crashes are forgotten, and the next crash is the first', () => {
    const instance = new Driven();
    instance.do(work('a'));
    for (let crash = 0; crash < 5; crash++) {
      instance.start();
      instance.exit();
    }
    expect(instance.state.phase).toEqual({ name: 'backoff', until: 1_000 });
    expect(instance.do({ type: 'forgive' })).toEqual([{ type: 'timer.clear', timer: 'backoff' }, { type: 'slot.ask' }]);
    expect(instance.state.restarts).toEqual({ crashes: 0, healthyMs: 0, notBefore: 0 });
    instance.start();
    expect(instance.do({ type: 'forgive' })).toEqual([]);
    instance.exit();
    expect(instance.state).toMatchObject({ phase: { name: 'inLine' }, restarts: { crashes: 1 } });
  });

  test('R-03 new events do not skip the backoff', () => {
    const instance = new Driven();
    instance.acts(work('a', -100));
    for (let crash = 1; crash <= 4; crash++) {
      instance.start();
      instance.exit();
    }
    instance.start();
    expect(instance.exit()).toEqual([{ type: 'slot.release' }]);
    expect(instance.state.phase).toEqual({ name: 'backoff', until: 1_000 });
    expect(instance.acts(work('b'), work('c'), { type: 'timer', timer: 'backoff' })).toEqual([]);
    expect(instance.acts({ type: 'slot.granted' })).toEqual([{ type: 'slot.release' }]);
    instance.now = 1_000;
    expect(instance.acts({ type: 'timer', timer: 'backoff' })).toEqual([{ type: 'slot.ask' }]);
  });

  test('R-03 a pause without work does not skip the backoff', () => {
    const instance = new Driven();
    for (let crash = 1; crash <= 5; crash++) {
      instance.acts(work(`${crash}`));
      instance.start();
      instance.done(`${crash}`);
      instance.exit();
    }
    expect(instance.state.phase.name).toBe('absent');
    expect(instance.acts(work('next'))).toEqual([]);
    expect(instance.state.phase).toEqual({ name: 'backoff', until: 1_000 });
  });

  test('R-03 good turns do not reset the count, healthy minutes do', () => {
    const crashAfter = (ms: number) => {
      const instance = new Driven();
      for (let crash = 1; crash <= 4; crash++) {
        instance.acts(work(`${crash}`));
        instance.start();
        instance.done(`${crash}`);
        instance.exit();
      }
      instance.acts(work('last'));
      instance.start();
      instance.done('last');
      instance.now += ms;
      instance.exit();
      return instance.state.restarts.crashes;
    };
    expect(crashAfter(599_999)).toBe(5);
    expect(crashAfter(600_000)).toBe(1);
  });

  test('R-03 a ready process that ends by itself is a crash, whatever its exit code', () => {
    const instance = running('a');
    instance.done('a');
    instance.exit('ended');
    expect(instance.state).toMatchObject({ phase: { name: 'absent' }, restarts: { crashes: 1 } });
  });

  test('R-03 a missed heartbeat kills the group; the turn is sent again and the crash counted', () => {
    const instance = running('a');
    expect(instance.acts({ type: 'heartbeat.missed', process: 1 })).toEqual([{ type: 'process.kill', process: 1 }]);
    expect(instance.acts({ type: 'heartbeat.missed', process: 1 })).toEqual([]);
    instance.exit();
    expect(instance.state.queue[0]?.crashes).toBe(1);
    expect(sent(instance.start())).toEqual(['a']);
  });

  test('log lines about a process name its pid', () => {
    const told = (...inputs: InstanceInput[]) => {
      const instance = new Driven();
      instance.acts(work('a'));
      instance.start();
      instance.done('a');
      return instance.do(...inputs).flatMap((action) => (action.type === 'report' ? [action.message] : []));
    };
    const exited = { type: 'exited', process: 1, code: 0, signal: null } as const;
    expect(told({ type: 'hibernate' }, { ...exited, pid: 4711 })).toEqual(['Process 4711 ended with code 0.']);
    expect(told({ ...exited, pid: 4711, code: null, signal: 'SIGKILL' })).toEqual(['Process 4711 ended by SIGKILL.']);
    expect(told({ type: 'heartbeat.missed', process: 1, pid: 4711 })).toEqual([
      'Process 4711 does not answer and is killed.',
    ]);
    expect(told({ type: 'hibernate' }, exited)).toEqual(['The process ended with code 0.']);
  });

  test('messages of an earlier process are ignored', () => {
    const instance = running('a', 'b');
    instance.exit();
    instance.start();
    const before = instance.state;
    instance.do(
      { type: 'turn.done', process: 1, eventId: 'a', outcome },
      { type: 'exited', process: 1, code: 0, signal: null },
      { type: 'start.failed', process: 1, error: badExtension },
      { type: 'heartbeat.missed', process: 1 },
      { type: 'ready', process: 1 },
    );
    expect(instance.state).toEqual(before);
  });
});

describe('a failed start', () => {
  const failStart = (instance: Driven): InstanceAction[] => {
    const granted = instance.acts({ type: 'slot.granted' });
    const failed = instance.acts({ type: 'start.failed', process: instance.process, error: noProcess });
    return [...granted, ...failed, ...instance.exit('ended')];
  };

  test('kills the rest of the process and counts as a crash', () => {
    const instance = new Driven();
    instance.acts(work('a'));
    expect(failStart(instance)).toEqual([
      { type: 'process.spawn', process: 1 },
      { type: 'process.kill', process: 1 },
      { type: 'slot.release' },
      { type: 'slot.ask' },
    ]);
    expect(instance.state.restarts.crashes).toBe(1);
    expect(instance.state.queue[0]?.crashes).toBe(0);
  });

  test('fails the waiting requests after three in a row, keeps the events, and continues with the backoff', () => {
    const instance = new Driven();
    instance.acts(work('a'));
    const told = [1, 2, 3, 4].map(() => failStart(instance).filter(({ type }) => type === 'requests.fail').length);
    expect(told).toEqual([0, 0, 1, 1]);
    expect(failStart(instance)).toContainEqual({ type: 'requests.fail', error: noProcess });
    expect(instance.state).toMatchObject({ phase: { name: 'backoff', until: 1_000 }, queue: [{ event: { id: 'a' } }] });
  });

  test('fails further requests at once, until a start succeeds', () => {
    const instance = new Driven();
    instance.acts(work('a'));
    for (const _ of [1, 2, 3]) failStart(instance);
    expect(instance.acts(work('b'))).toEqual([{ type: 'requests.fail', error: noProcess }]);
    instance.start();
    expect(instance.acts(work('c'))).toEqual([]);
    expect(instance.state).toMatchObject({ startFailures: 0, restarts: { crashes: 3 } });
    expect(instance.state.startError).toBeUndefined();
  });

  test('is also an exit, a hang or a deadline before `ready`, each with its own code', () => {
    const policy = { ...defaultSupervisionPolicy, startAttempts: 1 };
    const inputs: InstanceInput[] = [
      { type: 'exited', process: 1, code: 7, signal: null },
      { type: 'heartbeat.missed', process: 1 },
      { type: 'timer', timer: 'start' },
    ];
    const messages = inputs.flatMap((input) => {
      const instance = new Driven(policy);
      instance.acts(work('a'), { type: 'slot.granted' });
      instance.now = policy.startTimeoutMs;
      return instance.acts(input).flatMap((action) => (action.type === 'requests.fail' ? [action.error] : []));
    });
    expect(messages.map(({ code }) => code)).toEqual(['E_AGENT_START', 'E_AGENT_START', 'E_AGENT_START']);
    expect(messages.map(({ message }) => message).join()).toMatch(/ended with code 7.*did not answer.*within 60000 ms/);
  });

  test('a start timer that fires early is set again', () => {
    const instance = new Driven();
    instance.acts(work('a'), { type: 'slot.granted' });
    instance.now = 10;
    expect(instance.do({ type: 'timer', timer: 'start' })).toEqual([{ type: 'timer.set', timer: 'start', at: 60_000 }]);
  });
});

describe('an idle process', () => {
  const idle = (policy?: SupervisionPolicy) => {
    const instance = new Driven(policy);
    instance.acts(work('a'));
    instance.start();
    instance.done('a');
    return instance;
  };

  test('hibernates when its time is over, and comes back with the next event', () => {
    const instance = idle();
    instance.now = 299_999;
    expect(instance.do({ type: 'timer', timer: 'idle' })).toEqual([{ type: 'timer.set', timer: 'idle', at: 300_000 }]);
    instance.now = 300_000;
    expect(instance.acts({ type: 'timer', timer: 'idle' })).toEqual([
      { type: 'process.drain', process: 1, graceMs: 10_000 },
    ]);
    expect(instance.exit('ended')).toEqual([{ type: 'slot.release' }]);
    expect(instance.state).toMatchObject({ phase: { name: 'absent' }, restarts: { crashes: 0, healthyMs: 300_000 } });
    expect(instance.acts(work('b'))).toEqual([{ type: 'slot.ask' }]);
  });

  test('hibernates earlier when its slot is needed', () => {
    expect(idle().acts({ type: 'hibernate' })).toEqual([{ type: 'process.drain', process: 1, graceMs: 10_000 }]);
  });

  test('does not hibernate while it is busy', () => {
    const instance = idle();
    instance.acts(work('b'));
    expect(instance.acts({ type: 'hibernate' }, { type: 'timer', timer: 'idle' })).toEqual([]);
    expect(instance.state.phase.name).toBe('busy');
  });

  test('leaves new work for the next process while it is ending', () => {
    const instance = idle();
    instance.acts({ type: 'hibernate' });
    expect(instance.acts(work('b'))).toEqual([]);
    expect(instance.exit('ended')).toEqual([{ type: 'slot.release' }, { type: 'slot.ask' }]);
    expect(sent(instance.start())).toEqual(['b']);
  });

  test('stays when the policy says never', () => {
    const instance = idle({ ...defaultSupervisionPolicy, idle: { hibernateAfterSeconds: undefined } });
    instance.now = 1e9;
    expect(instance.do({ type: 'timer', timer: 'idle' })).toEqual([]);
  });
});

describe('a drain', () => {
  const busy = () => running('a', 'b');

  test('R-07 lets the running turn end, starts no other, and stops when the process is gone', () => {
    const instance = busy();
    expect(instance.acts({ type: 'drain', graceMs: 30_000, afterwards: 'stop' })).toEqual([
      { type: 'process.drain', process: 1, graceMs: 30_000 },
    ]);
    expect(instance.done('a')).toEqual([{ type: 'turn.finished', event: event('a'), outcome }]);
    expect(instance.exit('ended')).toEqual([{ type: 'slot.release' }]);
    expect(instance.state).toMatchObject({ phase: { name: 'stopped' }, queue: [{ event: { id: 'b' } }] });
    expect(instance.acts(work('c'))).toEqual([]);
  });

  test('R-07 kills when the grace is over; that is not a crash, and the event stays', () => {
    const instance = busy();
    instance.acts({ type: 'drain', graceMs: 30_000, afterwards: 'stop' });
    instance.now = 29_999;
    expect(instance.acts({ type: 'timer', timer: 'grace' })).toEqual([]);
    instance.now = 30_000;
    expect(instance.acts({ type: 'timer', timer: 'grace' })).toEqual([{ type: 'process.kill', process: 1 }]);
    instance.exit();
    expect(instance.state).toMatchObject({ restarts: { crashes: 0 }, queue: [{ crashes: 0 }, {}] });
  });

  test('R-07 without a grace kills at once', () => {
    expect(busy().acts({ type: 'drain', graceMs: 0, afterwards: 'stop' })).toEqual([
      { type: 'process.kill', process: 1 },
    ]);
  });

  test('R-07 may be shortened by a second drain, and not lengthened', () => {
    const instance = busy();
    instance.acts({ type: 'drain', graceMs: 1_000, afterwards: 'serve' });
    instance.acts({ type: 'drain', graceMs: 9_000, afterwards: 'stop' });
    expect(instance.state.phase).toMatchObject({ name: 'draining', deadline: 1_000, afterwards: 'stop' });
    instance.acts({ type: 'drain', graceMs: 500, afterwards: 'serve' });
    expect(instance.state.phase).toMatchObject({ name: 'draining', deadline: 500, afterwards: 'stop' });
    expect(instance.acts({ type: 'drain', graceMs: 0, afterwards: 'stop' })).toEqual([
      { type: 'process.kill', process: 1 },
    ]);
  });

  test('R-07 ends as it was asked to, also if the process hangs meanwhile', () => {
    const instance = busy();
    instance.do({ type: 'drain', graceMs: 1_000, afterwards: 'stop' }, { type: 'heartbeat.missed', process: 1 });
    expect(instance.state.phase).toMatchObject({ name: 'killed', why: 'hung', afterwards: 'stop' });
  });

  test('R-07 stops an instance without a process and takes it out of the line', () => {
    const instance = new Driven();
    instance.acts(work('a'));
    expect(instance.acts({ type: 'drain', graceMs: 1, afterwards: 'stop' })).toEqual([{ type: 'slot.release' }]);
    expect(instance.acts({ type: 'slot.granted' })).toEqual([{ type: 'slot.release' }]);
    expect(instance.state).toMatchObject({ phase: { name: 'stopped' }, queue: [{}] });
  });

  test('R-07 asks a starting process to end; its `ready` changes nothing', () => {
    const instance = new Driven();
    instance.acts(work('a'), { type: 'slot.granted' }, { type: 'drain', graceMs: 5, afterwards: 'stop' });
    expect(instance.acts({ type: 'ready', process: 1 })).toEqual([]);
    instance.exit('ended');
    expect(instance.state).toMatchObject({ phase: { name: 'stopped' }, startFailures: 0 });
  });

  test('continues with the queue when it only replaces the process', () => {
    const instance = busy();
    instance.acts({ type: 'drain', graceMs: 30_000, afterwards: 'serve' });
    instance.done('a');
    expect(instance.exit('ended')).toEqual([{ type: 'slot.release' }, { type: 'slot.ask' }]);
    expect(sent(instance.start())).toEqual(['b']);
  });

  test('a left turn, which waits for people, is not a crash: the next process gets the event again', () => {
    const instance = busy();
    instance.acts({ type: 'drain', graceMs: 30_000, afterwards: 'serve' });
    expect(instance.acts({ type: 'turn.left', process: 1 })).toEqual([]);
    expect(instance.exit('ended')).toEqual([{ type: 'slot.release' }, { type: 'slot.ask' }]);
    expect(instance.state.restarts.crashes).toBe(0);
    expect(sent(instance.start())).toEqual(['a']);
    expect(instance.state.queue[0]?.crashes).toBe(0);
  });

  test('an instance whose turn waits for people makes room on request, without a deadline', () => {
    const instance = busy();
    expect(conditionOf(instance.state, true, true)).toBe('held');
    const [drain] = instance.acts({ type: 'leave' });
    expect(drain).toMatchObject({ type: 'process.drain', process: 1, graceMs: 1_728_000_000 });
    // The turn was answered in the meantime.
    expect(instance.done('a')).toMatchObject([{ type: 'turn.finished' }]);
    expect(instance.exit('ended')).toEqual([{ type: 'slot.release' }, { type: 'slot.ask' }]);
    expect(sent(instance.start())).toEqual(['b']);
  });

  test('a process that was not asked to end cannot leave its turn', () => {
    const instance = busy();
    expect(instance.do({ type: 'turn.left', process: 1 })).toMatchObject([{ event: 'frame.ignored' }]);
    instance.exit();
    expect(instance.state.restarts.crashes).toBe(1);
  });

  test('a turn that crashes during a drain is a crash', () => {
    const instance = busy();
    instance.acts({ type: 'drain', graceMs: 30_000, afterwards: 'serve' });
    instance.exit();
    expect(instance.state).toMatchObject({ restarts: { crashes: 1 }, queue: [{ crashes: 1 }, {}] });
  });

  test('a turn.done that arrives after the kill counts', () => {
    const instance = busy();
    instance.acts({ type: 'heartbeat.missed', process: 1 });
    expect(instance.done('a')).toEqual([{ type: 'turn.finished', event: event('a'), outcome }]);
    instance.exit();
    expect(instance.state.queue).toMatchObject([{ event: { id: 'b' }, crashes: 0 }]);
  });
});

describe('a cancelled event', () => {
  const cancel = (eventId: string): InstanceInput => ({ type: 'cancel', eventId, reason: 'timeout' });

  test('with a running turn: the process is told, once', () => {
    const instance = running('a');
    const told: InstanceAction = { type: 'turn.cancel', process: 1, eventId: 'a', reason: 'timeout' };
    expect(instance.acts(cancel('a'), cancel('a'))).toEqual([told]);
  });

  test('keeps its place while it waits, and its turn starts cancelled, also after a crash', () => {
    const instance = running('a', 'b');
    expect(instance.acts(cancel('b'))).toEqual([]);
    const told: InstanceAction = { type: 'turn.cancel', process: 1, eventId: 'b', reason: 'timeout' };
    const begun = expect.objectContaining({ type: 'turn.send' });
    // The cancel is sent before the turn, because a turn that has begun may already have done something.
    expect(instance.done('a').slice(1)).toEqual([told, begun]);
    instance.exit();
    expect(instance.start()).toEqual([{ ...told, process: 2 }, begun]);
  });

  test('from before this orchestrator started: its turn starts cancelled', () => {
    const instance = new Driven();
    instance.acts({ type: 'work', seq: 1, event: event('a'), cancelled: 'timeout' });
    const told: InstanceAction = { type: 'turn.cancel', process: 1, eventId: 'a', reason: 'timeout' };
    expect(instance.start()).toEqual([told, expect.objectContaining({ type: 'turn.send' })]);
    expect(instance.acts(cancel('a'))).toEqual([]);
  });

  test('changes nothing when it is unknown', () => {
    expect(new Driven().do(cancel('x'))).toEqual([]);
  });
});

test('every phase that must end has its timer, and clears it at its end', () => {
  const instance = new Driven();
  const timers = (...inputs: InstanceInput[]) => instance.do(...inputs).filter(({ type }) => type.startsWith('timer.'));
  expect(timers(work('a'), { type: 'slot.granted' })).toEqual([{ type: 'timer.set', timer: 'start', at: 60_000 }]);
  expect(timers({ type: 'ready', process: 1 })).toEqual([{ type: 'timer.clear', timer: 'start' }]);
  expect(timers({ type: 'turn.done', process: 1, eventId: 'a', outcome })).toEqual([
    { type: 'timer.set', timer: 'idle', at: 300_000 },
  ]);
  expect(timers(work('b'))).toEqual([{ type: 'timer.clear', timer: 'idle' }]);
  expect(timers({ type: 'drain', graceMs: 7, afterwards: 'serve' })).toEqual([
    { type: 'timer.set', timer: 'grace', at: 7 },
  ]);
  expect(timers({ type: 'exited', process: 1, code: 0, signal: null })).toEqual([
    { type: 'timer.clear', timer: 'grace' },
  ]);
});

test('the phases as planSlots sees them', () => {
  const instance = new Driven();
  const after = (hasRequest: boolean, ...inputs: InstanceInput[]) => {
    instance.do(...inputs);
    return conditionOf(instance.state, hasRequest);
  };
  const stop = { type: 'drain', graceMs: 5, afterwards: 'stop' } as const;
  expect([after(false), after(false, work('a'))]).toEqual([undefined, undefined]);
  expect(after(false, { type: 'slot.granted' })).toBe('starting');
  expect([after(false, { type: 'ready', process: 1 }), after(true)]).toEqual(['working', 'waiting']);
  expect([after(false, stop), after(true)]).toEqual(['stopping', 'waiting']);
  expect(after(true, { type: 'turn.done', process: 1, eventId: 'a', outcome })).toBe('stopping');
  expect(after(false, { ...stop, graceMs: 0 })).toBe('stopping');
  instance.exit();
  expect(after(false)).toBeUndefined();
});
