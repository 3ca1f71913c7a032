// Tests the decisions about a process that is blocked in known code (invariant 19 of the machine).
import { describe, expect, test } from 'bun:test';
import { DrivenInstance } from '../../testing/driven-instance.ts';
import { defined } from '../../json/defined.ts';
import type { InstanceAction, InstanceInput } from './instance-state.ts';
import { defaultSupervisionPolicy, type SupervisionPolicy } from './supervision-policy.ts';

const tool = 'blocked in tool archive__search (tools/archive.ts)';
const layer = 'blocked in the step layer of extension notes (extensions/notes.ts)';
const loading = 'blocked while loading extensions/notes.ts';

class Driven extends DrivenInstance<InstanceAction> {
  constructor(policy: Partial<SupervisionPolicy> = {}) {
    super((action) => [action], { ...defaultSupervisionPolicy, ...policy });
  }

  /** Kills the process because it is blocked, and returns what follows its exit. */
  block(blocked?: string): InstanceAction[] {
    const { process } = this;
    const where = defined({ blocked });
    return [...this.do({ type: 'heartbeat.missed', process, pid: 4711, ...where }), ...this.end(where)];
  }

  end(how: Partial<Extract<InstanceInput, { type: 'exited' }>>): InstanceAction[] {
    return this.do({ type: 'exited', process: this.process, pid: 4711, code: null, signal: 'SIGKILL', ...how });
  }
}

function reports(actions: readonly InstanceAction[]): string[] {
  return actions.flatMap((action) => (action.type === 'report' ? [`${action.event}: ${action.message}`] : []));
}

/** An instance whose process runs `a`. */
function running(policy?: Partial<SupervisionPolicy>): Driven {
  const instance = new Driven(policy);
  instance.work('a');
  instance.start();
  return instance;
}

/** Starts the next process, and returns how it gets the turn. */
function sent(instance: Driven) {
  return instance.start().find(({ type }) => type === 'turn.send');
}

describe('R-03 a turn that blocks its process', () => {
  test('becomes a dead letter the second time in the same code, and the code is named everywhere', () => {
    const instance = running();
    expect(reports(instance.block(tool))).toEqual([
      `process.hung: Process 4711 does not answer and is killed: it is ${tool}.`,
      `process.exited: Process 4711 ended by SIGKILL, ${tool}.`,
    ]);
    expect(instance.state.queue[0]).toMatchObject({ crashes: 1, blocked: tool });
    expect(sent(instance)).toMatchObject({ deadLetter: false, blocked: tool });
    expect(instance.block(tool)).toContainEqual(
      expect.objectContaining({ type: 'event.deadLettered', crashes: 2, blocked: tool }),
    );
    expect(sent(instance)).toMatchObject({ deadLetter: true, blocked: tool });
    instance.done('a');
    expect(instance.state.queue).toEqual([]);
  });

  test('has three tries when the code is another each time, or is not known, or another crash is in between', () => {
    const tries = (...codes: (string | undefined)[]) => {
      const instance = running();
      return codes.map((code) => {
        instance.block(code);
        const { deadLetter, blocked } = sent(instance) as Extract<InstanceAction, { type: 'turn.send' }>;
        return deadLetter ? `dead: ${blocked ?? 'unknown'}` : 'again';
      });
    };
    expect(tries(tool, layer, tool)).toEqual(['again', 'again', `dead: ${tool}`]);
    expect(tries(undefined, undefined, undefined)).toEqual(['again', 'again', 'dead: unknown']);
    expect(tries(tool, undefined, tool)).toEqual(['again', 'again', `dead: ${tool}`]);
  });

  test('is not named after an end that had another cause', () => {
    const instance = running();
    instance.block(tool);
    instance.start();
    instance.do({ type: 'turn.lost', process: instance.process, error: { code: 'E_STORE_AWAY', message: 'away' } });
    instance.end({});
    expect(sent(instance)).not.toHaveProperty('blocked');
    instance.block(tool);
    instance.start();
    expect(instance.exit()).toContainEqual(expect.objectContaining({ type: 'slot.release' }));
    expect(sent(instance)).not.toHaveProperty('blocked');
  });

  test('is known with its time until a process ends as usual', () => {
    const instance = running();
    instance.block(tool);
    const last = instance.state.lastBlocked;
    expect(last?.code).toBe(tool);
    instance.start();
    instance.exit();
    expect(instance.state.lastBlocked).toEqual(last);
    instance.start();
    instance.done('a');
    expect(instance.state.lastBlocked).toEqual(last);
    instance.do({ type: 'hibernate' });
    instance.end({ signal: null, code: 0 });
    expect(instance.state).not.toHaveProperty('lastBlocked');
  });

  test('stays named as a dead letter when the store fails while it is put aside', () => {
    const instance = running();
    for (let time = 0; time < 2; time++) {
      instance.block(tool);
      instance.start();
    }
    instance.do({ type: 'turn.lost', process: instance.process, error: { code: 'E_STORE_AWAY', message: 'away' } });
    instance.end({});
    expect(sent(instance)).toMatchObject({ deadLetter: true, blocked: tool });
  });

  test('stays a dead letter when it is put aside and its process dies then, which is told to waiting callers', () => {
    const instance = running();
    instance.block(tool);
    instance.start();
    instance.block(tool);
    expect(sent(instance)).toMatchObject({ deadLetter: true });
    const actions = instance.exit();
    expect(actions.map(({ type }) => type)).toContain('requests.fail');
    expect(actions.map(({ type }) => type)).not.toContain('event.deadLettered');
    expect(sent(instance)).toMatchObject({ deadLetter: true, blocked: tool });
  });
});

describe('a start that is blocked', () => {
  test('X-03 fails with the code, and is not tried again after the second time in the same code', () => {
    const instance = new Driven();
    instance.work('a');
    instance.do({ type: 'slot.granted' });
    instance.block(loading);
    const message = `The agent's process could not start: it was ${loading}.`;
    expect(instance.state).toMatchObject({ phase: { name: 'inLine' }, startError: { code: 'E_AGENT_START', message } });
    instance.do({ type: 'slot.granted' });
    const actions = instance.block(loading);
    expect(instance.state).toMatchObject({ phase: { name: 'doesNotStart' }, startFailures: 2 });
    expect(actions).toContainEqual({
      type: 'requests.fail',
      error: { code: 'E_AGENT_START', message, retryable: false },
    });
    // A person, or a reload, allows two more tries, and so does other code.
    instance.do({ type: 'forgive' }, { type: 'slot.granted' });
    instance.block(loading);
    instance.do({ type: 'slot.granted' });
    instance.block(tool);
    expect(instance.state.phase.name).toBe('inLine');
  });
});

describe('a shared process that is blocked', () => {
  test('counts for nobody, but its code is known when the turn runs alone', () => {
    const instance = running({ crashesBeforeDeadLetter: 1 });
    instance.end({ sharing: 'together', blocked: tool });
    expect(instance.state.lastBlocked?.code).toBe(tool);
    const queue = [{ crashes: 0, isExcused: true, blocked: tool }];
    expect(instance.state).toMatchObject({ isAlone: true, restarts: { crashes: 0 }, queue });
    expect(sent(instance)).toMatchObject({ deadLetter: false, isExcused: true });
    instance.block(tool);
    expect(sent(instance)).toMatchObject({ deadLetter: true, blocked: tool });
  });

  test('is the first of two times in the same code', () => {
    const instance = running();
    instance.end({ sharing: 'together', blocked: tool });
    instance.start();
    instance.block(tool);
    expect(sent(instance)).toMatchObject({ deadLetter: true, blocked: tool });
  });
});
