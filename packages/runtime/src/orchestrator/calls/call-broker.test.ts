import { describe, expect, test } from 'bun:test';
import type { AgentAddress, AgentEvent, JsonObject, TurnResult } from '@goondan/types';
import { addressKey } from '../address/address-key.ts';
import { CallBroker } from './call-broker.ts';
import { defaultCallLimits, type CallAction, type CallFrame } from './call.ts';

const at = (agentName: string, instanceKey = 'default'): AgentAddress => ({ agentName, instanceKey });
const moment = { date: new Date(1_000), now: 500 };

const rootEvent = (auth?: JsonObject): AgentEvent => ({
  id: 'root',
  type: 'user.message',
  instanceKey: 'default',
  source: { kind: 'cli', name: 'test' },
  traceId: 'trace-1',
  createdAt: new Date(0),
  ...(auth === undefined ? {} : { auth }),
});

interface Ask {
  readonly callId?: string;
  readonly kind?: CallFrame['kind'];
  readonly id?: string;
  readonly timeoutMs?: number;
  readonly timeoutField?: 'requestTimeoutMs';
  readonly timeoutFrom?: 'call';
  /** More fields for the event in the frame, which a process could claim. */
  readonly claims?: Partial<AgentEvent>;
}

const ask = (
  to: AgentAddress,
  { callId = 'c1', kind = 'request', id = 'e1', claims, ...timeout }: Ask = {},
): CallFrame => ({
  type: 'call',
  callId,
  kind,
  to,
  event: { ...rootEvent(), id, ...claims },
  ...timeout,
});

const agents = ['a', 'b', 'c', 'd', 'e'];
const times = { queueTimeoutMs: 20_000, turnTimeoutMs: 60_000 };
const timesOf = () => times;
const broker = (limits: Partial<typeof defaultCallLimits> = {}) =>
  new CallBroker(() => ({ agents, askableBy: () => agents, limits: { ...defaultCallLimits, ...limits }, timesOf }));

const answered = (text: string): TurnResult => ({ turnId: text, finishReason: 'text_response' });

/** Returns the delivered event; fails the test when there is none. */
function delivered(actions: readonly CallAction[]): AgentEvent {
  const found = actions.find((action) => action.type === 'event.deliver');
  if (found === undefined) throw new Error(`Nothing was delivered: ${JSON.stringify(actions)}`);
  return found.event;
}

const ends = (actions: readonly CallAction[]) => actions.filter((action) => action.type === 'call.end');
const errors = (actions: readonly CallAction[]) =>
  ends(actions).flatMap(({ outcome }) => (outcome.status === 'failed' ? [outcome.error] : []));

/** A broker with one call of agent `a` to agent `b`: its event, and the event's id. */
function openCall(options: Ask = {}) {
  const calls = broker();
  const event = delivered(calls.call(at('a'), rootEvent(), ask(at('b'), options), moment));
  return { calls, event, id: event.id };
}

describe('mayAsk', () => {
  const allowed: Readonly<Record<string, readonly string[]>> = { a: ['b', 'c'], b: [] };
  const limited = () =>
    new CallBroker(() => ({
      agents,
      askableBy: (agentName) => allowed[agentName] ?? agents,
      limits: defaultCallLimits,
      timesOf,
    }));

  test.each(['request', 'send'] as const)('refuses a %s to any other agent, and names the allowed ones', (kind) => {
    const refuse = (from: string, to: string) =>
      errors(limited().call(at(from), rootEvent(), ask(at(to), { kind }), moment));
    expect(refuse('a', 'd')).toEqual([
      { code: 'E_AGENT_NOT_ALLOWED', message: 'Agent "a" may not ask agent "d". It may ask: b, c.' },
    ]);
    expect(refuse('b', 'a')).toEqual([
      { code: 'E_AGENT_NOT_ALLOWED', message: 'Agent "b" may not ask agent "a". It may ask no agent.' },
    ]);
    // Another instance of the same agent is no exception.
    const own = errors(limited().call(at('a'), rootEvent(), ask(at('a', 'other'), { kind }), moment));
    expect(own).toMatchObject([{ code: 'E_AGENT_NOT_ALLOWED' }]);
    expect(delivered(limited().call(at('a'), rootEvent(), ask(at('c'), { kind }), moment)).source.name).toBe('a');
    expect(delivered(limited().call(at('e'), rootEvent(), ask(at('d'), { kind }), moment)).source.name).toBe('e');
  });

  test('an unknown agent is still unknown, and the message shows only allowed agents', () => {
    expect(errors(limited().call(at('a'), rootEvent(), ask(at('nobody')), moment))).toMatchObject([
      { code: 'E_AGENT_UNKNOWN', message: 'There is no agent "nobody". Agents: b, c.' },
    ]);
  });

  test('an agent that may ask nobody answers its caller', () => {
    const calls = limited();
    const event = delivered(calls.call(at('a'), rootEvent(), ask(at('b')), moment));
    expect(ends(calls.turnFinished(at('b'), event, answered('hello')))).toMatchObject([
      { caller: at('a'), outcome: { status: 'answered', result: answered('hello') } },
    ]);
  });

  test('a forged source changes nothing: the channel identifies the caller', () => {
    const claims = { source: { kind: 'agent', name: 'e' } } as const;
    expect(errors(limited().call(at('b'), rootEvent(), ask(at('d'), { claims }), moment))).toMatchObject([
      { code: 'E_AGENT_NOT_ALLOWED' },
    ]);
  });
});

