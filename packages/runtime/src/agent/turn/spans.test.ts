// Tests turns, steps and tool calls as spans: the ids in their runtime events, and the ids that a called agent gets.
import { describe, expect, spyOn, test } from 'bun:test';
import type { AgentsApi, ExtensionRegister } from '@goondan/types';
import { systemClock } from '../../ports/clock.ts';
import {
  extension,
  inProcessEngine,
  scriptedAgent,
  type ScriptedAgent,
  type ScriptedAgentOptions,
  type ToldEvent,
} from '../../testing/index.ts';
import { inputEvent } from '../../testing/input-event.ts';
import { mortalStore } from '../../testing/mortal-store.ts';
import { isSpanId, newTraceId } from '../../trace/span-id.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import { startAgent } from '../start/start-agent.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const traceId = newTraceId();

const echo: ToolDeclaration = {
  name: 'echo',
  exports: [{ name: 'say', description: 'Says it again.', parallel: true, idempotent: true }],
  handlers: { say: (_ctx, input) => input },
};

const calls = { when: 'go', calls: [{ tool: 'echo__say' }, { tool: 'echo__say' }] };

/** Options for an agent whose turn has a step with two calls, a retried step, and a step with the answer. */
const busy: ScriptedAgentOptions = {
  tools: [echo],
  script: [calls, { fail: { message: 'busy', retryable: true, times: 1 } }, { say: 'done' }],
};

/** Returns the payload of the event with this name and this number, counted from 0. */
function payloadOf<Name extends ToldEvent['name']>(told: readonly ToldEvent[], name: Name, number = 0) {
  const found = told.filter((event) => event.name === name)[number];
  if (found === undefined) throw new Error(`no ${name} was told`);
  // The cast is safe: the event was found by its name.
  return found.payload as Extract<ToldEvent, { name: Name }>['payload'];
}

/** Returns the turn, step or call that an event is about, by its id. */
function subjectOf({ name, payload }: ToldEvent): string {
  if (name.startsWith('turn')) return payload.turnId;
  return 'toolCallId' in payload ? payload.toolCallId : 'stepId' in payload ? payload.stepId : '';
}

describe('the spans of a turn', () => {
  test('R-08 every event has the trace id and a valid span id of its subject', async () => {
    const agent = await scriptedAgent(busy);
    await agent.say('go', { event: { traceId } });
    expect(agent.told.length).toBeGreaterThan(10);
    expect(agent.told.filter(({ payload }) => payload.traceId !== traceId || !isSpanId(payload.spanId))).toEqual([]);
    const spans = new Map(agent.told.map((event) => [subjectOf(event), event.payload.spanId]));
    // There is one turn, three steps (one of them is a retry), and two tool calls.
    expect(spans.size).toBe(6);
    expect(new Set(spans.values()).size).toBe(6);
    expect(agent.told.filter((event) => event.payload.spanId !== spans.get(subjectOf(event)))).toEqual([]);
  });

  test('R-08 are nested: a step in its turn, a tool call in its step', async () => {
    const agent = await scriptedAgent(busy);
    await agent.say('go', { event: { traceId } });
    const turn = payloadOf(agent.told, 'turn.started');
    expect(turn).not.toHaveProperty('parentSpanId');
    for (const number of [0, 1, 2]) {
      expect(payloadOf(agent.told, 'step.started', number)).toMatchObject({ parentSpanId: turn.spanId });
    }
    const step = payloadOf(agent.told, 'step.started');
    for (const number of [0, 1]) {
      expect(payloadOf(agent.told, 'tool.called', number)).toMatchObject({ parentSpanId: step.spanId });
    }
  });

  test('R-08 a layer’s tool call is nested in the chain of that layer', async () => {
    const calling = extension('calling', ({ pipeline }) => {
      pipeline.register('turn', async (ctx) => {
        await ctx.tools.call('echo__say');
        return ctx.next();
      });
      pipeline.register('step', async (ctx) => {
        await ctx.tools.call('echo__say');
        return ctx.next();
      });
    });
    const agent = await scriptedAgent({ tools: [echo], extensions: [calling] });
    const { told } = agent;
    await agent.say('hello', { event: { traceId } });
    const [byTurn, byStep] = [payloadOf(told, 'tool.called', 0), payloadOf(told, 'tool.called', 1)];
    expect(byTurn.parentSpanId).toBe(payloadOf(told, 'turn.started').spanId);
    expect(byStep.parentSpanId).toBe(payloadOf(told, 'step.started').spanId);
    expect(byTurn.spanId).not.toBe(byStep.spanId);
  });

  test('R-08 two turns of one trace are two spans, even if all names in them are the same', async () => {
    const agent = await scriptedAgent(busy);
    await agent.say('go', { event: { traceId } });
    const first = agent.told.map(({ payload }) => payload.spanId);
    await agent.say('go', { event: { traceId } });
    const second = agent.told.slice(first.length).map(({ payload }) => payload.spanId);
    expect(second).toHaveLength(first.length);
    expect(second.filter((spanId) => first.includes(spanId))).toEqual([]);
  });

  test('R-08 a turn that was asked for is nested in the span that asked', async () => {
    const parentSpanId = '00f067aa0ba902b7';
    const agent = await scriptedAgent();
    await agent.say('hello', { event: { traceId, parentSpanId } });
    expect(payloadOf(agent.told, 'turn.completed')).toMatchObject({ traceId, parentSpanId });
    await agent.say('hello', { event: { traceId, parentSpanId: 'not a span' } });
    expect(payloadOf(agent.told, 'turn.completed', 1)).not.toHaveProperty('parentSpanId');
  });

  test('R-08 a trace id of another form is kept, and the spans are valid', async () => {
    const agent = await scriptedAgent(busy);
    await agent.say('go', { event: { traceId: 'trace-1' } });
    expect(agent.told.filter(({ payload }) => payload.traceId !== 'trace-1' || !isSpanId(payload.spanId))).toEqual([]);
  });

  test('R-08 a resumed turn has the same spans, wherever it was interrupted', async () => {
    const event = { id: 'same', traceId };
    const spansOf = ({ told }: ScriptedAgent) =>
      told.map((each) => [each.name, subjectOf(each), each.payload.spanId, each.payload.parentSpanId].join(' '));
    // No rule of this script fails, because the model of a new process would count its failures from 0 again.
    const steady = { ...busy, script: [calls, { say: 'done' }] };
    const whole = await scriptedAgent(steady);
    await whole.say('go', { event });
    const expected = spansOf(whole);
    let interrupted = 0;
    for (let appends = 1; ; appends++) {
      const store = memoryStore();
      const mortal = mortalStore(store, appends);
      const first = await scriptedAgent({ ...steady, store: mortal });
      await first.say('go', { event }).catch(() => undefined);
      if (!mortal.isDead()) break;
      interrupted++;
      const second = await scriptedAgent({ ...steady, store });
      expect((await second.say('go', { event })).text).toBe('done');
      const spans = [...spansOf(first).filter((span) => !span.includes('failed')), ...spansOf(second)];
      expect(spans.at(-1)).toBe(expected.at(-1));
      expect(spans.filter((span) => !expected.includes(span))).toEqual([]);
    }
    expect(interrupted).toBeGreaterThan(1);
  });

  test('ids are computed only when an event is observed', async () => {
    const model = { provider: 'scripted', model: 'demo', options: { script: [calls, { say: 'done' }] } };
    const agent = await startAgent({ agentName: 'quiet', models: { 'Model/demo': model }, tools: [echo] });
    // The record of a step names the digest of the plan, which is computed once for all turns.
    expect(agent.parts.plan.digest()).toBeString();
    const hash = spyOn(Bun.CryptoHasher, 'hash');
    try {
      const { result, stepCount } = await agent.handle(inputEvent('quiet', { input: 'go', traceId }));
      expect([result.finishReason, stepCount]).toEqual(['text_response', 2]);
      expect(hash).toHaveBeenCalledTimes(0);
      agent.parts.bus.on('turn.completed', () => undefined);
      await agent.handle(inputEvent('heard', { input: 'go', traceId }));
      expect(hash).toHaveBeenCalledTimes(1);
    } finally {
      hash.mockRestore();
    }
  });
});

