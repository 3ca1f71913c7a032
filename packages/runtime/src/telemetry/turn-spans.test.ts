// Tests the spans of turns that a real agent runs in this process, as they would be exported.
import { describe, expect, test } from 'bun:test';
import { createUserMessage, type ExtensionRegister, type ModelReply, type ToolHandler } from '@goondan/types';
import type { Model } from '../agent/model/model-port.ts';
import type { ToolDeclaration } from '../agent/tool/load-tool.ts';
import { systemClock } from '../ports/clock.ts';
import { extension, scriptedAgent, type ScriptedAgentOptions } from '../testing/index.ts';
import { isSpanId, isTraceId, newTraceId } from '../trace/span-id.ts';
import { watchTurn } from '../trace/watch-turn.ts';
import type { OtlpSpan } from './otlp.ts';
import { type SpanSource, TurnSpans } from './turn-spans.ts';

interface Asked extends ScriptedAgentOptions {
  readonly register?: ExtensionRegister;
  readonly hasContent?: boolean;
  readonly signal?: AbortSignal;
  readonly traceId?: string;
  readonly input?: string;
}

const models = {
  'Model/scripted': { provider: 'google', model: 'flash' },
  'Model/other': { provider: 'anthropic', model: 'claude' },
};

/** Returns the spans of one turn in the order they would be sent. */
async function spansOf({ register = () => undefined, hasContent = false, signal, traceId, ...options }: Asked) {
  const { input = 'go', ...agentOptions } = options;
  const agent = await scriptedAgent({ extensions: [extension('tested', register)], ...agentOptions });
  const sources: SpanSource[] = [];
  const agentPlace = { swarm: 'shop', modelRef: 'Model/scripted', models, hasContent };
  const spans = new TurnSpans(agentPlace, (source) => void sources.push(source));
  await agent.say(input, {
    observer: watchTurn(systemClock, [spans]),
    ...(signal === undefined ? {} : { signal }),
    event: { traceId: traceId ?? newTraceId() },
  });
  const told = sources.flatMap((source) => source.spans());
  expect(sources.reduce((sum, { count }) => sum + count, 0)).toBe(told.length);
  return { told, agent };
}

function valuesOf({ attributes }: OtlpSpan): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

function only(spans: readonly OtlpSpan[], name: string): OtlpSpan {
  const [found, ...more] = spans.filter((span) => span.name === name);
  if (found === undefined || more.length > 0) throw new Error(`${more.length} more of ${name}`);
  return found;
}

const toolOf = (handler: ToolHandler): ToolDeclaration => ({
  name: 'tool',
  exports: [{ name: 'run', description: 'Runs.' }],
  handlers: { run: handler },
});
const call = { when: 'go', call: { tool: 'tool__run', args: { text: 'ARGUMENT' } } };