describe('a request', () => {
  test('S-03 is not cancelled when its caller has gone to another node before it was accepted', () => {
    const { calls, event } = openCall();
    calls.moved(at('a'));
    expect(calls.delivered(at('b'), event)).toEqual([]);
  });

  test('A-01 A-05 is delivered to its target and ends with the reply', () => {
    const { calls, event } = openCall();
    expect(calls.turnFinished(at('b'), event, answered('hello'))).toEqual([
      { type: 'timer.clear', timer: event.id },
      {
        type: 'call.end',
        caller: at('a'),
        callId: 'c1',
        outcome: { status: 'answered', result: answered('hello') },
      },
    ]);
    expect(calls.openCalls).toBe(0);
  });

  test('a committed answer ends the request only if it comes from the instance that was asked', () => {
    const calls = broker();
    const event = delivered(calls.call(at('a'), rootEvent(), ask(at('b', 'k')), moment));
    for (const other of [at('c', 'k'), at('b'), at('a')]) {
      expect(calls.replied(other, event.id, answered('forged'))).toEqual([]);
    }
    expect(calls.openCalls).toBe(1);
    expect(ends(calls.replied(at('b', 'k'), event.id, answered('true')))).toMatchObject([
      { caller: at('a'), callId: 'c1', outcome: { status: 'answered', result: answered('true') } },
    ]);
    expect(calls.replied(at('b', 'k'), event.id, answered('again'))).toEqual([]);
  });

  test('A-08 hands on input and metadata', () => {
    const claims = { input: 'question', metadata: { from: 'a layer' } };
    const event = delivered(broker().call(at('a'), rootEvent(), ask(at('b'), { claims }), moment));
    expect(event).toMatchObject(claims);
  });

  test('A-09 takes auth from the running turn, whatever the frame claims, in requests and sends', () => {
    const claims = { auth: { user: 'root' } };
    for (const kind of ['request', 'send'] as const) {
      const frame = ask(at('b'), { kind, claims });
      expect(delivered(broker().call(at('a'), rootEvent({ user: 'kim' }), frame, moment)).auth).toEqual({
        user: 'kim',
      });
      expect(delivered(broker().call(at('a'), rootEvent(), frame, moment)).auth).toBeUndefined();
    }
  });

  test('A-04 A-09 sets source, chain, instance and time itself: the frame is not trusted for these', () => {
    const claims: Partial<AgentEvent> = {
      source: { kind: 'connector', name: 'bank' },
      callChain: [],
      instanceKey: 'other',
      traceId: 'mine',
      type: 'approval.given',
      createdAt: new Date(9),
      replyTo: { target: 'c', correlationId: 'x' },
    };
    const during = { ...rootEvent(), callChain: [at('d')] };
    const event = delivered(broker().call(at('a'), during, ask(at('b', 'k'), { claims }), moment));
    expect(event).toEqual({
      id: event.id,
      type: 'agent.message',
      instanceKey: 'k',
      source: { kind: 'agent', name: 'a' },
      callChain: [at('d'), at('a')],
      replyTo: { target: 'a', correlationId: event.id },
      traceId: 'trace-1',
      createdAt: moment.date,
    });
  });

  test('A-07 carries the trace and the span of the caller', () => {
    const spanOf = (parentSpanId: string) =>
      delivered(broker().call(at('a'), rootEvent(), ask(at('b'), { claims: { parentSpanId } }), moment));
    expect(spanOf('00f067aa0ba902b7')).toMatchObject({ traceId: 'trace-1', parentSpanId: '00f067aa0ba902b7' });
    expect(spanOf('not a span').parentSpanId).toBeUndefined();
    expect(spanOf('0'.repeat(16)).parentSpanId).toBeUndefined();
  });

  test('A-07 is recorded if the caller’s event is, whatever the caller claims', () => {
    const sampled = (isSampled: boolean | undefined, claimed: boolean) => {
      const during = { ...rootEvent(), ...(isSampled === undefined ? {} : { isSampled }) };
      return delivered(broker().call(at('a'), during, ask(at('b'), { claims: { isSampled: claimed } }), moment))
        .isSampled;
    };
    expect([sampled(false, true), sampled(true, false), sampled(undefined, false)]).toEqual([false, true, undefined]);
  });

  test('A-06 to an unknown agent fails and lists the agents of the swarm, for sends too', () => {
    for (const kind of ['request', 'send'] as const) {
      const [error] = errors(broker().call(at('a'), rootEvent(), ask(at('x'), { kind }), moment));
      const message = 'There is no agent "x". Agents: a, b, c, d, e.';
      expect(error).toMatchObject({ code: 'E_AGENT_UNKNOWN', message });
    }
  });

  test.each([
    ['an empty key', at('b', ''), 'is empty'],
    ['a key that is too long', at('b', 'k'.repeat(1_025)), '1025 characters'],
    ['half a character', at('b', '\uD800'), 'not valid Unicode'],
  ])('with %s is rejected', (_, to, problem) => {
    const [error] = errors(broker().call(at('a'), rootEvent(), ask(to), moment));
    expect(error?.code).toBe('E_AGENT_REQUEST');
    expect(error?.message).toContain(problem);
  });

  test.each([0, -1, Number.NaN])('with a timeout of %p is rejected', (timeoutMs) => {
    const [error] = errors(broker().call(at('a'), rootEvent(), ask(at('b'), { timeoutMs }), moment));
    expect(error?.code).toBe('E_AGENT_REQUEST');
  });

  test('outside of any turn is rejected', () => {
    expect(errors(broker().call(at('a'), undefined, ask(at('b')), moment))[0]?.code).toBe('E_AGENT_REQUEST');
  });

  test('A-08 ends with E_AGENT_FAILED and the code of the callee when the callee’s turn fails', () => {
    const { calls, event } = openCall();
    const error = { code: 'E_MODEL_FAILED', message: 'overloaded' };
    expect(errors(calls.turnFinished(at('b'), event, { turnId: 't', finishReason: 'error', error }))).toEqual([
      { code: 'E_AGENT_FAILED', message: 'Agent "b" failed (E_MODEL_FAILED): overloaded' },
    ]);
  });

  test('A-08 ends with E_INBOX_FULL when the inbox is full, and sends no cancel', () => {
    const { calls, event } = openCall();
    const actions = calls.refused(event.id, { code: 'E_INBOX_FULL', message: 'full' });
    expect(errors(actions)).toEqual([{ code: 'E_INBOX_FULL', message: 'full' }]);
    expect(actions.map(({ type }) => type)).not.toContain('turn.cancel');
    expect(calls.openCalls).toBe(0);
  });

  test('A-08 to an agent that cannot start ends with the code of the start', () => {
    const { calls, event } = openCall();
    calls.call(at('a'), rootEvent(), ask(at('c'), { callId: 'c2', id: 'e2' }), moment);
    const actions = calls.failCallee(at('b'), { code: 'E_EXT_LOAD', message: 'no such file' });
    expect(errors(actions)).toEqual([
      { code: 'E_AGENT_FAILED', message: 'Agent "b" failed (E_EXT_LOAD): no such file' },
    ]);
    expect(actions).toContainEqual(expect.objectContaining({ type: 'turn.cancel', at: at('b'), eventId: event.id }));
    expect(calls.openCalls).toBe(1);
  });
});

