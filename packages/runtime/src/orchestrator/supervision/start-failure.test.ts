import { describe, expect, test } from 'bun:test';
import type { ErrorCode } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import { DrivenInstance, eventOf } from '../../testing/driven-instance.ts';
import { type InstanceAction, newInstance } from './instance-state.ts';
import { isFinal, isStoreFault } from './start-failure.ts';

const bad: FrameError = { code: 'E_EXT_INIT', message: 'register failed' };
const full: FrameError = { code: 'E_DISK_FULL', message: 'no space left' };
const corrupt: FrameError = { code: 'E_STORE_CORRUPT', message: 'a bad line' };

/** Returns only the actions that others notice, without timers, slots and kills. */
function tell(action: InstanceAction): string[] {
  if (action.type === 'process.spawn') return ['spawn'];
  if (action.type === 'requests.fail') return [`fail ${action.error.code}`];
  if (action.type === 'turn.send') return [`send ${action.event.id}${action.deadLetter ? ' as a dead letter' : ''}`];
  return action.type === 'report' && action.level !== 'info' ? [`${action.level} ${action.event}`] : [];
}

class Driven extends DrivenInstance<string> {
  constructor() {
    super(tell);
  }

  /** Runs a start that fails, from the grant of its slot to the end of its process. */
  failStart(error = bad): string[] {
    const process = this.process + 1;
    return [...this.acts({ type: 'slot.granted' }, { type: 'start.failed', process, error }), ...this.exit()];
  }

  loseTurn(error: FrameError): string[] {
    return [...this.acts({ type: 'turn.lost', process: this.process, error }), ...this.exit()];
  }

  /** Lets the backoff pass, if there is one. */
  waitForBackoff(): void {
    const { phase } = this.state;
    if (phase.name !== 'backoff') return;
    this.now = phase.until;
    this.do({ type: 'timer', timer: 'backoff' });
  }
}

/** An instance whose process runs `a`. */
function running(): Driven {
  const instance = new Driven();
  instance.work('a');
  instance.start();
  return instance;
}

/** An instance with the event `a`, whose start has failed. */
function broken(): Driven {
  const instance = new Driven();
  instance.work('a');
  instance.failStart();
  return instance;
}