describe('a model call', () => {
  const reply: ModelReply = {
    content: [{ type: 'text', text: 'ANSWER' }],
    finishReason: 'content-filter',
    usage: { inputTokens: 10, outputTokens: 3, totalTokens: 13, cachedInputTokens: 8, reasoningTokens: 2 },
    response: { id: 'reply-1', modelId: 'flash-001' },
  };
  const model: Model = { generate: async () => structuredClone(reply) };

  test('has the data that the provider reported', async () => {
    const { told } = await spansOf({ model });
    expect(valuesOf(only(told, 'chat flash'))).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.request.model': 'flash',
      'gen_ai.response.finish_reasons': { values: [{ stringValue: 'content_filter' }] },
      'gen_ai.response.id': 'reply-1',
      'gen_ai.response.model': 'flash-001',
      'gen_ai.usage.input_tokens': '10',
      'gen_ai.usage.output_tokens': '3',
      'gen_ai.usage.cache_read.input_tokens': '8',
      'gen_ai.usage.reasoning.output_tokens': '2',
      'gen_ai.agent.id': 'shop/tested',
      'gen_ai.agent.name': 'tested',
      'gen_ai.conversation.id': 'tested/default',
      'goondan.model_ref': 'Model/scripted',
    });
  });

  test('has its final parameters; those that are not numbers are left out', async () => {
    const register: ExtensionRegister = ({ pipeline }) =>
      pipeline.register('model', (ctx) => {
        const odd = { topK: 'many', seed: Number.NaN } as unknown as typeof ctx.params;
        ctx.params = { ...ctx.params, ...odd, temperature: 1, maxTokens: 100, topP: 0.5, stopSequences: ['SECRET'] };
        return ctx.next();
      });
    const { told } = await spansOf({ model, register });
    const { attributes } = only(told, 'chat flash');
    const asked = attributes.filter(({ key }) => key.startsWith('gen_ai.request.'));
    expect(Object.fromEntries(asked.map(({ key, value }) => [key, value]))).toEqual({
      'gen_ai.request.model': { stringValue: 'flash' },
      'gen_ai.request.max_tokens': { intValue: '100' },
      'gen_ai.request.temperature': { doubleValue: 1 },
      'gen_ai.request.top_p': { doubleValue: 0.5 },
    });
  });

  test("the turn names the agent's own model, whichever one its layers used", async () => {
    const { told } = await spansOf({ model });
    expect(valuesOf(only(told, 'invoke_agent tested'))).toMatchObject({
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.request.model': 'flash',
      'gen_ai.usage.reasoning.output_tokens': '2',
    });
  });

  test('names the model that a layer chose in the end', async () => {
    const register: ExtensionRegister = ({ pipeline }) =>
      pipeline.register('model', (ctx) => {
        ctx.modelRef = 'Model/other';
        return ctx.next();
      });
    const { told } = await spansOf({ register, models: { 'Model/other': model } });
    expect(valuesOf(only(told, 'chat claude'))).toMatchObject({ 'gen_ai.provider.name': 'anthropic' });
  });

  test('answered by a layer names that layer, which called no model', async () => {
    const register: ExtensionRegister = ({ pipeline }) =>
      pipeline.register('model', async () => structuredClone(reply), { mayShortCircuit: true });
    const { told } = await spansOf({ register });
    expect(valuesOf(only(told, 'chat flash'))).toMatchObject({ 'goondan.answered_by': 'tested' });
    expect(valuesOf(only(told, 'layer tested'))).toMatchObject({ 'goondan.outcome': 'short_circuit' });
  });

  test('R-08 made by a layer is below the chain of that layer', async () => {
    const register: ExtensionRegister = ({ pipeline }) =>
      pipeline.register('turn', async (ctx) => {
        await ctx.model.generate({ messages: [{ role: 'user', content: 'hm' }], modelRef: 'Model/other' });
        return ctx.next();
      });
    const { told } = await spansOf({ register, models: { 'Model/other': model } });
    expect(only(told, 'chat claude').parentSpanId).toBe(only(told, 'invoke_agent tested').spanId);
    expect(only(told, 'chat flash').parentSpanId).toBe(only(told, 'step 0').spanId);
  });
});

describe('layers', () => {
  test('a skipped layer has failed, and its chain has not', async () => {
    const register: ExtensionRegister = ({ pipeline }) =>
      pipeline.register(
        'step',
        () => {
          throw new TypeError('REASON');
        },
        { onError: 'skip' },
      );
    const { told } = await spansOf({ register });
    const layer = only(told, 'layer tested');
    expect(valuesOf(layer)).toMatchObject({ 'goondan.outcome': 'skipped', 'error.type': 'TypeError' });
    expect(told.map(({ status }) => status).filter(({ code }) => code !== undefined)).toEqual([]);
  });

  test('a layer that fails makes its chain and the chains around it fail', async () => {
    const register: ExtensionRegister = ({ pipeline }) =>
      pipeline.register('step', () => {
        throw new TypeError('REASON');
      });
    const { told } = await spansOf({ register });
    const failed = told.filter(({ status }) => status.code === 2).map(({ name }) => name);
    expect(failed.toSorted()).toEqual(['invoke_agent tested', 'layer tested', 'step 0']);
    expect(JSON.stringify(told)).not.toContain('REASON');
  });
});