describe('the deadline', () => {
  test('A-03 covers the queue first, then the answer from the start of the turn, and the error names the field', () => {
    const calls = broker();
    const asked = ask(at('b'), { timeoutMs: 15_000, timeoutField: 'requestTimeoutMs' });
    const actions = calls.call(at('a'), rootEvent(), asked, moment);
    const { id } = delivered(actions);
    expect(actions).toContainEqual({ type: 'timer.set', timer: id, at: 20_500 });
    expect(calls.turnStarted(at('b'), id, 9_000)).toContainEqual({ type: 'timer.set', timer: id, at: 24_000 });
    const late = calls.expire(id, 0);
    expect(errors(late)).toEqual([
      {
        code: 'E_AGENT_TIMEOUT',
        message:
          'Agent "b" did not answer within 15000 ms of the start of its turn (the caller\'s policy.requestTimeoutMs).',
      },
    ]);
    expect(late).toContainEqual(expect.objectContaining({ type: 'turn.cancel', at: at('b'), eventId: id }));
  });

  test.each([
    ['queueTimeoutMs', { timeoutMs: 20 }, false, 'did not begin its turn within 20000 ms (its policy.queueTimeoutMs)'],
    ['turnTimeoutMs', {}, true, 'did not answer within 60000 ms of the start of its turn (its policy.turnTimeoutMs)'],
    [
      'timeoutMs',
      { timeoutMs: 20 },
      true,
      'did not answer within 20 ms of the start of its turn (timeoutMs of the request)',
    ],
  ] as const)('A-03 the error of a request that ran out of %s names it', (_, own, hasBegun, problem) => {
    const calls = broker();
    const { id } = delivered(calls.call(at('a'), rootEvent(), ask(at('b'), own), moment));
    if (hasBegun) calls.turnStarted(at('b'), id, 600);
    const late = calls.expire(id, 0);
    expect(errors(late)).toEqual([{ code: 'E_AGENT_TIMEOUT', message: `Agent "b" ${problem}.` }]);
    // The event in the queue is cancelled, too.
    expect(late).toContainEqual({ type: 'turn.cancel', at: at('b'), eventId: id, reason: problem });
  });

  test('A-03 a timeout from the call is the only one, whatever the callee does, and the error names it', () => {
    const calls = broker();
    const frame = ask(at('b'), { timeoutMs: 300, timeoutField: 'requestTimeoutMs', timeoutFrom: 'call' });
    calls.processStarting(at('b'), true, 400);
    const asked = calls.call(at('a'), rootEvent(), frame, moment);
    const { id } = delivered(asked);
    expect(asked).toContainEqual({ type: 'timer.set', timer: id, at: 800 });
    expect([
      calls.processStarting(at('b'), false, 600),
      calls.turnStarted(at('b'), id, 610),
      calls.processGone(at('b'), 700),
      calls.processStarting(at('b'), true, 710),
    ]).toEqual([[], [], [], []]);
    // Only people may let it wait.
    expect(calls.hold(new Set([addressKey(at('b'))]), 750)).toEqual([{ type: 'timer.clear', timer: id }]);
    expect(calls.hold(new Set(), 5_000)).toEqual([{ type: 'timer.set', timer: id, at: 5_050 }]);
    expect(errors(calls.expire(id, 5_050))).toEqual([
      {
        code: 'E_AGENT_TIMEOUT',
        message: 'Agent "b" did not answer within 300 ms (the caller\'s policy.requestTimeoutMs).',
      },
    ]);
  });

  test('A-03 the start of the callee’s process does not count as queue time', () => {
    const { calls, id } = openCall();
    expect(calls.processStarting(at('b'), true, 1_500)).toEqual([{ type: 'timer.clear', timer: id }]);
    const [later] = calls.call(at('c'), rootEvent(), ask(at('b'), { id: 'e2' }), { ...moment, now: 2_000 });
    expect(later?.type).toBe('event.deliver');
    // 1 000 ms of the 20 000 ms have passed already.
    expect(calls.processStarting(at('b'), false, 50_000)).toMatchObject([
      { type: 'timer.set', timer: id, at: 69_000 },
      { type: 'timer.set', at: 70_000 },
    ]);
  });

  test('A-03 after a crash of the callee the request’s own time continues, the callee’s time starts again', () => {
    const calls = broker();
    const own = delivered(calls.call(at('a'), rootEvent(), ask(at('b'), { timeoutMs: 900 }), moment));
    const patient = delivered(calls.call(at('c'), rootEvent(), ask(at('d'), { id: 'e2' }), moment));
    calls.turnStarted(at('b'), own.id, 1_000);
    calls.turnStarted(at('d'), patient.id, 1_000);
    expect(calls.processGone(at('b'), 1_500)).toEqual([]);
    expect(calls.turnStarted(at('b'), own.id, 1_800)).toEqual([]);
    // The request waits again for its turn to start.
    expect(calls.processGone(at('d'), 1_500)).toContainEqual({ type: 'timer.set', timer: patient.id, at: 21_500 });
    expect(calls.turnStarted(at('d'), patient.id, 1_800)).toContainEqual({
      type: 'timer.set',
      timer: patient.id,
      at: 61_800,
    });
  });

  test('A-03 the request’s own time continues while the callee’s next process starts', () => {
    const { calls, id } = openCall({ timeoutMs: 900 });
    calls.turnStarted(at('b'), id, 1_000);
    calls.processGone(at('b'), 1_500);
    expect(calls.processStarting(at('b'), true, 1_600)).toEqual([]);
    expect(calls.processStarting(at('b'), false, 1_700)).toEqual([]);
  });

  test('A-03 only the turn of its own event, at its own callee, starts the time of a request', () => {
    const { calls, id } = openCall({ timeoutMs: 20 });
    expect(calls.turnStarted(at('b'), 'another', 600)).toEqual([]);
    expect(calls.turnStarted(at('b', 'another'), id, 600)).toEqual([]);
    expect(errors(calls.expire(id, 0))[0]?.message).toContain('queueTimeoutMs');
  });

  test('is paused while the callee waits for people, for earlier and for later requests', () => {
    const calls = broker();
    const first = delivered(calls.call(at('a'), rootEvent(), ask(at('b')), moment));
    const other = delivered(calls.call(at('a'), rootEvent(), ask(at('c'), { callId: 'c2', id: 'e2' }), moment));
    const held = new Set([addressKey(at('b'))]);
    expect(calls.hold(held, 1_500)).toEqual([{ type: 'timer.clear', timer: first.id }]);
    expect(calls.hold(held, 1_600)).toEqual([]);
    const late = calls.call(at('d'), rootEvent(), ask(at('b'), { callId: 'c3', id: 'e3', timeoutMs: 20 }), moment);
    expect(calls.turnStarted(at('b'), delivered(late).id, 1_600).map(({ type }) => type)).toEqual(['timer.clear']);
    expect(late.map(({ type }) => type)).toEqual(['event.deliver']);
    const others = new Set([addressKey(at('c'))]);
    expect(calls.hold(others, 100_000)).toEqual([
      // 1 000 ms of the 20 000 ms have passed already.
      { type: 'timer.set', timer: first.id, at: 119_000 },
      { type: 'timer.clear', timer: other.id },
      { type: 'timer.set', timer: delivered(late).id, at: 100_020 },
    ]);
    expect(errors(calls.expire(first.id, 0))).toMatchObject([{ code: 'E_AGENT_TIMEOUT' }]);
  });

  test('tells which instance waits for which', () => {
    const { calls } = openCall();
    calls.call(at('c'), rootEvent(), ask(at('b'), { kind: 'send', id: 'e2' }), moment);
    expect(calls.callersOf(at('b'))).toEqual([at('a')]);
    expect(calls.callersOf(at('a'))).toEqual([]);
  });

  test('A-03 a late reply is reported and dropped, and reaches no other request', () => {
    const calls = broker();
    const first = delivered(calls.call(at('a'), rootEvent(), ask(at('b')), moment));
    calls.expire(first.id, 0);
    const second = delivered(calls.call(at('a'), rootEvent(), ask(at('b'), { callId: 'c2', id: 'e2' }), moment));
    const late = calls.turnFinished(at('b'), first, answered('late'));
    expect(late).toEqual([expect.objectContaining({ type: 'report', event: 'reply.late' })]);
    expect(ends(calls.turnFinished(at('b'), second, answered('in time')))).toMatchObject([{ callId: 'c2' }]);
  });

  test('a timer that fires after the reply does nothing', () => {
    const { calls, event } = openCall();
    calls.turnFinished(at('b'), event, answered('x'));
    expect(calls.expire(event.id, 0)).toEqual([]);
  });

  test('A-03 only the asked instance can answer, not another one of the same agent', () => {
    const { calls, event } = openCall();
    expect(ends(calls.turnFinished(at('c'), event, answered('forged')))).toEqual([]);
    expect(ends(calls.turnFinished(at('b', 'other'), event, answered('forged')))).toEqual([]);
    expect(ends(calls.turnFinished(at('b'), event, answered('true')))).toHaveLength(1);
  });

  test('the end of an event without a request causes no action', () => {
    expect(broker().turnFinished(at('b'), rootEvent(), answered('x'))).toEqual([]);
  });
});