describe('an instance that does not start', () => {
  test('tells waiting callers when its process ends as soon as it is ready, whatever it is sent', () => {
    const instance = new Driven();
    instance.work('a');
    const crash = () => [...instance.start(), ...instance.exit()];
    for (const _ of [1, 2, 3]) expect(crash()).toEqual(['send a', 'warn process.exited']);
    expect(crash()).toEqual(['send a as a dead letter', 'warn process.exited', 'fail E_AGENT_START']);
  });

  test('is tried once, tells waiting callers at once, logs nothing twice, keeps its events and is not tried again', () => {
    const instance = new Driven();
    instance.work('a');
    expect(instance.failStart()).toEqual(['spawn', 'fail E_EXT_INIT']);
    expect(instance.state).toMatchObject({
      phase: { name: 'doesNotStart' },
      queue: [{ event: { id: 'a' }, crashes: 0 }],
    });
    instance.now = 1e9;
    const timers = (['backoff', 'start', 'idle', 'grace'] as const).map((timer) => ({ type: 'timer', timer }) as const);
    expect(instance.do(...timers, { type: 'hibernate' }, { type: 'drain', graceMs: 5, afterwards: 'serve' })).toEqual(
      [],
    );
    expect(instance.do({ type: 'slot.granted' })).toEqual([{ type: 'slot.release' }]);
  });

  test('is tried once per request, and each caller gets the result of that try', () => {
    const instance = broken();
    expect(instance.work('b')).toEqual([]);
    expect(instance.work('c')).toEqual([]);
    expect(instance.failStart()).toEqual(['spawn', 'fail E_EXT_INIT']);
    expect(instance.state.phase.name).toBe('doesNotStart');
    // A repeated event counts as another request, too.
    instance.work('a');
    expect(instance.start()).toEqual(['send a']);
    expect(instance.state.startError).toBeUndefined();
    expect([instance.done('a'), instance.done('b'), instance.done('c')]).toEqual([['send b'], ['send c'], []]);
  });

  test('a caller during the backoff is told at once, and its one try comes when the backoff is over', () => {
    const instance = new Driven();
    instance.work('1');
    for (let ask = 2; ask <= 5; ask++) {
      instance.failStart();
      instance.work(`${ask}`);
    }
    expect(instance.failStart()).toEqual(['spawn', 'fail E_EXT_INIT']);
    expect(instance.work('6')).toEqual(['fail E_EXT_INIT']);
    expect(instance.state.phase).toEqual({ name: 'backoff', until: 1_000 });
    expect(instance.work('7')).toEqual(['fail E_EXT_INIT']);
    instance.now = 1_000;
    instance.do({ type: 'timer', timer: 'backoff' });
    expect(instance.failStart()).toEqual(['spawn', 'fail E_EXT_INIT']);
    expect(instance.state.phase.name).toBe('doesNotStart');
  });

  test('is tried again when a person restarts it, or a reload changed its parts', () => {
    const instance = broken();
    expect(instance.do({ type: 'forgive' })).toEqual([{ type: 'slot.ask' }]);
    expect(instance.state.startError).toBeUndefined();
    expect(instance.start()).toEqual(['send a']);
  });

  test('an error that may pass is tried again with the backoff', () => {
    const instance = new Driven();
    instance.work('a');
    instance.failStart({ ...bad, retryable: true });
    expect(instance.state.phase.name).toBe('inLine');
    instance.failStart({ code: 'E_AGENT_START', message: 'it ended with code 7' });
    expect(instance.state.phase.name).toBe('inLine');
  });

  test('does not count as failed when it was asked to end during its try', () => {
    const instance = broken();
    instance.work('b');
    instance.do({ type: 'slot.granted' }, { type: 'drain', graceMs: 5, afterwards: 'serve' });
    instance.exit('ended');
    expect(instance.state.phase.name).toBe('inLine');
  });

  test('stops and is deleted like a sleeping instance', () => {
    const stopped = broken();
    stopped.do({ type: 'drain', graceMs: 5, afterwards: 'stop' });
    expect(stopped.state).toMatchObject({ phase: { name: 'stopped' }, queue: [{ event: { id: 'a' } }] });
    const deleted = broken();
    const error = { code: 'E_INSTANCE_DELETED', message: 'gone' } as const;
    expect(deleted.acts({ type: 'discard', error })).toEqual(['fail E_INSTANCE_DELETED']);
    expect(deleted.state).toEqual({ ...newInstance, spawned: 1 });
  });

  test('with an inbox that the orchestrator cannot read reports it once, until it can be read', () => {
    const instance = new Driven();
    expect(instance.acts({ type: 'damaged', error: corrupt })).toEqual(['error start.failed', 'fail E_STORE_CORRUPT']);
    expect(instance.acts({ type: 'damaged', error: corrupt })).toEqual(['fail E_STORE_CORRUPT']);
    expect(instance.state.phase.name).toBe('doesNotStart');
    instance.do({ type: 'forgive' });
    expect(instance.state.phase.name).toBe('absent');
    instance.work('a');
    expect(instance.start()).toEqual(['send a']);
    expect(instance.acts({ type: 'damaged', error: corrupt })).toEqual(['warn frame.ignored']);
  });

  test('a turn ended by a damaged conversation: told at once, no second try, no crash of the event', () => {
    const instance = running();
    expect(instance.loseTurn(corrupt)).toEqual(['fail E_STORE_CORRUPT']);
    expect(instance.state).toMatchObject({ phase: { name: 'doesNotStart' }, queue: [{ crashes: 0, isExcused: true }] });
    instance.work('b');
    expect(instance.start()).toEqual(['send a']);
    expect(instance.loseTurn(corrupt)).toEqual(['fail E_STORE_CORRUPT']);
  });
});

