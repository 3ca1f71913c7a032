import { describe, expect, test } from 'bun:test';
import type { ModelDelta, ModelMessage, ToolResultOutput } from '@goondan/types';
import { manualClock } from '../../../testing/manual-clock.ts';
import type { ModelRequest } from '../model-port.ts';
import { failureOf } from '../providers/wire/ask-model.ts';
import { openScriptedModel } from './open-scripted-model.ts';
import type { ScriptedRule } from '../../../testing/scripted-rule.ts';

/** The example from the design document, converted from YAML. */
const weatherExample: { script: ScriptedRule[]; latencyMs: number; tokensPerSecond: number } = {
  script: [
    {
      when: 'weather in (?<city>\\w+)',
      call: { tool: 'weather__get', args: { city: '{{city}}' } },
    },
    { afterTool: 'weather__get', say: 'It is {{result.tempC}} degrees.' },
    { fail: { message: 'overloaded', retryable: true, times: 2 } },
    { say: 'You said: {{input}}' },
  ],
  latencyMs: 0,
  tokensPerSecond: 0,
};

const user = (content: string): ModelMessage => ({ role: 'user', content });
const call = (...toolCallIds: string[]): ModelMessage => ({
  role: 'assistant',
  content: toolCallIds.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'weather__get', input: {} })),
});
const result = (output: ToolResultOutput): ModelMessage => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: 'call_1', toolName: 'weather__get', output }],
});

function request(messages: ModelMessage[], more: Partial<ModelRequest> = {}): ModelRequest & { deltas: ModelDelta[] } {
  const deltas: ModelDelta[] = [];
  const onDelta = (delta: ModelDelta) => void deltas.push(delta);
  return {
    messages,
    tools: [],
    params: {},
    signal: new AbortController().signal,
    turnId: 'turn-1',
    onDelta,
    deltas,
    ...more,
  };
}

/** Returns the answer of the script to these messages. */
async function answer(script: ScriptedRule[], ...messages: ModelMessage[]) {
  const reply = await openScriptedModel({ script }, manualClock()).generate(request(messages));
  return reply.content.map((part) => (part.type === 'text' ? part.text : part));
}

describe('the example of the design', () => {
  test('calls the tool with the groups of `when`', async () => {
    const model = openScriptedModel(weatherExample, manualClock());
    const reply = await model.generate(request([user('How is the weather in Seoul?')]));
    expect(reply.content).toEqual([
      { type: 'tool-call', toolCallId: 'call_1', toolName: 'weather__get', input: { city: 'Seoul' } },
    ]);
    expect(reply.finishReason).toBe('tool-calls');
  });

  test('says the result of the tool', async () => {
    const model = openScriptedModel(weatherExample, manualClock());
    const messages = [user('weather in Seoul'), call('call_1'), result({ type: 'json', value: { tempC: 3 } })];
    const reply = await model.generate(request(messages));
    expect(reply.content).toEqual([{ type: 'text', text: 'It is 3 degrees.' }]);
    expect(reply.finishReason).toBe('stop');
  });

  test('fails twice in each turn, then uses the next rule', async () => {
    const model = openScriptedModel(weatherExample, manualClock());
    for (const turnId of ['turn-1', 'turn-2']) {
      const hello = () => model.generate(request([user('hello')], { turnId }));
      const failure = { code: 'E_MODEL_FAILED', message: 'overloaded', retryable: true };
      expect(await failureOf(hello())).toMatchObject(failure);
      expect(await failureOf(hello())).toMatchObject(failure);
      expect((await hello()).content).toEqual([{ type: 'text', text: 'You said: hello' }]);
    }
  });
});

describe('answers', () => {
  test('{{input}} is the newest user text after a tool result too', async () => {
    const messages = [user('hi'), call('call_1'), result({ type: 'text', value: 'x' })];
    expect(await answer([{ say: '{{input}}!' }], ...messages)).toEqual(['hi!']);
  });

  test('text comes before its calls, and each call has its own id', async () => {
    const script = [{ say: 'Let me look.', calls: [{ tool: 'a__a' }, { tool: 'b__b', args: { n: 1 } }] }];
    expect(await answer(script, user('x'))).toEqual([
      'Let me look.',
      { type: 'tool-call', toolCallId: 'call_1', toolName: 'a__a', input: {} },
      { type: 'tool-call', toolCallId: 'call_2', toolName: 'b__b', input: { n: 1 } },
    ]);
  });

  test('an empty text is left out beside calls, and kept when it is the whole reply', async () => {
    expect(await answer([{ say: '{{result}}', call: { tool: 'a__a' } }], user('x'))).toHaveLength(1);
    expect(await answer([{ say: '{{result}}' }], user('x'))).toEqual(['']);
  });

  test('ids continue from the newest call of the conversation', async () => {
    const [part] = await answer([{ call: { tool: 'a__a' } }], call('call_4'), call('call_5', 'call_6'), user('x'));
    expect(part).toMatchObject({ toolCallId: 'call_7' });
  });

  test('usage counts the request and the reply', async () => {
    const model = openScriptedModel({ script: [{ say: '12345' }] }, manualClock());
    const { usage } = await model.generate(request([{ role: 'system', content: '1234' }, user('12')]));
    expect(usage).toEqual({ inputTokens: 2, outputTokens: 2, totalTokens: 4 });
  });

  test('ids of a turn are not reused when the conversation was truncated in between', async () => {
    const model = openScriptedModel({ script: [{ call: { tool: 'a__a' } }] }, manualClock());
    await model.generate(request([user('x')]));
    const reply = await model.generate(request([user('x')]));
    expect(reply.content).toMatchObject([{ toolCallId: 'call_2' }]);
  });
});

