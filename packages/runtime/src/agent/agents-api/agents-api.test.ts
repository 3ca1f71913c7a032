import { describe, expect, expectTypeOf, test } from 'bun:test';
import {
  type AgentEvent,
  type AgentRequest,
  type AgentsApi,
  type AgentSend,
  type ExtensionRegister,
  GoondanError,
  type JsonObject,
  type JsonValue,
} from '@goondan/types';
import {
  extension,
  inProcessEngine,
  manualClock,
  scriptedAgent,
  type ScriptedAgentOptions,
} from '../../testing/index.ts';
import { answer, engineWithEcho } from '../../testing/engine-with-echo.ts';
import { beforeNext } from '../../testing/one-layer.ts';
import { z } from 'zod';
import { systemClock } from '../../ports/clock.ts';
import { type Engine, noEngine } from '../seams/engine.ts';

/** Calls `call` with the `agents` API of a layer or a tool. Returns the outcome. */
async function use(
  engine: Engine,
  call: (agents: AgentsApi) => Promise<unknown>,
  {
    from = 'turn',
    ...options
  }: { from?: 'turn' | 'step' | 'tool'; event?: Partial<AgentEvent> } & Partial<ScriptedAgentOptions> = {},
): Promise<unknown> {
  const outcomes: unknown[] = [];
  const note = async (agents: AgentsApi) => void outcomes.push(await call(agents).catch((error: unknown) => error));
  const register: ExtensionRegister = ({ pipeline, tools }) => {
    pipeline.register('turn', async (ctx) => {
      if (from === 'turn') await note(ctx.agents);
      return ctx.next();
    });
    pipeline.register('step', async (ctx) => {
      if (from === 'step' && ctx.stepIndex === 0) await note(ctx.agents);
      return ctx.next();
    });
    tools.register({ name: 'caller__call', description: 'Calls.' }, (ctx) =>
      from === 'tool' ? note(ctx.agents) : null,
    );
  };
  const { event, ...plan } = options;
  const agent = await scriptedAgent({
    agentName: 'coder',
    instanceKey: 'room-1',
    engine,
    script: [{ when: 'go', call: { tool: 'caller__call' } }, { say: 'done' }],
    ...plan,
    extensions: [extension('caller', register)],
  });
  expect((await agent.say('go', { event: { id: 'e1', traceId: 'trace-7', ...event } })).text).toBe('done');
  expect(outcomes).toHaveLength(1);
  return outcomes[0];
}