describe('a chain of requests', () => {
  /** Lets each instance ask the next one, in order. Returns the last actions of the broker. */
  const askAlong = (calls: CallBroker, path: readonly AgentAddress[]): CallAction[] => {
    let during = rootEvent();
    let actions: CallAction[] = [];
    for (const [index, to] of path.entries()) {
      const caller = path[index - 1];
      if (caller === undefined) continue;
      actions = calls.call(caller, during, ask(to, { id: `e${index}` }), moment);
      const next = actions.find((action) => action.type === 'event.deliver');
      if (next !== undefined) during = next.event;
    }
    return actions;
  };

  test.each([
    ['A→B→A', ['a', 'b', 'a'], 'a → b → a (instance "default")'],
    ['a self-call', ['a', 'a'], 'a → a (instance "default")'],
    ['a five-cycle', ['a', 'b', 'c', 'd', 'e', 'a'], 'a → b → c → d → e → a (instance "default")'],
    ['a circle that begins later', ['a', 'b', 'c', 'b'], 'a → b → c → b (instance "default")'],
  ])('A-04 %s fails at once and shows the chain', (_, names, chain) => {
    const calls = broker();
    const path = names.map((name) => at(name));
    const actions = askAlong(calls, path);
    expect(errors(actions)).toEqual([
      { code: 'E_AGENT_CYCLE', message: `A request that would wait for itself: ${chain}.` },
    ]);
    expect(calls.openCalls).toBe(path.length - 2);
  });

  test('A-04 the same agent with another key is another instance; the chain shows the keys', () => {
    const calls = broker();
    expect(errors(askAlong(calls, [at('a', 'k1'), at('b', 'k1'), at('a', 'k2')]))).toEqual([]);
    const [error] = errors(askAlong(broker(), [at('a', 'k1'), at('b', 'k2'), at('a', 'k1')]));
    expect(error?.message).toContain('a "k1" → b "k2" → a "k1"');
  });

  test('A-04 a send may form a circle, and ends the chain', () => {
    const calls = broker();
    const toB = delivered(calls.call(at('a'), rootEvent(), ask(at('b')), moment));
    const back = delivered(calls.call(at('b'), toB, ask(at('a'), { kind: 'send' }), moment));
    expect(back.callChain).toBeUndefined();
    expect(back.replyTo).toBeUndefined();
    expect(
      delivered(calls.call(at('a'), rootEvent(), ask(at('a'), { kind: 'send', callId: 'c2' }), moment)).id,
    ).toBeString();
  });

  test('requests may be nested 16 deep', () => {
    const names = Array.from({ length: 18 }, (_, index) => `n${index}`);
    const calls = new CallBroker(() => ({ agents: names, askableBy: () => names, limits: defaultCallLimits, timesOf }));
    const path = names.map((name) => at(name));
    expect(errors(askAlong(calls, path.slice(0, 17)))).toEqual([]);
    const [error] = errors(
      askAlong(
        new CallBroker(() => ({ agents: names, askableBy: () => names, limits: defaultCallLimits, timesOf })),
        path,
      ),
    );
    expect(error?.code).toBe('E_AGENT_DEPTH');
    expect(error?.message).toContain('n16 → n17 (instance "default")');
  });
});

