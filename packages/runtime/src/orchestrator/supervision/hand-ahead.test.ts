import { describe, expect, test } from 'bun:test';
import { DrivenInstance, eventOf, nameTurns } from '../../testing/driven-instance.ts';
import type { InstanceInput } from './instance-state.ts';

/** One instance whose processes take events ahead. */
class Driven extends DrivenInstance<string> {
  constructor() {
    super(nameTurns);
  }

  /** Adds a request of another agent, which waits for the answer. */
  request(id: string): string[] {
    return this.work(id, { event: eventOf(id, { replyTo: { target: 'caller', correlationId: id } }) });
  }

  stop(): string[] {
    this.policy = { ...this.policy, isStopping: true };
    return this.acts({ type: 'takeBack' });
  }

  giveBack(eventId: string): string[] {
    return this.acts({ type: 'turn.returned', process: this.process, eventId });
  }

  drain(): string[] {
    return this.acts({ type: 'drain', graceMs: 5, afterwards: 'serve' });
  }

  get crashes(): Record<string, number> {
    return Object.fromEntries(this.state.queue.map(({ event: { id }, crashes }) => [id, crashes]));
  }
}

/** An instance whose process runs `a` and has `b`. */
function running(...more: string[]): Driven {
  const instance = new Driven();
  for (const id of ['a', 'b', ...more]) instance.work(id);
  instance.start(true);
  return instance;
}

describe('an event that is handed ahead', () => {
  test('goes to the process with the turn before it, or as soon as it arrives', () => {
    const instance = new Driven();
    instance.work('a');
    instance.work('b');
    expect(instance.start(true)).toEqual(['turn.send a', 'turn.ahead b']);
    const late = new Driven();
    late.work('a');
    late.start(true);
    expect(late.work('b')).toEqual(['turn.ahead b']);
  });

  test('is the only one, and each is handed once', () => {
    const instance = running();
    expect([...instance.work('c'), ...instance.work('d'), ...instance.work('b')]).toEqual([]);
  });

  test('R-03 is none that has ended too many nodes, and no turn may take it', () => {
    const instance = new Driven();
    instance.work('a');
    instance.start(true);
    expect(instance.work('b', { takeOvers: 5 })).not.toContain('turn.ahead b');
    const now = { takeOvers: 5, event: eventOf('c', { delivery: 'now', input: 'c' }) };
    expect(instance.work('c', now).join()).not.toContain('turn.');
  });

  test('begins with the end of the turn before it, and the next one is handed ahead', () => {
    const instance = running('c');
    expect(instance.done('a', { begins: 'b' })).toEqual(['turn.finished a', 'turn.started b', 'turn.ahead c']);
    expect(instance.state.phase.name).toBe('busy');
    expect(instance.done('b', { begins: 'c' })).toEqual(['turn.finished b', 'turn.started c']);
    expect(instance.done('c')).toEqual(['turn.finished c']);
    expect(instance.state.phase.name).toBe('ready');
  });

  test('is sent again when the process did not begin it, because it came too late', () => {
    const instance = running('c');
    expect(instance.done('a')).toEqual(['turn.finished a', 'turn.send b', 'turn.ahead c']);
    expect(instance.done('b', { begins: 'c' })).toEqual(['turn.finished b', 'turn.started c']);
  });

  test('is begun only if it is the one that was handed ahead', () => {
    const instance = running('c');
    expect(instance.done('a', { begins: 'c' })).toEqual(['turn.finished a', 'turn.send b', 'turn.ahead c']);
    const plain = new Driven();
    plain.work('a');
    plain.start(true);
    plain.work('b', { cancelled: 'timeout' });
    expect(plain.done('a', { begins: 'b' })).toEqual(['turn.finished a', 'turn.cancel b', 'turn.send b']);
  });

  test.each([{ crashes: 1 }, { cancelled: 'timeout' }])('has not run before and is not cancelled: %j', (more) => {
    const instance = new Driven();
    instance.work('a');
    instance.start(true);
    expect(instance.work('b', more)).toEqual([]);
    expect(instance.done('a')).toContain('turn.send b');
  });

  test('has no excuse: a process learns of an excuse only with the turn', () => {
    const instance = new Driven();
    for (const id of ['a', 'b']) instance.work(id);
    const [first, second] = instance.state.queue;
    if (!first || !second) throw new Error('two events wait');
    instance.state = { ...instance.state, queue: [first, { ...second, isExcused: true }] };
    expect(instance.start(true)).toEqual(['turn.send a']);
    expect(instance.done('a')).toEqual(['turn.finished a', 'turn.send b']);
  });

  test('goes to no process that does not take it', () => {
    const instance = new Driven();
    instance.work('a');
    instance.acts({ type: 'slot.granted' }, { type: 'ready', process: 1 });
    expect(instance.work('b')).toEqual([]);
    instance.exit();
    expect(instance.start(true)).toEqual(['turn.send a', 'turn.ahead b']);
  });
});

describe('a cancel of an event that is handed ahead', () => {
  const cancel: InstanceInput = { type: 'cancel', eventId: 'b', reason: 'timeout' };

  test('reaches the process at once, and once', () => {
    const instance = running();
    expect(instance.acts(cancel, cancel)).toEqual(['turn.cancel b']);
    expect(instance.done('a', { begins: 'b' })).toEqual(['turn.finished a', 'turn.started b']);
  });

  test('is repeated when the event is sent again, here or in the next process', () => {
    const here = running();
    here.acts(cancel);
    expect(here.done('a')).toEqual(['turn.finished a', 'turn.cancel b', 'turn.send b']);
    const next = running();
    next.acts(cancel);
    next.exit();
    expect(next.start(true)).toEqual(['turn.send a']);
    expect(next.done('a')).toEqual(['turn.finished a', 'turn.cancel b', 'turn.send b']);
  });

  test('reaches a process that is about to end, because it may have begun the event', () => {
    const instance = running();
    instance.drain();
    expect(instance.acts(cancel)).toEqual(['turn.cancel b']);
  });
});