describe('asking another agent', () => {
  test.each(['turn', 'step', 'tool'] as const)('A-01 request from a %s returns target and response', async (from) => {
    const request = (agents: AgentsApi) => agents.request({ target: 'echo', input: 'tea' });
    expect(await use(engineWithEcho(), request, { from })).toEqual({ target: 'echo', response: 'echo: tea' });
  });

  test.each(['turn', 'step', 'tool'] as const)(
    'A-02 send from a %s returns that it was accepted, and does not wait',
    async (from) => {
      const engine = inProcessEngine(systemClock);
      engine.add('sleeper', () => new Promise(() => undefined));
      const send = (agents: AgentsApi) => agents.send({ target: 'sleeper', input: 'good night' });
      expect(await use(engine, send, { from })).toEqual({ accepted: true });
      expect(engine.calls.map(({ event }) => event.input)).toEqual(['good night']);
    },
  );

  test('A-01 the event has its sender and the trace, and goes to the instance with the same key', async () => {
    const engine = engineWithEcho();
    await use(engine, (agents) => agents.request({ target: 'echo', input: 'tea' }));
    expect(engine.calls).toEqual([
      {
        to: { agentName: 'echo', instanceKey: 'room-1' },
        event: {
          id: expect.stringContaining('turn-e1:'),
          type: 'agent.message',
          input: 'tea',
          instanceKey: 'room-1',
          source: { kind: 'agent', name: 'coder' },
          traceId: 'trace-7',
          parentSpanId: expect.stringMatching(/^[0-9a-f]{16}$/),
          createdAt: expect.any(Date),
        },
      },
    ]);
  });

  test('A-01 another instanceKey goes to that instance', async () => {
    const engine = engineWithEcho();
    await use(engine, (agents) => agents.request({ target: 'echo', instanceKey: 'room-2' }));
    expect(engine.calls[0]).toMatchObject({
      to: { agentName: 'echo', instanceKey: 'room-2' },
      event: { instanceKey: 'room-2' },
    });
    expect(engine.calls[0]?.event).not.toHaveProperty('input');
  });

  test('every call has its own id, which is the same if the turn runs again', async () => {
    const ids = async () => {
      const engine = engineWithEcho();
      await use(engine, async (agents) => {
        await agents.request({ target: 'echo' });
        await agents.send({ target: 'echo' });
        await agents.request({ target: 'echo' });
      });
      return engine.calls.map(({ event }) => event.id);
    };
    const first = await ids();
    expect(new Set(first).size).toBe(3);
    expect(await ids()).toEqual(first);
  });

  test('A-03 the timeout is 15 000 ms from the call, unless the policy or the call sets another', async () => {
    const timeouts: Parameters<Engine['request']>[2][] = [];
    const engine: Engine = {
      ...noEngine,
      deliver: async () => ({ accepted: true }),
      request: async (_to, _event, timeout) => {
        timeouts.push(timeout);
        return answer('');
      },
    };
    await use(engine, (agents) => agents.request({ target: 'echo' }));
    await use(engine, (agents) => agents.request({ target: 'echo' }), { policy: { requestTimeoutMs: 70 } });
    await use(engine, (agents) => agents.request({ target: 'echo', timeoutMs: 5 }), {
      policy: { requestTimeoutMs: 70 },
    });
    expect(timeouts).toEqual([
      { ms: 15_000, field: 'requestTimeoutMs', from: 'call' },
      { ms: 70, field: 'requestTimeoutMs', from: 'call' },
      { ms: 5, field: 'timeoutMs', from: 'call' },
    ]);
  });

  test.each([Number.POSITIVE_INFINITY, 2 ** 40])(
    'a timeout of %p ms is limited to the time of the turn',
    async (timeoutMs) => {
      const timeouts: Parameters<Engine['request']>[2][] = [];
      const request: Engine['request'] = async (_to, _event, given) => {
        timeouts.push(given);
        return answer('');
      };
      await use({ ...noEngine, request }, (agents) => agents.request({ target: 'echo', timeoutMs }));
      expect(timeouts).toEqual([{ ms: 1_800_000, field: 'timeoutMs', from: 'call' }]);
    },
  );

  test('A-03 a late answer is a coded error with target and time', async () => {
    const engine = inProcessEngine(systemClock);
    engine.add('sleeper', () => new Promise(() => undefined));
    expect(await use(engine, (agents) => agents.request({ target: 'sleeper', timeoutMs: 3 }))).toMatchObject({
      code: 'E_AGENT_TIMEOUT',
      message: 'Agent "sleeper" did not answer within 3 ms (timeoutMs of the request).',
    });
  });

  test('A-06 an unknown target is a coded error that lists the agents', async () => {
    for (const call of [
      (agents: AgentsApi) => agents.request({ target: 'nobody' }),
      (agents: AgentsApi) => agents.send({ target: 'nobody' }),
    ]) {
      expect(await use(engineWithEcho(), call)).toMatchObject({
        code: 'E_AGENT_UNKNOWN',
        message: 'There is no agent "nobody". Agents: echo.',
      });
    }
  });

  test('A-06 an agent that runs alone can call no agent, and gets a coded error', async () => {
    const errors: unknown[] = [];
    const agent = await scriptedAgent({
      extensions: [
        beforeNext('caller', 'turn', async (ctx) => {
          errors.push(await ctx.agents.request({ target: 'echo' }).catch((error: unknown) => error));
          errors.push(await ctx.agents.send({ target: 'echo' }).catch((error: unknown) => error));
        }),
      ],
    });
    await agent.say('hello');
    const expected = { code: 'E_AGENT_UNKNOWN', message: 'There is no agent "echo": this agent runs alone.' };
    expect(errors).toEqual([expect.objectContaining(expected), expect.objectContaining(expected)]);
  });

  test('A-08 metadata arrives with the event, as a copy', async () => {
    const engine = engineWithEcho();
    const metadata = { thread: { id: 1 }, empty: undefined };
    await use(engine, (agents) => agents.request({ target: 'echo', metadata }));
    metadata.thread.id = 2;
    expect(engine.calls[0]?.event.metadata).toEqual({ thread: { id: 1 } });
  });

  test('A-08 a callee whose turn fails rejects the request with a code and its own reason', async () => {
    const engine = inProcessEngine(systemClock);
    engine.add('broken', async () => ({
      turnId: 'turn-x',
      finishReason: 'error',
      error: { message: 'overloaded', code: 'E_MODEL_FAILED' },
    }));
    expect(await use(engine, (agents) => agents.request({ target: 'broken' }))).toMatchObject({
      code: 'E_AGENT_FAILED',
      message: 'Agent "broken" failed (E_MODEL_FAILED): overloaded',
    });
  });

  test('A-08 the engine’s own errors are passed on unchanged', async () => {
    const full = new GoondanError('E_INBOX_FULL', 'Too much is waiting.');
    const engine: Engine = { ...noEngine, deliver: () => Promise.reject(full), request: () => Promise.reject(full) };
    expect(await use(engine, (agents) => agents.request({ target: 'busy' }))).toBe(full);
    expect(await use(engine, (agents) => agents.send({ target: 'busy' }))).toBe(full);
  });

  test('A-09 auth is passed on unchanged, and no parameter can set it', async () => {
    const engine = engineWithEcho();
    const auth = { user: 'mina', roles: ['reader'] };
    const forged = { target: 'echo', auth: { user: 'root' } } as AgentRequest;
    for (const call of ['request', 'send'] as const) {
      expect(await use(engine, (agents) => agents[call](forged), { event: { auth } })).toMatchObject({
        code: 'E_AGENT_REQUEST',
      });
      expect(await use(engine, (agents) => agents[call]({ target: 'echo' }), { event: { auth } })).toBeDefined();
    }
    await use(engine, (agents) => agents.request({ target: 'echo' }));
    expect(engine.calls.map(({ event }) => [event.auth, event.source.name])).toEqual([
      [auth, 'coder'],
      [auth, 'coder'],
      [undefined, 'coder'],
    ]);
  });

  test.each(['turn', 'step', 'tool'] as const)('a %s sees the agents it can ask, and their instances', async (from) => {
    const instances = [{ agentName: 'echo', instanceKey: 'room-1', status: 'idle' as const }];
    const engine: Engine = { ...engineWithEcho(), list: async () => instances };
    const look = async (agents: AgentsApi) => [agents.catalog(), await agents.list()];
    expect(await use(engine, look, { from })).toEqual([[{ name: 'echo' }], instances]);
  });

  test('the catalog is a copy: a layer may change it', async () => {
    const cards = [{ name: 'echo', description: 'Says it again.' }];
    const catalog = async (agents: AgentsApi) => {
      for (const card of agents.catalog()) Reflect.set(card, 'description', 'changed');
      Reflect.set(agents.catalog(), 'length', 0);
      return agents.catalog();
    };
    expect(await use({ ...noEngine, catalog: () => cards }, catalog)).toEqual([
      { name: 'echo', description: 'Says it again.' },
    ]);
  });

  test('a request ends when the turn is cancelled', async () => {
    const engine = inProcessEngine(manualClock());
    engine.add('sleeper', () => new Promise(() => undefined));
    const cancel = new AbortController();
    const agent = await scriptedAgent({
      engine,
      extensions: [
        beforeNext('caller', 'turn', async (ctx) => {
          queueMicrotask(() => cancel.abort());
          await ctx.agents.request({ target: 'sleeper' });
        }),
      ],
    });
    const { result } = await agent.say('hello', { signal: cancel.signal });
    expect(result.error).toMatchObject({ code: 'E_CANCELLED' });
  });
});