describe('failures', () => {
  test('have the fields of the rule', async () => {
    const fail = { message: 'slow down', retryable: true, retryAfterMs: 250, code: 'E_MODEL_TIMEOUT' } as const;
    const model = openScriptedModel({ script: [{ fail }] }, manualClock());
    expect(await failureOf(model.generate(request([user('x')])))).toMatchObject(fail);
  });

  test('are counted for each rule, and never end without `times`', async () => {
    const script = [{ fail: { message: 'a', times: 1 } }, { fail: { message: 'b' } }];
    const model = openScriptedModel({ script }, manualClock());
    const messages: unknown[] = [];
    for (let round = 0; round < 4; round += 1) {
      await model.generate(request([user('x')])).catch((error: unknown) => messages.push((error as Error).message));
    }
    expect(messages).toEqual(['a', 'b', 'b', 'b']);
  });

  test('are counted when two calls of a turn run at the same time', async () => {
    const options = { script: [{ fail: { message: 'a', times: 1 } }, { say: 'b' }], latencyMs: 10 };
    const clock = manualClock();
    const model = openScriptedModel(options, clock);
    const both = Promise.allSettled([1, 2].map(() => model.generate(request([user('x')]))));
    await clock.advance(10);
    const outcomes = await both;
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  test.each<[name: string, messages: ModelMessage[], message: string]>([
    ['a user', [user('hello'), { role: 'system', content: 'x' }], 'the newest message, user: "hello".'],
    [
      'a tool',
      [result({ type: 'json', value: { tempC: 3 } })],
      'the newest message, tool (weather__get): {"tempC":3}.',
    ],
    ['a long text', [user('a'.repeat(201))], `"${'a'.repeat(200)}…".`],
    ['an empty conversation', [], 'a conversation without messages.'],
  ])('no rule matches %s: E_MODEL_NO_RULE', async (_, messages, message) => {
    const model = openScriptedModel({ script: [{ when: 'goodbye', say: 'x' }] }, manualClock());
    expect(await failureOf(model.generate(request(messages)))).toMatchObject({
      code: 'E_MODEL_NO_RULE',
      message: expect.stringContaining(message),
    });
  });

  test('a malformed script is refused when the model is opened', () => {
    expect(() => openScriptedModel({ script: [{}] }, manualClock())).toThrow('script[0] does nothing');
  });
});

describe('time', () => {
  test('without latency no timer is set', async () => {
    const clock = manualClock();
    const asked = request([user('x')]);
    await openScriptedModel({ script: [{ say: 'one two three' }] }, clock).generate(asked);
    expect(clock.pending).toBe(0);
    expect(asked.deltas).toEqual(['one ', 'two ', 'three'].map((text) => ({ type: 'text', text })));
  });

  test('latencyMs comes before the first token, tokensPerSecond between tokens', async () => {
    const clock = manualClock();
    const script = [{ say: 'one four five!' }];
    const sentAt: number[] = [];
    const onDelta = () => void sentAt.push(clock.elapsed());
    const model = openScriptedModel({ script, latencyMs: 100, tokensPerSecond: 10 }, clock);
    const generated = model.generate(request([user('x')], { onDelta }));
    await clock.advance(1_000);
    await generated;
    // 'one ' is one token, which takes 100 ms. 'four ' is one and a quarter tokens.
    expect(sentAt).toEqual([100, 200, 325]);
  });

  test('a failure has the latency too', async () => {
    const clock = manualClock();
    const model = openScriptedModel({ script: [{ fail: { message: 'no' } }], latencyMs: 100 }, clock);
    const failedAt = failureOf(model.generate(request([user('x')]))).then(() => clock.elapsed());
    await clock.advance(100);
    expect(await failedAt).toBe(100);
  });

  test.each([
    ['before the first token', { latencyMs: 1000 }, 0],
    ['between tokens', { tokensPerSecond: 1 }, 1],
  ])('an abort %s rejects with its reason and leaves no timer', async (_, speed, deltasBefore) => {
    const clock = manualClock();
    const controller = new AbortController();
    const asked = request([user('x')], { signal: controller.signal });
    const outcome = openScriptedModel({ script: [{ say: 'one two' }], ...speed }, clock).generate(asked);
    const caught = failureOf(outcome);
    expect(clock.pending).toBe(1);
    const reason = new Error('cancelled');
    controller.abort(reason);
    expect(await caught).toBe(reason);
    expect(clock.pending).toBe(0);
    expect(asked.deltas).toHaveLength(deltasBefore);
  });

  test('an abort by the delta listener stops the words', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    let count = 0;
    const onDelta = () => {
      count += 1;
      controller.abort(reason);
    };
    const model = openScriptedModel({ script: [{ say: 'one two' }] }, manualClock());
    const outcome = model.generate(request([user('x')], { signal: controller.signal, onDelta }));
    expect(await failureOf(outcome)).toBe(reason);
    expect(count).toBe(1);
  });

  test('an aborted request does not count as a failure of its rule', async () => {
    const model = openScriptedModel({ script: [{ fail: { message: 'no', times: 1 } }, { say: 'x' }] }, manualClock());
    const reason = new Error('cancelled');
    const aborted = model.generate(request([user('x')], { signal: AbortSignal.abort(reason) }));
    expect(await failureOf(aborted)).toBe(reason);
    expect(await failureOf(model.generate(request([user('x')])))).toMatchObject({ message: 'no' });
  });
});