describe('a circle of waiting instances through queues', () => {
  const other = (id: string): AgentEvent => ({ ...rootEvent(), id });

  test('A-04 is rejected at once: two unrelated turns ask each other', () => {
    const calls = broker();
    calls.call(at('a'), other('r1'), ask(at('b')), moment);
    const [error] = errors(calls.call(at('b'), other('r2'), ask(at('a')), moment));
    expect(error?.code).toBe('E_AGENT_DEADLOCK');
    expect(error?.message).toContain('b → a → b (instance "default")');
  });

  test('A-04 is also rejected through several instances', () => {
    const calls = broker();
    calls.call(at('a'), other('r1'), ask(at('b')), moment);
    calls.call(at('b'), other('r2'), ask(at('c')), moment);
    calls.call(at('c'), other('r3'), ask(at('d')), moment);
    expect(errors(calls.call(at('d'), other('r4'), ask(at('a')), moment))[0]).toMatchObject({
      code: 'E_AGENT_DEADLOCK',
      message: expect.stringContaining('d → a → b → c → d'),
    });
    expect(errors(calls.call(at('d'), other('r4'), ask(at('e')), moment))).toEqual([]);
  });

  test('A-04 is allowed after the first request has ended', () => {
    const calls = broker();
    const event = delivered(calls.call(at('a'), other('r1'), ask(at('b')), moment));
    calls.expire(event.id, 0);
    expect(errors(calls.call(at('b'), other('r2'), ask(at('a')), moment))).toEqual([]);
  });

  test('A-04 is rejected while the process of the first caller is down: its turn will be resumed', () => {
    const calls = broker();
    calls.call(at('a'), other('r1'), ask(at('b')), moment);
    calls.processGone(at('a'), 0);
    expect(errors(calls.call(at('b'), other('r2'), ask(at('a')), moment))[0]?.code).toBe('E_AGENT_DEADLOCK');
  });

  test('A-04 does not count sends', () => {
    const calls = broker();
    calls.call(at('a'), other('r1'), ask(at('b'), { kind: 'send' }), moment);
    expect(errors(calls.call(at('b'), other('r2'), ask(at('a')), moment))).toEqual([]);
  });
});

