import { describe, expect, test } from 'bun:test';
import {
  type AgentInstance,
  type JsonObject,
  type ModelReply,
  type ToolCallMiddlewareContext,
  type ToolCallResult,
} from '@goondan/types';
import { systemClock } from '../../ports/clock.ts';
import {
  extension,
  inProcessEngine,
  manualClock,
  scriptedAgent,
  type ScriptedAgentOptions,
} from '../../testing/index.ts';
import { answer, engineWithEcho } from '../../testing/engine-with-echo.ts';
import { afterNext, beforeNext } from '../../testing/one-layer.ts';
import type { TurnRecord } from '../conversation/conversation-store.ts';
import type { Model } from '../model/model-port.ts';
import type { Engine } from '../seams/engine.ts';
import { interruptedStore, recordingStore, recordsUpTo } from '../../testing/turn-records.ts';

interface Call {
  readonly tool: string;
  readonly args?: JsonObject;
}

/** Creates a model that makes these calls at once, and then says that it is done. */
function askingModel(calls: readonly Call[]): Model {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const asked: ModelReply['content'] = calls.map(({ tool, args = {} }, number) => ({
    type: 'tool-call',
    toolCallId: `call_${number}`,
    toolName: tool,
    input: args,
  }));
  return {
    generate: async ({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? { content: asked, finishReason: 'tool-calls', usage }
        : { content: [{ type: 'text', text: 'done' }], finishReason: 'stop', usage },
  };
}

/** Starts an agent whose model makes these calls in its first step. `results` collects the results of the calls. */
async function startCaller(calls: readonly Call[], options: ScriptedAgentOptions) {
  const results: ToolCallResult[] = [];
  const watcher = afterNext('watcher', 'step', (result) => results.push(...result.toolResults));
  const agent = await scriptedAgent({
    agentName: 'coder',
    instanceKey: 'room-1',
    agentTools: true,
    model: askingModel(calls),
    ...options,
    extensions: [watcher, ...(options.extensions ?? [])],
  });
  return { agent, results, say: () => agent.say('go', { event: { id: 'e1', auth: { user: 'mina' } } }) };
}

/** Runs one turn with these calls, and returns their results. The turn always continues to its answer. */
async function call(calls: readonly Call[], options: ScriptedAgentOptions): Promise<ToolCallResult[]> {
  const { results, say } = await startCaller(calls, options);
  expect((await say()).text).toBe('done');
  return results;
}

const one = async (tool: string, args: JsonObject, options: ScriptedAgentOptions) =>
  (await call([{ tool, args }], options))[0];

describe('the tools for calling other agents', () => {
  test('are offered only when the plan has agentTools', async () => {
    const names = async (options: ScriptedAgentOptions) => {
      const agent = await scriptedAgent(options);
      await agent.say('hello');
      return agent.requests[0]?.tools.map(({ name }) => name);
    };
    const all = ['agents__request', 'agents__send', 'agents__list', 'agents__catalog'];
    expect(await names({ agentTools: true })).toEqual(all);
    expect(await names({ agentTools: false })).toEqual([]);
    expect(await names({})).toEqual([]);
  });

  test('declare their effects, for layers that decide', async () => {
    const agent = await scriptedAgent({ agentTools: true });
    await agent.say('hello');
    expect(agent.requests[0]?.tools.map(({ name, annotations }) => [name, annotations])).toEqual([
      ['agents__request', { effects: 'external', idempotent: true }],
      ['agents__send', { effects: 'external', idempotent: true }],
      ['agents__list', { effects: 'none', idempotent: true }],
      ['agents__catalog', { effects: 'none', idempotent: true }],
    ]);
  });

  test('a declared tool of the same name is refused', async () => {
    const tools = [
      { name: 'agents', exports: [{ name: 'send', description: 'Mine.' }], handlers: { send: () => 'mine' } },
    ];
    const refused = await scriptedAgent({ agentTools: true, tools }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'E_TOOL_TAKEN', message: 'Two declared tools are called "agents__send".' });
    expect((await scriptedAgent({ tools })).agent.parts.tools.get('agents__send')).toBeDefined();
  });

  test('X-09 cannot be replaced by an extension', async () => {
    const usurper = extension('usurper', ({ tools }) =>
      tools.register({ name: 'agents__send', description: 'Mine.' }, () => 'mine'),
    );
    const refused = await scriptedAgent({ agentTools: true, extensions: [usurper] }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'E_EXT_INIT', cause: expect.objectContaining({ code: 'E_TOOL_TAKEN' }) });
  });

  test('P-19 pass the toolCall chain like any other tool', async () => {
    const engine = engineWithEcho();
    const guard = beforeNext('guard', 'toolCall', (ctx) => {
      ctx.args = { ...ctx.args, input: 'guarded' };
    });
    expect(
      await one('agents__request', { target: 'echo', input: 'tea' }, { engine, extensions: [guard] }),
    ).toMatchObject({ output: { target: 'echo', response: 'echo: guarded' } });
  });
});