describe('a process that ends', () => {
  test('has not begun the event it was handed ahead: the crash counts for the running one', () => {
    const instance = running();
    instance.exit();
    expect(instance.crashes).toEqual({ a: 1, b: 0 });
    expect(instance.start(true)).toEqual(['turn.send a', 'turn.ahead b']);
  });

  test('counts a crash for the event that it had begun', () => {
    const instance = running('c');
    instance.done('a', { begins: 'b' });
    instance.exit();
    expect(instance.crashes).toEqual({ b: 1, c: 0 });
    expect(instance.start(true)).toEqual(['turn.send b', 'turn.ahead c']);
  });

  test('a dead letter is followed by the event that was handed ahead with it', () => {
    const instance = running();
    for (let crash = 0; crash < 3; crash++) {
      instance.exit();
      instance.start(true);
    }
    expect(instance.crashes).toEqual({ a: 3, b: 0 });
    expect(instance.done('a', { begins: 'b' })).toEqual(['turn.finished a', 'turn.started b']);
  });

  test('as a shared one excuses only the running event, and makes the instance alone', () => {
    const instance = running();
    instance.exit('together');
    expect(instance.crashes).toEqual({ a: 0, b: 0 });
    expect(instance.state.queue.map(({ isExcused }) => isExcused)).toEqual([true, undefined]);
    expect(instance.state.isAlone).toBe(true);
    expect(instance.start(true)).toEqual(['turn.send a', 'turn.ahead b']);
  });

  test.each(['drain', 'leave'] as const)(
    'after a %s gets nothing more, and the event waits for the next one',
    (type) => {
      const instance = running();
      if (type === 'drain') instance.drain();
      else instance.acts({ type });
      expect(instance.work('c')).toEqual([]);
      expect(instance.done('a')).toEqual(['turn.finished a']);
      expect(instance.state.phase).toMatchObject({ name: 'draining', hasTurn: false });
      instance.exit();
      expect(instance.crashes).toEqual({ b: 0, c: 0 });
      expect(instance.start(true)).toEqual(['turn.send b', 'turn.ahead c']);
    },
  );

  test('finishes the event that it had begun before it heard of the drain', () => {
    const instance = running('c');
    instance.drain();
    expect(instance.done('a', { begins: 'b' })).toEqual(['turn.finished a', 'turn.started b']);
    expect(instance.state.phase).toMatchObject({ name: 'draining', hasTurn: true });
    expect(instance.done('b')).toEqual(['turn.finished b']);
    instance.exit();
    expect(instance.crashes).toEqual({ c: 0 });
  });

  test('counts a crash, if it ends in the event that it had begun before it heard of the drain', () => {
    const instance = running();
    instance.drain();
    instance.done('a', { begins: 'b' });
    instance.exit();
    expect(instance.crashes).toEqual({ b: 1 });
  });
});

describe('R-07 while the swarm stops', () => {
  test('the event that was handed ahead is taken back, and counts as handed until the process has returned it', () => {
    const instance = running('c');
    expect(instance.stop()).toEqual(['turn.back b']);
    expect(instance.state.ahead).toBe('b');
    instance.giveBack('other');
    expect(instance.state.ahead).toBe('b');
    instance.giveBack('b');
    expect(instance.state.ahead).toBeUndefined();
    expect(instance.done('a', { begins: 'b' })).toEqual(['turn.finished a']);
    expect(instance.crashes).toEqual({ b: 0, c: 0 });
  });

  test('a turn that the process had begun before it heard of that goes on, and no other begins', () => {
    const instance = running('c');
    instance.stop();
    expect(instance.done('a', { begins: 'b' })).toEqual(['turn.finished a', 'turn.started b']);
    expect(instance.giveBack('b')).toEqual([]);
    expect(instance.done('b')).toEqual(['turn.finished b']);
    expect(instance.work('d')).toEqual([]);
    expect(instance.crashes).toEqual({ c: 0, d: 0 });
  });

  test('nothing is taken back from a process that has nothing, nor handed to it', () => {
    const instance = new Driven();
    instance.work('a');
    instance.start(true);
    expect([...instance.stop(), ...instance.work('b')]).toEqual([]);
  });

  test('turns begin up to the last request of another agent', () => {
    const instance = running();
    instance.stop();
    instance.giveBack('b');
    instance.request('c');
    instance.work('d');
    expect(instance.done('a')).toEqual(['turn.finished a', 'turn.send b']);
    expect(instance.done('b')).toEqual(['turn.finished b', 'turn.send c']);
    expect(instance.done('c')).toEqual(['turn.finished c']);
    expect(instance.request('e')).toEqual(['turn.send d']);
  });

  test('a process that becomes ready gets nothing, unless another agent waits', () => {
    const instance = new Driven();
    instance.work('a');
    instance.stop();
    expect(instance.start(true)).toEqual([]);
    expect(instance.request('b')).toEqual(['turn.send a']);
  });

  test('an instance with its own process keeps it until its last event', () => {
    const instance = running();
    instance.exit('together');
    instance.start(true);
    instance.stop();
    instance.giveBack('b');
    expect(instance.done('a')).toEqual(['turn.finished a']);
    expect([instance.state.phase.name, instance.state.isAlone]).toEqual(['ready', true]);
  });
});