describe('a caller', () => {
  test('cancels: its request ends and the callee is cancelled', () => {
    const { calls, event } = openCall();
    const actions = calls.cancelled(at('a'), 'c1', 0);
    expect(errors(actions)[0]?.code).toBe('E_CANCELLED');
    expect(actions).toContainEqual(expect.objectContaining({ type: 'turn.cancel', at: at('b'), eventId: event.id }));
    expect(calls.cancelled(at('a'), 'c1', 0)).toEqual([]);
  });

  test('cannot cancel the request of another caller', () => {
    const { calls } = openCall();
    expect(calls.cancelled(at('c'), 'c1', 0)).toEqual([]);
    expect(calls.openCalls).toBe(1);
  });

  test('gives up its requests at the end of its turn, and their callees are cancelled', () => {
    const { calls, event } = openCall();
    calls.processGone(at('a'), 0);
    expect(calls.turnFinished(at('a'), rootEvent(), answered('x'))).toEqual([
      { type: 'timer.clear', timer: event.id },
      { type: 'turn.cancel', at: at('b'), eventId: event.id, reason: 'the turn that asked is over' },
    ]);
    expect(calls.finishedCalls).toBe(0);
  });

  test('joins its open request when it asks again after a crash, with the old deadline', () => {
    const { calls, event } = openCall();
    calls.processGone(at('a'), 0);
    expect(calls.call(at('a'), rootEvent(), ask(at('b'), { callId: 'again' }), moment)).toEqual([]);
    expect(ends(calls.turnFinished(at('b'), event, answered('x')))).toMatchObject([{ callId: 'again' }]);
  });

  test('gets the answer or the timeout when it asks again after a crash', () => {
    const { calls, event } = openCall();
    const slow = delivered(calls.call(at('a'), rootEvent(), ask(at('c'), { callId: 'c2', id: 'e2' }), moment));
    calls.processGone(at('a'), 0);
    expect(ends(calls.turnFinished(at('b'), event, answered('x')))).toEqual([]);
    expect(ends(calls.expire(slow.id, 0))).toEqual([]);
    expect(ends(calls.call(at('a'), rootEvent(), ask(at('b'), { callId: 'c3' }), moment))).toMatchObject([
      { callId: 'c3', outcome: { status: 'answered', result: { turnId: 'x' } } },
    ]);
    const again = calls.call(at('a'), rootEvent(), ask(at('c'), { callId: 'c4', id: 'e2' }), moment);
    expect(errors(again)[0]?.code).toBe('E_AGENT_TIMEOUT');
  });

  test('does not get the old answer when it asks another agent with the same id after a crash', () => {
    const { calls } = openCall();
    calls.processGone(at('a'), 0);
    expect(delivered(calls.call(at('a'), rootEvent(), ask(at('c')), moment)).id).toBeString();
  });

  test('two callers with the same ids have two requests, and each gets its own answer', () => {
    const calls = broker();
    const one = delivered(calls.call(at('a', 't1'), rootEvent(), ask(at('b', 'shared')), moment));
    const two = delivered(calls.call(at('a', 't2'), rootEvent(), ask(at('b', 'shared')), moment));
    expect(one.id).not.toBe(two.id);
    expect(ends(calls.turnFinished(at('b', 'shared'), two, answered('two')))).toMatchObject([
      { caller: at('a', 't2') },
    ]);
    expect(ends(calls.turnFinished(at('b', 'shared'), one, answered('one')))).toMatchObject([
      { caller: at('a', 't1') },
    ]);
  });

  test('is ignored the second time when it uses a callId twice', () => {
    const { calls, event } = openCall();
    expect(calls.call(at('a'), rootEvent(), ask(at('c'), { id: 'e2' }), moment)).toEqual([
      expect.objectContaining({ type: 'report', event: 'call.ignored' }),
    ]);
    expect(ends(calls.turnFinished(at('b'), event, answered('x')))).toHaveLength(1);
  });

  test('may cancel one of two frames that wait for one call; the call continues for the other', () => {
    const { calls, event } = openCall();
    calls.call(at('a'), rootEvent(), ask(at('b'), { callId: 'c2' }), moment);
    expect(calls.cancelled(at('a'), 'c1', 0)).toMatchObject([{ type: 'call.end', callId: 'c1' }]);
    expect(ends(calls.turnFinished(at('b'), event, answered('x')))).toMatchObject([{ callId: 'c2' }]);
  });
});