test('R-08 every span of a turn has its own id, even those of layers of one extension in one chain', async () => {
  const register: ExtensionRegister = ({ pipeline }) => {
    for (let count = 0; count < 3; count++) {
      pipeline.register('turn', (ctx) => ctx.next());
      pipeline.register('step', (ctx) => ctx.next());
      pipeline.register('model', (ctx) => ctx.next());
      pipeline.register('toolCall', (ctx) => ctx.next());
    }
  };
  const { told } = await spansOf({ register, tools: [toolOf(() => null)], script: [call, { say: 'done' }] });
  // One turn, two steps, two model calls and one tool call, each with three layers around it.
  expect(told).toHaveLength(6 * 4);
  expect(new Set(told.map(({ spanId }) => spanId)).size).toBe(told.length);
});

test('R-08 parallel calls are separate spans below their step, and overlap', async () => {
  const meet = Promise.withResolvers<void>();
  let inside = 0;
  const tool: ToolDeclaration = {
    name: 'tool',
    exports: [{ name: 'run', description: 'Runs.', parallel: true }],
    handlers: {
      async run() {
        if (++inside === 2) meet.resolve();
        await meet.promise;
      },
    },
  };
  const script = [{ when: 'go', calls: [{ tool: 'tool__run' }, { tool: 'tool__run' }] }, { say: 'done' }];
  const { told } = await spansOf({ tools: [tool], script });
  const [one, other] = told.filter(({ name }) => name === 'execute_tool tool__run');
  if (one === undefined || other === undefined) throw new Error('two calls were made');
  expect([one.parentSpanId, other.parentSpanId]).toEqual(Array(2).fill(only(told, 'step 0').spanId));
  expect(one.spanId).not.toBe(other.spanId);
  expect(BigInt(one.startTimeUnixNano) < BigInt(other.endTimeUnixNano)).toBe(true);
  expect(BigInt(other.startTimeUnixNano) < BigInt(one.endTimeUnixNano)).toBe(true);
});

test('R-08 a chain that ran when its turn was given up is exported as unfinished: the spans below it keep their parent', async () => {
  const abort = new AbortController();
  const tool = toolOf(async () => {
    abort.abort(new Error('enough'));
    await new Promise(() => undefined);
  });
  // The layer does not stop, so the turn is given up while the call is still running.
  const register: ExtensionRegister = ({ pipeline }) =>
    pipeline.register('toolCall', async (ctx) => {
      await ctx.next();
      return new Promise<never>(() => undefined);
    });
  const { told } = await spansOf({ tools: [tool], script: [call], register, signal: abort.signal });
  for (const name of ['execute_tool tool__run', 'step 0']) {
    expect(valuesOf(only(told, name))).toMatchObject({ 'goondan.unfinished': true, 'error.type': 'E_CANCELLED' });
  }
  const ids = new Set(told.map(({ spanId }) => spanId));
  const roots = told.filter(({ parentSpanId = '' }) => !ids.has(parentSpanId)).map(({ name }) => name);
  expect(roots).toEqual(['invoke_agent tested']);
});

test('R-08 an invalid trace id from a sender is exported in a valid form, the same for every span', async () => {
  const { told } = await spansOf({ traceId: 'order 17' });
  const ids = new Set(told.map(({ traceId }) => traceId));
  expect(ids.size).toBe(1);
  expect([...ids].every(isTraceId)).toBe(true);
  expect(told.every(({ spanId }) => isSpanId(spanId))).toBe(true);
});

test('R-08 the ids are those of the runtime events', async () => {
  const { told, agent } = await spansOf({ tools: [toolOf(() => null)], script: [call, { say: 'done' }] });
  const spans = new Map(told.map((span) => [span.spanId, span]));
  for (const { payload } of agent.told) {
    expect(spans.get(payload.spanId)?.parentSpanId).toBe(payload.parentSpanId);
  }
  expect(new Set(agent.told.map(({ payload }) => payload.spanId)).size).toBe(4);
});

