import { describe, expect, test } from 'bun:test';
import { createAssistantMessage } from '@goondan/types';
import { scriptedAgent } from '../../testing/index.ts';
import { oneLayer } from '../../testing/one-layer.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const weather: ToolDeclaration = {
  name: 'weather',
  exports: [{ name: 'get', description: 'The weather.' }],
  handlers: { get: () => 'sunny' },
};
const callForEver = [{ say: 'Let me see.', call: { tool: 'weather__get' } }];

describe('the result of a turn', () => {
  test('C-06 with an answer has turnId, responseMessage and text_response', async () => {
    const agent = await scriptedAgent();
    const { result } = await agent.say('hello', { event: { id: 'e1' } });
    expect(result).toEqual({
      turnId: 'turn-e1',
      finishReason: 'text_response',
      responseMessage: expect.objectContaining({
        data: { role: 'assistant', content: [{ type: 'text', text: 'You said: hello' }] },
        source: { type: 'assistant', stepId: 'turn-e1.step-0' },
      }),
    });
  });

  test('C-06 has an error with its code, and no response, when the turn failed', async () => {
    const agent = await scriptedAgent({ script: [{ fail: { message: 'overloaded' } }] });
    const { result } = await agent.say('hello', { event: { id: 'e1' } });
    expect(result).toEqual({
      turnId: 'turn-e1',
      finishReason: 'error',
      error: expect.objectContaining({ message: 'overloaded', code: 'E_MODEL_FAILED' }),
    });
  });

  test('C-06 has max_steps and the last reply of the model when the turn ran out of steps', async () => {
    const agent = await scriptedAgent({ tools: [weather], script: callForEver, policy: { maxStepsPerTurn: 2 } });
    const { result, text } = await agent.say('hello');
    expect(result).toEqual({
      turnId: 'turn-event-1',
      finishReason: 'max_steps',
      responseMessage: expect.objectContaining({ id: 'turn-event-1.step-1.reply' }),
    });
    expect(text).toBe('Let me see.');
  });

  test('C-06 may have a response that a layer put there', async () => {
    const own = createAssistantMessage('Something nicer.');
    const agent = await scriptedAgent({
      extensions: [oneLayer('polite', 'turn', async (ctx) => ({ ...(await ctx.next()), responseMessage: own }))],
    });
    expect((await agent.say('hello')).text).toBe('Something nicer.');
  });

  test('has no secret in an error that a layer made itself', async () => {
    const agent = await scriptedAgent({
      secrets: ['sk-live-12345'],
      extensions: [
        oneLayer('ender', 'turn', async (ctx) => ({
          ...(await ctx.next()),
          finishReason: 'error',
          error: {
            message: 'sk-live-12345 is wrong',
            code: 'E_KEY',
            suggestion: 'Drop sk-live-12345.',
            extension: 'me',
          },
        })),
      ],
    });
    expect((await agent.say('hello')).result.error).toEqual({
      message: '*** is wrong',
      code: 'E_KEY',
      suggestion: 'Drop ***.',
      extension: 'me',
    });
  });
});

describe('the turn loop', () => {
  test('C-09 runs another step while the result has tool calls, also with text beside them, and ends on a text answer', async () => {
    const agent = await scriptedAgent({
      tools: [weather],
      script: [
        { when: 'weather', say: 'Let me see.', call: { tool: 'weather__get' } },
        { afterTool: 'weather__get', say: 'Sunny.' },
      ],
    });
    expect(await agent.say('weather?')).toMatchObject({
      stepCount: 2,
      text: 'Sunny.',
      result: { finishReason: 'text_response' },
    });
  });

  test('C-09 has a limit of 32 steps by default', async () => {
    const agent = await scriptedAgent({ tools: [weather], script: callForEver });
    expect(await agent.say('hello')).toMatchObject({ stepCount: 32, result: { finishReason: 'max_steps' } });
  });

  test('C-09 follows the layers’ result: a layer that reports tool calls gets another step', async () => {
    const agent = await scriptedAgent({
      extensions: [
        oneLayer('again', 'step', async (ctx) => ({ ...(await ctx.next()), hasToolCalls: ctx.stepIndex < 2 })),
      ],
    });
    expect(await agent.say('hello')).toMatchObject({ stepCount: 3, result: { finishReason: 'text_response' } });
  });
});
