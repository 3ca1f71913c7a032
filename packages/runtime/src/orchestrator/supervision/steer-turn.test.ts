import { describe, expect, test } from 'bun:test';
import type { AgentEvent } from '@goondan/types';
import fc from 'fast-check';
import { samples } from '../../../../../test/samples.ts';
import { DrivenInstance, eventOf, nameTurns } from '../../testing/driven-instance.ts';
import { steer } from './steer-turn.ts';

/** An event whose id begins with `n` is for the running turn. */
const event = (id: string): AgentEvent =>
  eventOf(id, { input: id, ...(id.startsWith('n') && { delivery: 'now' as const }) });

/** One instance whose process runs turns. Events get the numbers 1, 2, 3, … */
class Driven extends DrivenInstance<string> {
  #seq = 0;

  constructor() {
    super(nameTurns);
  }

  add(...ids: string[]): string[] {
    return ids.flatMap((id) => this.work(id, { seq: ++this.#seq, event: event(id) }));
  }

  cancel(eventId: string): string[] {
    return this.acts({ type: 'cancel', eventId, reason: 'enough' });
  }

  crash(): void {
    this.exit();
    this.do({ type: 'forgive' });
  }
}

/** An instance whose process runs `a`. */
function running(...more: string[]): Driven {
  const instance = new Driven();
  instance.add('a', ...more);
  instance.start(true);
  return instance;
}

describe('an event for the running turn', () => {
  test('Y-08 goes to the running turn at once, and is never handed ahead', () => {
    expect(running().add('n1', 'b')).toEqual(['turn.steer n1']);
    expect(running('b').add('n1')).toEqual(['turn.steer n1']);
  });

  test('Y-08 that was queued before goes with the turn, in the order of the numbers', () => {
    const instance = new Driven();
    instance.add('a', 'n1', 'b', 'n2');
    expect(instance.start(true)).toEqual(['turn.send a', 'turn.steer n1', 'turn.steer n2']);
  });

  test('Y-08 ends with the turn that took it, and the others stay queued', () => {
    const instance = running('b', 'n1', 'n2');
    expect(instance.done('a', { took: ['n2'] })).toEqual([
      'turn.finished a',
      'turn.finished n2 taken',
      'turn.send b',
      'turn.steer n1',
    ]);
    expect(instance.state.queue.map((queued) => queued.event.id)).toEqual(['b', 'n1']);
  });

  test('Y-08 has a turn of its own if the turn ended first', () => {
    const instance = running('n1', 'b');
    expect(instance.done('a')).toEqual(['turn.finished a', 'turn.send n1', 'turn.ahead b']);
  });

  test('Y-08 goes to the next turn, too, which the process has begun by itself', () => {
    const instance = running('b');
    instance.add('n1');
    expect(instance.done('a', { begins: 'b' })).toEqual(['turn.finished a', 'turn.started b', 'turn.steer n1']);
  });

  test('Y-08 goes to the next process after a crash, with the interrupted turn', () => {
    const instance = running('n1');
    instance.crash();
    expect(instance.start(true)).toEqual(['turn.send a', 'turn.steer n1']);
    expect(instance.state.queue.map(({ crashes }) => crashes)).toEqual([1, 0]);
  });

  test('Y-08 goes to a turn that its process may still finish, and not to one that was killed', () => {
    const draining = running();
    draining.do({ type: 'drain', graceMs: 5, afterwards: 'serve' });
    expect(draining.add('n1')).toEqual(['turn.steer n1']);
    const killed = running();
    killed.do({ type: 'drain', graceMs: 0, afterwards: 'serve' });
    expect(killed.add('n1')).toEqual([]);
  });

  test('Y-08 that is cancelled is not handed on; the process hears of it, because its turn may have taken it', () => {
    const instance = running('n1');
    expect(instance.cancel('n1')).toEqual(['turn.cancel n1']);
    instance.crash();
    expect(instance.start(true)).toEqual(['turn.cancel n1', 'turn.send a']);
    expect(instance.done('a')).toEqual(['turn.finished a', 'turn.cancel n1', 'turn.send n1']);
  });

  test('Y-08 of an agent that waits for the answer has a turn of its own', () => {
    const instance = running();
    const asked = { ...event('n1'), replyTo: { target: 'b', correlationId: 'c' } };
    expect(instance.acts({ type: 'work', seq: 2, event: asked })).toEqual(['turn.ahead n1']);
  });
});

test('Y-08 a turn is handed the first 100 events that are for it, in order; the others wait for the next turn', () => {
  const ids = Array.from({ length: 150 }, (_, index) => `n${index}`);
  const steers = (from: number, to: number) => ids.slice(from, to).map((id) => `turn.steer ${id}`);
  const queued = new Driven();
  queued.add('a', ...ids);
  expect(queued.start(true)).toEqual(['turn.send a', ...steers(0, 100)]);
  const instance = running();
  expect(instance.add(...ids)).toEqual(steers(0, 100));
  const ended = instance.done('a', { took: ids.slice(0, 100) });
  expect(ended.slice(101)).toEqual(['turn.send n100', ...steers(101, 150)]);
});

test('Y-08 an event whose own turn was interrupted has a turn of its own', () => {
  const driven = new Driven();
  driven.add('a');
  driven.start(true);
  const queued = { seq: 2, event: event('now'), crashes: 0 };
  expect(steer(driven.state, queued)).toHaveLength(1);
  expect(steer(driven.state, { ...queued, crashes: 1 })).toEqual([]);
  expect(steer(driven.state, { ...queued, isExcused: true })).toEqual([]);
  expect(steer(driven.state, { ...queued, cancelled: 'enough' })).toEqual([]);
});

test('Y-08 every event ends once, whatever turns take, however often processes end', () => {
  const act = fc.oneof(
    fc.record({ type: fc.constant('work' as const), isNow: fc.boolean() }),
    fc.record({ type: fc.constant('done' as const), took: fc.nat(3) }),
    fc.constant({ type: 'exit' as const }),
  );
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
      const instance = new Driven();
      let count = 0;
      let handed = new Set<string>();
      const ended: string[] = [];
      const begun: string[] = [];
      const hear = (actions: readonly string[]) => {
        for (const action of actions) {
          const [type, id = ''] = action.split(' ');
          if (type === 'turn.send') begun.push(id);
          if (type === 'turn.send') handed = new Set();
          if (type === 'turn.steer') handed.add(id);
          if (type === 'turn.finished') ended.push(id);
        }
      };
      const finish = (took: number) => {
        const { phase, queue } = instance.state;
        if (phase.name === 'inLine') hear(instance.start(true));
        if (instance.state.phase.name !== 'busy' || queue[0] === undefined) return;
        // Only an event that the process has can be taken.
        hear(instance.done(queue[0].event.id, { took: [...handed].slice(0, took) }));
      };
      for (const each of acts) {
        if (each.type === 'work') hear(instance.add(`${each.isNow ? 'n' : 'e'}${++count}`));
        if (each.type === 'done') finish(each.took);
        if (each.type === 'exit' && instance.state.phase.name === 'busy') {
          handed = new Set();
          instance.crash();
        }
      }
      for (let rounds = 0; rounds < 200 && instance.state.queue.length > 0; rounds += 1) finish(0);
      expect(ended).toHaveLength(count);
      expect(new Set(ended).size).toBe(count);
      // Turns begin in the order of the numbers.
      const numbers = begun.map((id) => Number(id.slice(1)));
      expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
    }),
    { numRuns: samples(500) },
  );
});