describe('contents', () => {
  const secret = 'a-secret-of-the-tool';
  const long = 'x'.repeat(100_000);
  const register: ExtensionRegister = ({ pipeline }) =>
    pipeline.register('step', (ctx) => {
      for (const text of ctx.stepIndex === 1 ? [long, `after ${secret}`] : []) {
        ctx.emitMessageEvent({ type: 'append', message: createUserMessage(text) });
      }
      return ctx.next();
    });
  const options: Asked = {
    register,
    tools: [toolOf(() => ({ text: secret, more: long }))],
    script: [call, { say: 'ANSWER' }],
    systemPrompt: 'PROMPT',
    secrets: [secret],
  };

  test('are valid JSON within their bounds, with secrets masked', async () => {
    const { told } = await spansOf({ ...options, hasContent: true });
    const contents = told.flatMap(({ attributes }) =>
      attributes.filter(({ key }) => /messages|instructions|call\.(arguments|result)/.test(key)),
    );
    expect(contents.length).toBeGreaterThan(8);
    for (const { key, value } of contents) {
      const text = 'stringValue' in value ? value.stringValue : '';
      expect(text.length).toBeLessThan(36_000);
      if (!key.includes('tool.call')) expect(Array.isArray(JSON.parse(text))).toBe(true);
    }
    const all = JSON.stringify(told);
    expect(all).not.toContain(secret);
    for (const said of ['ARGUMENT', 'ANSWER', 'PROMPT', 'after ***']) expect(all).toContain(said);
  });

  test('a secret that a layer passes to a model or a tool is masked there, too', async () => {
    const telling: ExtensionRegister = ({ pipeline }) => {
      pipeline.register('model', (ctx) => {
        ctx.messages.push({ role: 'user', content: `the key is ${secret}` }, { role: 'system', content: secret });
        return ctx.next();
      });
      pipeline.register('toolCall', (ctx) => {
        ctx.args = { key: secret };
        return ctx.next();
      });
    };
    const script = [{ when: 'key', call: { tool: 'tool__run' } }, { say: 'done' }];
    const { told } = await spansOf({ ...options, script, register: telling, hasContent: true });
    const all = JSON.stringify(told);
    expect(all).not.toContain(secret);
    expect([all.includes('the key is ***'), all.includes(String.raw`{\"key\":\"***\"}`)]).toEqual([true, true]);
  });

  test('of a successful call with an error are its output', async () => {
    const noting: ExtensionRegister = ({ pipeline }) =>
      pipeline.register('toolCall', async (ctx) => ({ ...(await ctx.next()), output: 3, error: { message: 'old' } }));
    const { told } = await spansOf({ ...options, register: noting, hasContent: true });
    expect(valuesOf(only(told, 'execute_tool tool__run'))['gen_ai.tool.call.result']).toBe('3');
  });

  test('keep the newest messages when a conversation is long', async () => {
    const many: ExtensionRegister = ({ pipeline }) =>
      pipeline.register('step', (ctx) => {
        for (let index = 0; index < 50; index++) {
          const message = createUserMessage(`number ${index} ${'y'.repeat(2_000)}`);
          ctx.emitMessageEvent({ type: 'append', message });
        }
        return ctx.next();
      });
    const { told } = await spansOf({ register: many, hasContent: true });
    const input = String(valuesOf(only(told, 'chat flash'))['gen_ai.input.messages']);
    expect([input.includes('number 49'), input.includes('number 40'), input.includes('number 10')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('have the form of the conventions', async () => {
    const { told } = await spansOf({ ...options, register: () => undefined, hasContent: true });
    const [first, second] = told.filter(({ name }) => name === 'chat flash').map(valuesOf);
    expect(JSON.parse(String(first?.['gen_ai.system_instructions']))).toEqual([{ type: 'text', content: 'PROMPT' }]);
    expect(JSON.parse(String(first?.['gen_ai.input.messages']))).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'go' }] },
    ]);
    expect(JSON.parse(String(first?.['gen_ai.output.messages']))).toEqual([
      {
        role: 'assistant',
        parts: [{ type: 'tool_call', id: expect.any(String), name: 'tool__run', arguments: { text: 'ARGUMENT' } }],
        finish_reason: 'tool_call',
      },
    ]);
    const turn = valuesOf(only(told, 'invoke_agent tested'));
    expect(JSON.parse(String(turn['gen_ai.output.messages']))).toMatchObject([
      { role: 'assistant', finish_reason: 'stop' },
    ]);
    const answered: unknown = JSON.parse(String(second?.['gen_ai.input.messages']));
    expect(answered).toContainEqual({
      role: 'tool',
      parts: [{ type: 'tool_call_response', id: expect.any(String), response: expect.stringContaining('***') }],
    });
  });
});