describe('parameters that are wrong', () => {
  test.each<[string, unknown]>([
    ['target must name an agent', undefined],
    ['target must name an agent', {}],
    ['target must name an agent', { target: '' }],
    ['target must name an agent', { target: 7 }],
    ['input must be a text', { target: 'echo', input: { text: 'tea' } }],
    ['instanceKey must be a text', { target: 'echo', instanceKey: '' }],
    ['target has 4097 characters; 4096 are allowed', { target: 'x'.repeat(4_097) }],
    ['instanceKey has 5000 characters; 4096 are allowed', { target: 'echo', instanceKey: 'x'.repeat(5_000) }],
    ['timeoutMs must be above 0', { target: 'echo', timeoutMs: 0 }],
    ['timeoutMs must be above 0', { target: 'echo', timeoutMs: Number.NaN }],
    ['timeoutMs must be above 0', { target: 'echo', timeoutMs: '5s' }],
    ['metadata must be JSON, but at is a Date, not a plain object', { target: 'echo', metadata: { at: new Date(0) } }],
    ['"message" is not a field of a request; the nearest field is "input"', { target: 'echo', message: 'tea' }],
    ['"timeout" is not a field of a request; the nearest field is "timeoutMs"', { target: 'echo', timeout: 5 }],
    ['metadata must be JSON, but the value is an array, not an object', { target: 'echo', metadata: [] }],
  ])('A-01 %s: refused with a code, and no agent is called', async (problem, params) => {
    const engine = engineWithEcho();
    // The cast imitates an extension in plain JavaScript, which no types check.
    expect(await use(engine, (agents) => agents.request(params as AgentRequest))).toMatchObject({
      code: 'E_AGENT_REQUEST',
      message: `A call to another agent: ${problem}.`,
    });
    expect(engine.calls).toEqual([]);
  });

  test('an unknown field of a send is refused with the nearest known one, and no agent is called', async () => {
    const engine = engineWithEcho();
    expect(await use(engine, (agents) => agents.send({ target: 'echo', text: 'tea' } as AgentSend))).toMatchObject({
      code: 'E_AGENT_REQUEST',
      message: 'A call to another agent: "text" is not a field of a send; the nearest field is "input".',
    });
    expect(engine.calls).toEqual([]);
  });

  test('Y-01 a send that demands an answer is refused, and no agent is called', async () => {
    const engine = engineWithEcho();
    const demanding = { target: 'echo', output: { schema: { type: 'object' } } };
    // The cast imitates an extension in plain JavaScript, which no types check.
    expect(await use(engine, (agents) => agents.send(demanding as AgentSend))).toMatchObject({
      code: 'E_AGENT_REQUEST',
      message: 'A call to another agent: a send has no answer, so it cannot have "output"; use a request.',
    });
    expect(engine.calls).toEqual([]);
  });
});

