import { describe, expect, test } from 'bun:test';
import { DrivenInstance } from '../../testing/driven-instance.ts';
import type { InstanceAction } from './instance-state.ts';

/** One instance, with all its actions. */
class Driven extends DrivenInstance<InstanceAction> {
  constructor() {
    super((action) => [action]);
  }

  get crashes(): number | undefined {
    return this.state.queue[0]?.crashes;
  }
}

/** An instance whose process runs `a`. */
function running(): Driven {
  const instance = new Driven();
  instance.work('a');
  instance.start();
  return instance;
}

describe('the end of a shared process', () => {
  test('with other conversations counts against no event, delays no start, and makes the interrupted instance alone', () => {
    const instance = running();
    const actions = instance.exit('together');
    expect(actions).toContainEqual({ type: 'slot.ask' });
    expect(instance.state).toMatchObject({ phase: { name: 'inLine' }, isAlone: true, restarts: { crashes: 0 } });
    expect(instance.crashes).toBe(0);
    expect(instance.start()).toContainEqual(expect.objectContaining({ type: 'turn.send', isExcused: true }));
  });

  test('is reported by the process, not by each conversation', () => {
    const instance = running();
    const reports = (actions: readonly InstanceAction[]) => actions.filter(({ type }) => type === 'report');
    expect(reports(instance.exit('together'))).toEqual([]);
    instance.start();
    expect(reports(instance.exit('alone'))).toHaveLength(1);
  });

  test('is not reported when only a conversation was closed, or when an earlier line has the reason', () => {
    const left = (instance: Driven, code: number) => {
      const { spawned: process } = instance.state;
      const actions = instance.do({ type: 'exited', process, pid: 4711, code, signal: null, sharing: 'left' });
      return actions.flatMap((action) => (action.type === 'report' ? [[action.level, action.message]] : []));
    };
    const closed = running();
    closed.done('a');
    closed.do({ type: 'hibernate' });
    expect(left(closed, 0)).toEqual([]);

    const failed = new Driven();
    failed.work('a');
    failed.do({ type: 'slot.granted' });
    failed.do({ type: 'start.failed', process: 1, error: { code: 'E_UNEXPECTED', message: 'no' } });
    expect(left(failed, 1)).toEqual([]);

    const unexplained = running();
    expect(left(unexplained, 1)).toEqual([
      ['warn', 'This conversation ended with code 1 in process 4711, which continues with others.'],
    ]);
    expect(unexplained.state.isAlone).toBeUndefined();
  });

  test('counts when the conversation was alone in it, or when its own process crashes', () => {
    const instance = running();
    instance.exit('alone');
    expect(instance.state.isAlone).toBe(true);
    expect(instance.crashes).toBe(1);
    instance.start();
    instance.exit();
    expect(instance.crashes).toBe(2);
    expect(instance.state.isAlone).toBe(true);
  });

  test('is no failed start of an instance that started meanwhile', () => {
    const instance = new Driven();
    instance.work('a');
    instance.do({ type: 'slot.granted' });
    instance.exit('together');
    expect(instance.state).toMatchObject({ startFailures: 0, isAlone: true, phase: { name: 'inLine' } });
  });

  test('clears the timer of the phase that it ends, and releases the slot', () => {
    const cleared = (actions: readonly InstanceAction[]) =>
      actions.flatMap((action) => (action.type === 'timer.clear' ? [action.timer] : []));
    const starting = new Driven();
    starting.work('a');
    starting.do({ type: 'slot.granted' });
    const actions = starting.exit('together');
    expect(cleared(actions)).toEqual(['start']);
    expect(actions).toContainEqual({ type: 'slot.release' });
    const idle = running();
    idle.done('a');
    expect(cleared(idle.exit('together'))).toEqual(['idle']);
  });

  test('interrupts no idle instance: its next work is for a shared process', () => {
    const instance = running();
    instance.done('a');
    instance.exit('together');
    expect(instance.state).toMatchObject({ phase: { name: 'absent' }, restarts: { crashes: 0 } });
    expect(instance.state.isAlone).toBeUndefined();
  });

  test('excuses every turn of a process that hangs', () => {
    const instance = running();
    instance.do({ type: 'heartbeat.missed', process: 1 });
    instance.exit('together');
    expect(instance.state).toMatchObject({ isAlone: true, phase: { name: 'inLine' } });
    expect(instance.crashes).toBe(0);
  });

  test('counts as a crash of an instance that did not start itself', () => {
    const instance = new Driven();
    instance.work('a');
    instance.do({ type: 'slot.granted' });
    const error = { code: 'E_UNEXPECTED', message: 'no' } as const;
    instance.do({ type: 'start.failed', process: instance.state.spawned, error });
    instance.exit('together');
    expect(instance.state).toMatchObject({ startFailures: 1, restarts: { crashes: 1 } });
  });

  test('does not make an instance alone whose own store could not write', () => {
    const instance = running();
    const error = { code: 'E_DISK_FULL', message: 'no room left' } as const;
    instance.do({ type: 'turn.lost', process: instance.state.spawned, error });
    instance.exit('together');
    expect(instance.state.isAlone).toBeUndefined();
    expect(instance.crashes).toBe(0);
  });

  test('leaves the process of its own when its turns are committed, and shares again', () => {
    const instance = new Driven();
    instance.work('a');
    instance.work('b');
    instance.start();
    instance.exit('together');
    instance.start();
    const first = instance.done('a');
    expect(first).toContainEqual(expect.objectContaining({ type: 'turn.send', seq: 1 }));
    expect(instance.state.isAlone).toBe(true);
    const last = instance.done('b');
    expect(last).toContainEqual(expect.objectContaining({ type: 'process.drain', process: 2 }));
    expect(instance.state.isAlone).toBeUndefined();
    instance.work('c');
    instance.do({ type: 'exited', process: 2, code: 0, signal: null });
    expect(instance.state).toMatchObject({ phase: { name: 'inLine' } });
    expect(instance.state.isAlone).toBeUndefined();
  });
});