test.each(['agents__request', 'agents__send'])('A-06 %s to an unknown agent gives an error result', async (tool) => {
  expect(await one(tool, { target: 'nobody' }, { engine: engineWithEcho() })).toMatchObject({
    status: 'error',
    error: { code: 'E_AGENT_UNKNOWN' },
  });
});

describe('agents__request', () => {
  test('A-08 passes on every parameter, A-09 and auth, which no parameter sets', async () => {
    const engine = engineWithEcho();
    const metadata = { thread: { id: 1 } };
    await one('agents__request', { target: 'echo', input: 'tea', instanceKey: 'room-2', metadata }, { engine });
    expect(engine.calls).toMatchObject([
      {
        to: { agentName: 'echo', instanceKey: 'room-2' },
        event: {
          id: 'turn-e1:0/call/call_0/agent/0',
          input: 'tea',
          instanceKey: 'room-2',
          metadata,
          source: { kind: 'agent', name: 'coder' },
          auth: { user: 'mina' },
        },
      },
    ]);
    const forged = await one('agents__request', { target: 'echo', auth: { user: 'root' } }, { engine });
    expect(forged).toMatchObject({ status: 'error', error: { code: 'E_TOOL_ARGUMENTS' } });
    expect(engine.calls).toHaveLength(1);
  });

  test.each<JsonObject>([
    {},
    { target: '' },
    { target: 7 },
    { target: 'echo', input: { text: 'tea' } },
    { target: 'echo', instanceKey: '' },
    { target: 'echo', timeoutMs: 0 },
    { target: 'echo', timeoutMs: 'soon' },
    { target: 'echo', metadata: 'none' },
  ])('%j is refused as wrong arguments, and no agent is called', async (args) => {
    const engine = engineWithEcho();
    expect(await one('agents__request', args, { engine })).toMatchObject({ error: { code: 'E_TOOL_ARGUMENTS' } });
    expect(engine.calls).toEqual([]);
  });

  test('A-03 waits as long as the callee’s turn may run, unless the call or the policy sets a timeout', async () => {
    const timeouts: Parameters<Engine['request']>[2][] = [];
    const engine: Engine = {
      ...engineWithEcho(),
      request: async (_to, _event, timeout) => {
        timeouts.push(timeout);
        return answer('');
      },
    };
    const calls = [
      { tool: 'agents__request', args: { target: 'echo' } },
      { tool: 'agents__request', args: { target: 'echo', timeoutMs: 5 } },
    ];
    await call(calls, { engine });
    await call(calls, { engine, policy: { requestTimeoutMs: 70 } });
    const byCall = { ms: 5, field: 'timeoutMs', from: 'turn' } as const;
    expect(timeouts).toEqual([undefined, byCall, { ms: 70, field: 'requestTimeoutMs', from: 'turn' }, byCall]);
  });

  test('A-03 ends at its own timeout, even if a tool’s time is shorter', async () => {
    const clock = manualClock();
    const engine = inProcessEngine(clock);
    engine.add('sleeper', () => new Promise(() => undefined));
    const args = { target: 'sleeper', timeoutMs: 5_000 };
    const { results, say } = await startCaller([{ tool: 'agents__request', args }], {
      engine,
      clock,
      policy: { toolTimeoutMs: 100 },
    });
    const turn = say();
    await clock.advance(4_999);
    expect(results).toEqual([]);
    await clock.advance(1);
    await turn;
    expect(results).toMatchObject([
      {
        error: {
          code: 'E_AGENT_TIMEOUT',
          message: 'Agent "sleeper" did not answer within 5000 ms of the start of its turn (timeoutMs of the request).',
        },
      },
    ]);
  });

  test('the wait of your own tool for an agent does not count as the tool’s time; the rest does', async () => {
    const clock = manualClock();
    const engine = inProcessEngine(clock);
    engine.add('slow', async () => {
      await new Promise<void>((resolve) => void clock.after(5_000, resolve));
      return answer('at last');
    });
    const { results, say } = await startCaller([{ tool: 'lazy__ask' }], {
      engine,
      clock,
      policy: { toolTimeoutMs: 100 },
      tools: [
        {
          name: 'lazy',
          exports: [{ name: 'ask', description: 'Asks, and then sleeps.' }],
          handlers: {
            ask: async (ctx) => {
              await ctx.agents.request({ target: 'slow' });
              await new Promise(() => undefined);
            },
          },
        },
      ],
    });
    const turn = say();
    await clock.advance(5_099);
    expect(results).toEqual([]);
    await clock.advance(1);
    await turn;
    expect(results).toMatchObject([{ error: { code: 'E_TOOL_TIMEOUT' } }]);
  });

  test('several in one step wait at the same time, each with its own event', async () => {
    const engine = inProcessEngine(systemClock);
    const waiting: string[] = [];
    const all = Promise.withResolvers<void>();
    for (const name of ['one', 'two', 'three']) {
      engine.add(name, async () => {
        waiting.push(name);
        if (waiting.length === 3) all.resolve();
        await all.promise;
        return answer(`I am ${name}`);
      });
    }
    const calls = ['one', 'two', 'three'].map((target) => ({ tool: 'agents__request', args: { target } }));
    const results = await call(calls, { engine });
    expect(results.map(({ output }) => output)).toEqual(
      ['one', 'two', 'three'].map((target) => ({ target, response: `I am ${target}` })),
    );
    expect(new Set(engine.calls.map(({ event }) => event.id)).size).toBe(3);
  });
});