describe('a store that cannot write for a while', () => {
  test('is tried again with the backoff, counts as no event’s crash, and callers wait until it works', () => {
    const instance = new Driven();
    instance.work('a');
    for (let failure = 1; failure <= 9; failure++) {
      expect(instance.start()).toEqual(['send a']);
      expect(instance.loseTurn(full)).toEqual([]);
      instance.waitForBackoff();
    }
    // The backoff took 1 + 2 + 4 + 8 + 16 seconds.
    expect(instance.now).toBe(31_000);
    expect(instance.state.queue).toMatchObject([{ crashes: 0, isExcused: true }]);
    expect(instance.start()).toEqual(['send a']);
    expect(instance.done('a')).toEqual([]);
  });

  test('callers are told when the next start is further away than a start may take', () => {
    const instance = new Driven();
    instance.work('a');
    const told: number[] = [];
    for (let failure = 1; failure <= 15; failure++) {
      instance.start();
      if (instance.loseTurn(full).length > 0) told.push(failure);
      instance.waitForBackoff();
    }
    expect(told).toEqual([11, 12, 13, 14, 15]);
    expect(instance.work('b')).toEqual(['fail E_DISK_FULL']);
    expect(instance.state.queue).toHaveLength(2);
  });

  test('a start that the store fails is tried again, too', () => {
    const instance = new Driven();
    instance.work('a');
    expect([1, 2, 3, 4].map(() => instance.failStart(full))).toEqual([['spawn'], ['spawn'], ['spawn'], ['spawn']]);
    expect(instance.state.phase.name).toBe('inLine');
  });

  test('a later crash counts again, and a turn ended by anything else is a crash', () => {
    const instance = running();
    instance.loseTurn(full);
    instance.start();
    instance.loseTurn({ code: 'E_UNEXPECTED', message: 'a bug' });
    expect(instance.state.queue).toEqual([{ seq: 1, event: eventOf('a'), crashes: 1 }]);
  });
});

describe('a turn that the store refuses because it has earlier input', () => {
  const early: FrameError = { code: 'E_STORE_ORDER', message: 'too early', retryable: true };
  const work = (seq: number, id: string) => ({ type: 'work', seq, event: eventOf(id) }) as const;
  const queueOf = ({ state }: Driven) => state.queue.map(({ event: { id }, crashes }) => `${id} ${crashes}`);

  test('S-03 runs after that input, in the order of the numbers, whenever the input arrives', () => {
    for (const isLate of [false, true]) {
      const instance = new Driven();
      instance.do(work(3, 'c'), work(0, 'answered before'), work(4, 'd'));
      expect(instance.start()).toEqual(['send c']);
      const { spawned: process } = instance.state;
      const missed = [work(1, 'a'), work(2, 'b')];
      instance.do({ type: 'turn.lost', process, error: early }, ...(isLate ? [] : missed));
      instance.do({ type: 'exited', process, code: null, signal: 'SIGKILL' }, ...(isLate ? missed : []));
      expect(queueOf(instance).filter((text) => text !== 'answered before 0')).toEqual(['a 0', 'b 0', 'c 0', 'd 0']);
      expect(queueOf(instance)).toContain('answered before 0');
      expect(instance.start()).toEqual(['send a']);
    }
  });

  test('S-03 is tried again with the backoff while the input does not arrive, and never counts a crash', () => {
    const instance = new Driven();
    instance.do(work(2, 'b'));
    for (let refusal = 1; refusal <= 8; refusal++) {
      expect(instance.start()).toEqual(['send b']);
      instance.loseTurn(early);
      instance.waitForBackoff();
    }
    expect(queueOf(instance)).toEqual(['b 0']);
    expect(instance.now).toBeGreaterThan(0);
  });

  test('S-03 leaves an event that the process has before one that arrives later', () => {
    const instance = new Driven();
    instance.do(work(3, 'c'), work(4, 'd'), { type: 'slot.granted' });
    instance.do({ type: 'ready', process: instance.state.spawned, takesAhead: true }, work(6, 'f'), work(5, 'e'));
    expect(queueOf(instance)).toEqual(['c 0', 'd 0', 'e 0', 'f 0']);
    instance.do(work(1, 'a'));
    expect(queueOf(instance)).toEqual(['c 0', 'd 0', 'a 0', 'e 0', 'f 0']);
  });
});

test.each<[ErrorCode, boolean, boolean]>([
  ['E_EXT_INIT', true, false],
  ['E_EXT_LOAD', true, false],
  ['E_EXT_CONFIG', true, false],
  ['E_EXT_COMPAT', true, false],
  ['E_ENV_MISSING', true, false],
  ['E_PIPELINE_KIND', true, false],
  ['E_STORE_CORRUPT', true, true],
  ['E_STORE_INSTANCE', true, true],
  ['E_DISK_FULL', false, true],
  ['E_STORE_WRITE', false, true],
  ['E_STORE_READ', false, true],
  ['E_LOCKED', false, true],
  ['E_FENCED', false, true],
  ['E_AGENT_START', false, false],
  ['E_PROCESS_START', false, false],
  ['E_UNEXPECTED', false, false],
])('%s: tried once %p, the fault of the store %p', (code, final, store) => {
  expect([isFinal({ code, message: '' }), isStoreFault({ code, message: '' })]).toEqual([final, store]);
});