describe('a send', () => {
  test('A-02 is accepted when its event is durable, and not before', () => {
    const calls = broker();
    const actions = calls.call(at('a'), rootEvent(), ask(at('b'), { kind: 'send' }), moment);
    expect(actions.map(({ type }) => type)).toEqual(['event.deliver']);
    expect(calls.delivered(at('b'), delivered(actions))).toEqual([
      { type: 'call.end', caller: at('a'), callId: 'c1', outcome: { status: 'accepted' } },
    ]);
    expect(calls.openCalls).toBe(0);
  });

  test('A-02 A-08 fails with the code when it is rejected', () => {
    const { calls, event } = openCall({ kind: 'send' });
    expect(errors(calls.refused(event.id, { code: 'E_INBOX_FULL', message: 'full' }))).toHaveLength(1);
  });

  test('is the same event in a resumed turn', () => {
    const frame = ask(at('b'), { kind: 'send' });
    const first = delivered(broker().call(at('a'), rootEvent(), frame, moment));
    const again = delivered(broker().call(at('a'), rootEvent(), { ...frame, callId: 'c9' }, moment));
    expect(again).toEqual(first);
  });

  test('A-02 is not cancelled when its turn ends before the disk answers', () => {
    const { calls, event } = openCall({ kind: 'send' });
    expect(calls.turnFinished(at('a'), rootEvent(), answered('x'))).toEqual([]);
    expect(ends(calls.delivered(at('b'), event))).toHaveLength(1);
  });

  test('a request given up during the write of its event is cancelled after the write', () => {
    const givingUp: ((calls: CallBroker, event: AgentEvent) => void)[] = [
      (calls, event) => void calls.expire(event.id, 0),
      (calls) => void calls.cancelled(at('a'), 'c1', 0),
      (calls) => void calls.turnFinished(at('a'), rootEvent(), answered('x')),
    ];
    for (const giveUp of givingUp) {
      const { calls, event } = openCall();
      giveUp(calls, event);
      expect(calls.delivered(at('b'), event)).toMatchObject([{ type: 'turn.cancel', at: at('b'), eventId: event.id }]);
    }
  });

  test('acceptance does not end a request', () => {
    const { calls, event } = openCall();
    expect(calls.delivered(at('b'), event)).toEqual([]);
    expect(calls.openCalls).toBe(1);
  });
});

describe('the limits', () => {
  const askMany = (calls: CallBroker, caller: AgentAddress, count: number) =>
    Array.from({ length: count }, (_, index) =>
      errors(calls.call(caller, rootEvent(), ask(at('e'), { callId: `c${index}`, id: `e${index}` }), moment)),
    ).flat();

  test('calls per instance', () => {
    const calls = broker({ openCallsPerCaller: 3 });
    expect(askMany(calls, at('a'), 5).map(({ code }) => code)).toEqual(['E_CALLS_FULL', 'E_CALLS_FULL']);
    expect(askMany(calls, at('b'), 3)).toEqual([]);
  });

  test('calls in total', () => {
    const calls = broker({ openCalls: 4 });
    expect(askMany(calls, at('a'), 3)).toEqual([]);
    expect(askMany(calls, at('b'), 3).map(({ code }) => code)).toEqual(['E_CALLS_FULL', 'E_CALLS_FULL']);
  });

  test('frames per call', () => {
    const calls = broker({ waitersPerCall: 2 });
    const many = ['c1', 'c2', 'c3'].flatMap((callId) =>
      errors(calls.call(at('a'), rootEvent(), ask(at('b'), { callId }), moment)),
    );
    expect(many.map(({ code }) => code)).toEqual(['E_CALLS_FULL']);
  });

  test('remembered outcomes: the oldest is dropped, and its request is delivered again, with the same id', () => {
    const calls = broker({ finishedCalls: 2 });
    const events = ['e1', 'e2', 'e3'].map((id) =>
      delivered(calls.call(at('a'), rootEvent(), ask(at('b'), { callId: id, id }), moment)),
    );
    for (const event of events) calls.turnFinished(at('b'), event, answered(event.id));
    expect(calls.finishedCalls).toBe(2);
    const again = calls.call(at('a'), rootEvent(), ask(at('b'), { callId: 'x', id: 'e1' }), moment);
    expect(delivered(again).id).toBe(events[0]?.id ?? '');
    expect(ends(calls.call(at('a'), rootEvent(), ask(at('b'), { callId: 'y', id: 'e3' }), moment))).toHaveLength(1);
  });

  test('outcomes are forgotten with the asking turn', () => {
    const { calls, event } = openCall();
    calls.turnFinished(at('b'), event, answered('x'));
    expect(calls.finishedCalls).toBe(1);
    calls.turnFinished(at('a'), rootEvent(), answered('y'));
    expect(calls.finishedCalls).toBe(0);
  });
});

test('tells waiting and awaited instances, for the slots', () => {
  const calls = broker();
  calls.call(at('a'), rootEvent(), ask(at('b')), moment);
  calls.call(at('c'), rootEvent(), ask(at('d'), { kind: 'send' }), moment);
  const all = ['a', 'b', 'c', 'd'].map((name) => [calls.isWaiting(at(name)), calls.isAwaited(at(name))]);
  expect(all).toEqual([
    [true, false],
    [false, true],
    [false, false],
    [false, false],
  ]);
});