describe('agents__send', () => {
  test('A-02 returns that it was accepted, and does not wait', async () => {
    const engine = inProcessEngine(systemClock);
    engine.add('sleeper', () => new Promise(() => undefined));
    const args = { target: 'sleeper', input: 'good night', metadata: { tired: true } };
    expect(await one('agents__send', args, { engine })).toMatchObject({ status: 'ok', output: { accepted: true } });
    expect(engine.calls).toMatchObject([{ event: { input: 'good night', metadata: { tired: true } } }]);
  });

  test('A-02 has no timeout: one is refused', async () => {
    const args = { target: 'echo', timeoutMs: 5 };
    expect(await one('agents__send', args, { engine: engineWithEcho() })).toMatchObject({
      error: { code: 'E_TOOL_ARGUMENTS' },
    });
  });

  test('messages of one step arrive in the order they were sent', async () => {
    const engine = engineWithEcho();
    const delivered: unknown[] = [];
    let slow = 3;
    const slower: Engine = {
      ...engine,
      async deliver(to, event) {
        // The first delivery takes longest.
        await Bun.sleep(slow--);
        delivered.push(event.input);
        return engine.deliver(to, event);
      },
    };
    const inputs = ['first', 'second', 'third'];
    const calls = inputs.map((input) => ({ tool: 'agents__send', args: { target: 'echo', input } }));
    await call(calls, { engine: slower });
    expect(delivered).toEqual(inputs);
  });
});

describe('agents__catalog and agents__list', () => {
  test('list the agents that can be asked', async () => {
    const cards = [{ name: 'coder' }, { name: 'echo', description: 'Says it again.' }];
    const engine: Engine = { ...engineWithEcho(), catalog: () => cards };
    expect(await one('agents__catalog', {}, { engine })).toMatchObject({ output: { agents: cards } });
    expect(await one('agents__catalog', {}, {})).toMatchObject({ output: { agents: [] } });
  });

  test('list at most 100 instances', async () => {
    const instances = Array.from({ length: 130 }, (_, number): AgentInstance => ({
      agentName: 'echo',
      instanceKey: `room-${number}`,
      status: 'asleep',
    }));
    const listing = (count: number): Engine => ({
      ...engineWithEcho(),
      list: async () => instances.slice(0, count),
    });
    const output = async (count: number): Promise<unknown> =>
      (await one('agents__list', {}, { engine: listing(count) }))?.output;
    expect(await output(1)).toEqual({
      instances: [{ agentName: 'echo', instanceKey: 'room-0', status: 'asleep' }],
    });
    expect(await output(100)).not.toHaveProperty('more');
    expect(await output(130)).toEqual({ instances: instances.slice(0, 100), more: 30 });
  });
});