describe('the turn of a called agent', () => {
  type From = 'turn' | 'step' | 'tool' | 'agents__request' | 'agents__send';

  /** Makes one call to another agent. Returns the runtime events of the caller and of the called agent. */
  async function callFrom(from: From, call: (agents: AgentsApi) => Promise<unknown>) {
    const engine = inProcessEngine(systemClock);
    const callee = await scriptedAgent({ agentName: 'helper', instanceKey: 'room-1' });
    engine.add('helper', async (event) => (await callee.agent.handle(event)).result);
    const register: ExtensionRegister = ({ pipeline, tools }) => {
      pipeline.register('turn', async (ctx) => {
        if (from === 'turn') await call(ctx.agents);
        return ctx.next();
      });
      pipeline.register('step', async (ctx) => {
        if (from === 'step' && ctx.stepIndex === 0) await call(ctx.agents);
        return ctx.next();
      });
      tools.register({ name: 'caller__call', description: 'Calls.' }, async (ctx) => void (await call(ctx.agents)));
    };
    const tool = from.startsWith('agents__') ? from : 'caller__call';
    const asks = { when: 'go', call: { tool, args: tool === from ? { target: 'helper', input: 'tea' } : {} } };
    const caller = await scriptedAgent({
      agentName: 'coder',
      instanceKey: 'room-1',
      engine,
      agentTools: true,
      script: [...(from === 'turn' || from === 'step' ? [] : [asks]), { say: 'done' }],
      extensions: [extension('caller', register)],
    });
    expect((await caller.say('go', { event: { traceId } })).text).toBe('done');
    await callee.close();
    return { caller: caller.told, callee: callee.told };
  }

  const asking = {
    turn: 'turn.started',
    step: 'step.started',
    tool: 'tool.called',
    agents__request: 'tool.called',
    agents__send: 'tool.called',
  } as const;

  const request = (agents: AgentsApi) => agents.request({ target: 'helper', input: 'tea' });
  const send = (agents: AgentsApi) => agents.send({ target: 'helper', input: 'tea' });

  test.each<[string, From, (agents: AgentsApi) => Promise<unknown>]>([
    ['a request of a turn layer', 'turn', request],
    ['a request of a step layer', 'step', request],
    ['a request of a tool', 'tool', request],
    ['agents__request', 'agents__request', request],
    ['a send of a turn layer', 'turn', send],
    ['a send of a step layer', 'step', send],
    ['a send of a tool', 'tool', send],
    ['agents__send', 'agents__send', send],
  ])('A-07 by %s is in the same trace, nested in the span that asked', async (_, from, call) => {
    const { caller, callee } = await callFrom(from, call);
    const asker = payloadOf(caller, asking[from]);
    const turn = payloadOf(callee, 'turn.started');
    expect(turn).toMatchObject({ agentName: 'helper', traceId, parentSpanId: asker.spanId });
    expect(payloadOf(callee, 'step.started')).toMatchObject({ traceId, parentSpanId: turn.spanId });
    const all = [...caller, ...callee];
    const subjects = new Set(all.map((event) => `${event.payload.agentName} ${subjectOf(event)}`));
    expect(new Set(all.map(({ payload }) => payload.spanId)).size).toBe(subjects.size);
  });
});