describe('the tokens of a callee', () => {
  const used = { inputTokens: 300, outputTokens: 4, totalTokens: 304 };

  test('Y-03 go to the caller with the answer, with a failure, and with an answer of an earlier process', () => {
    const calls = broker();
    const asked = (number: number) =>
      delivered(calls.call(at('a'), rootEvent(), ask(at('b'), { callId: `c${number}`, id: `e${number}` }), moment));
    const [first, second, third] = [asked(1), asked(2), asked(3)];
    expect(ends(calls.turnFinished(at('b'), first, answered('x'), used))).toMatchObject([
      { outcome: { status: 'answered', usage: used } },
    ]);
    const failure = { turnId: 'turn', finishReason: 'error', error: { message: 'no' } } as const;
    expect(ends(calls.turnFinished(at('b'), second, failure, used))).toMatchObject([
      { outcome: { status: 'failed', usage: used } },
    ]);
    expect(ends(calls.replied(at('b'), third.id, answered('x'), used))).toMatchObject([
      { outcome: { status: 'answered', usage: used } },
    ]);
  });

  test.each<[string, (calls: CallBroker, event: AgentEvent) => CallAction[]]>([
    ['timed out', (calls, event) => calls.expire(event.id, 1_000)],
    ['was cancelled', (calls) => calls.cancelled(at('a'), 'c1', 1_000)],
  ])('Y-03 a request that %s ends at once, and its tokens follow with the end of its callee', (_, giveUp) => {
    const { calls, event } = openCall();
    calls.turnStarted(at('b'), event.id, 500);
    const actions = giveUp(calls, event);
    expect(actions).toContainEqual({ type: 'timer.set', timer: event.id, at: 6_000 });
    expect(ends(actions)).toMatchObject([{ callId: 'c1', outcome: { status: 'failed', usageFollows: true } }]);
    // Nobody waits for the callee any more, not even to refuse a request of it as a circle.
    expect([calls.openCalls, calls.isWaiting(at('a')), calls.callersOf(at('b'))]).toEqual([0, false, []]);
    const back = delivered(calls.call(at('b'), { ...rootEvent(), id: 'other' }, ask(at('a')), moment));
    calls.refused(back.id, { code: 'E_INBOX_FULL', message: 'full' });
    // A resumed caller that asks again gets the same, also the tokens that follow.
    calls.processGone(at('a'), 1_100);
    const again = calls.call(at('a'), rootEvent(), ask(at('b'), { callId: 'c2' }), moment);
    expect(ends(again)).toMatchObject([{ callId: 'c2', outcome: { status: 'failed', usageFollows: true } }]);
    expect(
      calls.turnFinished(at('c'), event, answered('forged'), used).filter(({ type }) => type !== 'report'),
    ).toEqual([]);
    const late = calls.turnFinished(at('b'), event, answered('late'), used);
    expect(late.map(({ type }) => type)).toEqual(['timer.clear', 'call.end', 'report']);
    const [end] = ends(late);
    expect(end).toMatchObject({ callId: 'c2', outcome: { status: 'failed', usage: used } });
    expect(end?.outcome).not.toHaveProperty('usageFollows');
    expect(calls.expire(event.id, 6_000)).toEqual([]);
    const later = calls.call(at('a'), rootEvent(), ask(at('b'), { callId: 'c3' }), moment);
    expect(ends(later)).toEqual([{ ...ends(late)[0], callId: 'c3' } as never]);
  });

  test('Y-03 tokens of a given-up request are waited for a bounded time, and only while the turn of the caller runs', () => {
    const { calls, event } = openCall();
    calls.turnStarted(at('b'), event.id, 500);
    calls.expire(event.id, 1_000);
    expect(calls.processGone(at('b'), 1_500)).toEqual([]);
    const [end, ...others] = ends(calls.expire(event.id, 6_000));
    expect([end?.outcome.status, others]).toEqual(['failed', []]);
    expect(end?.outcome).not.toContainAnyKeys(['usage', 'usageFollows']);

    const next = delivered(calls.call(at('a'), rootEvent(), ask(at('b'), { callId: 'c2', id: 'e2' }), moment));
    calls.turnStarted(at('b'), next.id, 500);
    calls.expire(next.id, 1_000);
    expect(calls.turnFinished(at('a'), rootEvent(), answered('x'))).toEqual([{ type: 'timer.clear', timer: next.id }]);
    expect(ends(calls.turnFinished(at('b'), next, answered('late'), used))).toEqual([]);
  });

  test('Y-03 no tokens follow to a caller that has gone to another node', () => {
    const { calls, event } = openCall();
    calls.turnStarted(at('b'), event.id, 500);
    calls.expire(event.id, 1_000);
    expect(calls.moved(at('a'))).toEqual([{ type: 'timer.clear', timer: event.id }]);
    expect(ends(calls.turnFinished(at('b'), event, answered('late'), used))).toEqual([]);
  });

  test('A-01 a resumed caller does not send a request again whose tokens follow, even if its outcome is forgotten', () => {
    const calls = broker({ finishedCalls: 1 });
    const event = delivered(calls.call(at('a'), rootEvent(), ask(at('b')), moment));
    calls.turnStarted(at('b'), event.id, 500);
    calls.expire(event.id, 1_000);
    const other = delivered(calls.call(at('c'), rootEvent(), ask(at('d'), { id: 'e2' }), moment));
    calls.turnFinished(at('d'), other, answered('x'));
    calls.processGone(at('a'), 1_100);
    const again = calls.call(at('a'), rootEvent(), ask(at('b'), { callId: 'c2' }), moment);
    expect(again).toMatchObject([
      { type: 'call.end', callId: 'c2', outcome: { status: 'failed', usageFollows: true } },
    ]);
    expect(ends(calls.expire(event.id, 6_000))).toMatchObject([{ callId: 'c2', outcome: { status: 'failed' } }]);
  });

  test('Y-03 no tokens follow a request whose turn never began, or if too many are waited for', () => {
    const calls = broker({ lateUsages: 1 });
    const asked = ['b', 'c', 'd'].map((name, index) =>
      delivered(calls.call(at('a'), rootEvent(), ask(at(name), { callId: `c${index}`, id: `e${index}` }), moment)),
    );
    for (const [index, name] of ['b', 'c'].entries()) calls.turnStarted(at(name), asked[index]?.id ?? '', 500);
    const follows = asked.flatMap(({ id }) =>
      ends(calls.expire(id, 1_000)).map(({ outcome }) => 'usageFollows' in outcome),
    );
    expect(follows).toEqual([true, false, false]);
  });
});