describe('a call that was interrupted by a crash', () => {
  /**
   * Runs a turn with this call and returns its records, up to the first record that matches, as if the process died
   * there.
   */
  async function recordUpTo(calling: Call, fits: (record: TurnRecord) => boolean): Promise<TurnRecord[]> {
    const { store, records } = recordingStore();
    const { say } = await startCaller([calling], { engine: engineWithEcho(), store });
    await say();
    return recordsUpTo(records, fits);
  }

  /** Resumes the turn in a new process. */
  async function resume(calling: Call, records: readonly TurnRecord[]) {
    const store = await interruptedStore(records, 'turn-e1', { agentName: 'coder', instanceKey: 'room-1' });
    const engine = engineWithEcho();
    const { results, say } = await startCaller([calling], { engine, store });
    await say();
    return { results, ids: engine.calls.map(({ event }) => event.id) };
  }

  const isIntent = (kind: string) => (record: TurnRecord) => record.type === 'intent' && record.kind === kind;
  const isEffect = (kind: string) => (record: TurnRecord) => record.type === 'effect' && record.kind === kind;
  const request = { tool: 'agents__request', args: { target: 'echo', input: 'tea' } };
  const send = { tool: 'agents__send', args: { target: 'echo', input: 'tea' } };
  const ok = { status: 'ok', output: { target: 'echo', response: 'echo: tea' } };

  test.each([
    ['before it was asked', isIntent('tool')],
    ['while it was waited for', isIntent('agent')],
  ])('%s is made again, as the same event', async (_, fits) => {
    const { results, ids } = await resume(request, await recordUpTo(request, fits));
    expect(results).toMatchObject([ok]);
    expect(ids).toEqual(['turn-e1:0/call/call_0/agent/0']);
  });

  test('is not made again when its answer was recorded', async () => {
    const { results, ids } = await resume(request, await recordUpTo(request, isEffect('agent')));
    expect(results).toMatchObject([ok]);
    expect(ids).toEqual([]);
  });

  test('a message that may have been sent is sent again, as the same event; a recorded one is not', async () => {
    const again = await resume(send, await recordUpTo(send, isIntent('tool')));
    expect(again).toMatchObject({
      results: [{ output: { accepted: true } }],
      ids: ['turn-e1:0/call/call_0/agent/0'],
    });
    const done = await resume(send, await recordUpTo(send, isEffect('agent')));
    expect(done).toMatchObject({ results: [{ output: { accepted: true } }], ids: [] });
  });
});

test('C-04 ctx.tools.call reaches other agents from turn and step layers, and not from toolCall layers', async () => {
  const inputs: unknown[] = [];
  const engine = inProcessEngine(systemClock);
  engine.add('echo', async ({ input = '' }) => {
    inputs.push(input);
    return answer('heard');
  });
  const results: unknown[] = [];
  const asking = (from: string, tool: string) => async (ctx: Pick<ToolCallMiddlewareContext, 'tools'>) => {
    const { status, error } = await ctx.tools.call(tool, { target: 'echo', input: from });
    results.push([from, status, error?.code, error?.message]);
  };
  const extensions = [
    beforeNext('one', 'turn', asking('turn', 'agents__request')),
    beforeNext('two', 'step', (ctx) => (ctx.stepIndex === 0 ? asking('step', 'agents__request')(ctx) : undefined)),
    beforeNext('three', 'toolCall', async (ctx) => {
      if (ctx.toolName !== 'agents__catalog') return;
      await asking('toolCall', 'agents__request')(ctx);
      await asking('toolCall', 'agents__send')(ctx);
      // A tool of the bundle with a similar name calls nobody.
      await asking('toolCall', 'agents__find')(ctx);
    }),
    extension('four', ({ tools }) => tools.register({ name: 'agents__find', description: 'Finds.' }, () => 'found')),
  ];
  await call([{ tool: 'agents__catalog' }], { engine, extensions });
  const refused = (tool: string) => [
    'toolCall',
    'error',
    'E_TOOL_NOT_OFFERED',
    `"${tool}" was not run: the toolCall layer "toolCall" of extension "three" cannot call other agents.`,
  ];
  expect(results).toEqual([
    ['turn', 'ok', undefined, undefined],
    ['step', 'ok', undefined, undefined],
    refused('agents__request'),
    refused('agents__send'),
    ['toolCall', 'ok', undefined, undefined],
  ]);
  expect(inputs).toEqual(['turn', 'step']);
});