describe('a request for an answer that fits a schema', () => {
  const weather = z.object({ city: z.string(), tempC: z.number() });

  /** Creates an engine whose agent answers with this output, and keeps the events that it gets. */
  function engineWith(output: JsonValue) {
    const engine = inProcessEngine(systemClock);
    const events: AgentEvent[] = [];
    engine.add('clerk', async (event) => {
      events.push(event);
      return { ...answer(JSON.stringify(output)), output };
    });
    return { engine, events };
  }

  test('Y-01 sends a plain JSON Schema, and gets the output with the type of the schema', async () => {
    const { engine, events } = engineWith({ city: 'Seoul', tempC: 21 });
    const outcome = await use(engine, async (agents) => {
      const schema = weather.transform(({ tempC }) => tempC);
      const asked = await agents.request({ target: 'clerk', input: 'x', output: { schema, retries: 1 } });
      expectTypeOf(asked.output).toEqualTypeOf<number | undefined>();
      return asked;
    });
    expect(outcome).toEqual({ target: 'clerk', response: '{"city":"Seoul","tempC":21}', output: 21 });
    expect(events[0]?.output).toEqual({
      schema: {
        type: 'object',
        properties: { city: { type: 'string' }, tempC: { type: 'number' } },
        required: ['city', 'tempC'],
      },
      retries: 1,
    });
  });

  test('Y-01 rejects with a code: a schema that cannot be used, and an answer that the library refuses', async () => {
    const { engine, events } = engineWith({ city: 'Seoul', tempC: 21 });
    const demand = (schema: object) => (agents: AgentsApi) =>
      agents.request({ target: 'clerk', output: { schema: schema as JsonObject } });
    expect(await use(engine, demand({ nope: 1 }))).toMatchObject({ code: 'E_OUTPUT_INVALID' });
    expect(events).toEqual([]);
    const cold = weather.refine(({ tempC }) => tempC < 10, 'is too warm');
    expect(await use(engine, demand(cold))).toMatchObject({
      code: 'E_OUTPUT_SCHEMA',
      message: 'The answer of agent "clerk" does not fit the demanded schema: the value: is too warm.',
    });
  });

  test('Y-01 the result of a request without a demand has the output of an agent that always has one', async () => {
    const { engine } = engineWith(['a']);
    const outcome = await use(engine, (agents) => agents.request({ target: 'clerk', input: 'x' }));
    expect(outcome).toEqual({ target: 'clerk', response: '["a"]', output: ['a'] });
  });
});
