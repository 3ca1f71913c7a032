/** Tests the limits of a turn: the number of its steps, and the tokens it may use. */
import { describe, expect, test } from 'bun:test';
import { scriptedAgent, type ScriptedAgentOptions } from '../../testing/index.ts';
import { beforeNext, oneLayer } from '../../testing/one-layer.ts';
import type { Model } from '../model/model-port.ts';

const tools: ScriptedAgentOptions['tools'] = [
  { name: 'loop', exports: [{ name: 'on', description: '' }], handlers: { on: () => 'on' } },
];

/** Creates a model that calls a tool `rounds` times, with a text each time, and then answers. */
function loopingModel(rounds: number, totalTokens = 10): Model {
  let calls = 0;
  return {
    async generate() {
      const number = ++calls;
      const text = { type: 'text' as const, text: `round ${number}` };
      const call = { type: 'tool-call' as const, toolCallId: `call_${number}`, toolName: 'loop__on', input: {} };
      const usage = { inputTokens: totalTokens - 1, outputTokens: 1, totalTokens };
      return { content: number > rounds ? [text] : [text, call], finishReason: 'stop', usage };
    },
  };
}

describe('the limit of steps', () => {
  test.each([1, 2, 5])(
    'C-09 ends the turn after %p steps with max_steps and the last text',
    async (maxStepsPerTurn) => {
      const agent = await scriptedAgent({ model: loopingModel(Infinity), tools, policy: { maxStepsPerTurn } });
      const turn = await agent.say('go');
      expect(turn.result.finishReason).toBe('max_steps');
      expect(turn.text).toBe(`round ${maxStepsPerTurn}`);
      expect(turn.stepCount).toBe(maxStepsPerTurn);
      expect(agent.requests).toHaveLength(maxStepsPerTurn);
      // Every tool call has its result, so the next turn can continue.
      expect((await agent.messages()).at(-1)?.data.role).toBe('tool');
    },
  );

  test('C-09 accepts an answer in the last step', async () => {
    const agent = await scriptedAgent({ model: loopingModel(1), tools, policy: { maxStepsPerTurn: 2 } });
    expect((await agent.say('go')).result.finishReason).toBe('text_response');
  });
});

describe('the limit of tokens', () => {
  test('a turn that has used them up takes no further step: E_TURN_TOKENS', async () => {
    const agent = await scriptedAgent({ model: loopingModel(Infinity), tools, policy: { maxTokensPerTurn: 25 } });
    const turn = await agent.say('go');
    expect(turn.result.error).toMatchObject({ code: 'E_TURN_TOKENS' });
    expect(turn.result.error?.message).toContain('30 tokens');
    expect(turn.usage).toEqual({ inputTokens: 27, outputTokens: 3, totalTokens: 30 });
    expect(agent.requests).toHaveLength(3);
  });

  test('an answer counts, whatever it cost; the next turn starts at 0', async () => {
    const agent = await scriptedAgent({ model: loopingModel(0, 1_000), policy: { maxTokensPerTurn: 5 } });
    expect((await agent.say('one')).result.finishReason).toBe('text_response');
    expect((await agent.say('two')).result.finishReason).toBe('text_response');
  });

  test('model calls of layers count too', async () => {
    const asking = beforeNext('asking', 'turn', (ctx) => ctx.model.generate({ messages: [] }));
    const agent = await scriptedAgent({
      model: loopingModel(Infinity),
      extensions: [asking],
      tools,
      policy: { maxTokensPerTurn: 10 },
    });
    expect((await agent.say('go')).result.error?.code).toBe('E_TURN_TOKENS');
    expect(agent.requests).toHaveLength(1);
  });

  test('steps that failed after the model had answered count too', async () => {
    const failing = oneLayer('failing', 'step', async (ctx) => {
      await ctx.next();
      throw Object.assign(new Error('again'), { retryable: true });
    });
    const agent = await scriptedAgent({
      model: loopingModel(0),
      extensions: [failing],
      policy: { maxTokensPerTurn: 20, maxStepRetries: 9 },
    });
    expect((await agent.say('go')).result.error?.code).toBe('E_TURN_TOKENS');
    expect(agent.requests).toHaveLength(2);
  });
});
