import { describe, expect, test } from 'bun:test';
import type { StepResult } from '@goondan/types';
import { scriptedAgent, type ScriptedAgentOptions } from '../../testing/index.ts';
import { afterNext, oneLayer } from '../../testing/one-layer.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const weather: ToolDeclaration = {
  name: 'weather',
  exports: [{ name: 'get', description: 'The weather of a city.' }],
  handlers: {
    get: (_ctx, { city }) => {
      if (city === 'Atlantis') throw new Error('no such city');
      return { city: city ?? null };
    },
  },
};

/** Returns the result of every step of one turn, as the outermost layer gets it. */
async function resultsOf(options: ScriptedAgentOptions): Promise<StepResult[]> {
  const results: StepResult[] = [];
  const agent = await scriptedAgent({
    tools: [weather],
    ...options,
    extensions: [
      afterNext('watcher', 'step', (result) => results.push(structuredClone(result))),
      ...(options.extensions ?? []),
    ],
  });
  await agent.say('go');
  return results;
}

describe('the result of a step', () => {
  test('C-07 has hasToolCalls false and empty lists without tool calls', async () => {
    expect(await resultsOf({})).toEqual([
      { status: 'completed', hasToolCalls: false, toolCalls: [], toolResults: [], metadata: { finishReason: 'stop' } },
    ]);
  });

  test('C-07 has the tool call as the model asked it, and its result', async () => {
    const [first, second] = await resultsOf({
      script: [{ when: 'go', call: { tool: 'weather__get', args: { city: 'Seoul' } } }, { say: 'done' }],
    });
    expect(first).toEqual({
      status: 'completed',
      hasToolCalls: true,
      toolCalls: [{ id: 'call_1', name: 'weather__get', args: { city: 'Seoul' } }],
      toolResults: [{ toolCallId: 'call_1', toolName: 'weather__get', status: 'ok', output: { city: 'Seoul' } }],
      metadata: { finishReason: 'tool-calls' },
    });
    expect(second).toMatchObject({ hasToolCalls: false, toolCalls: [] });
  });

  test('C-07 contains the result of a call that failed; the step is completed', async () => {
    const [first] = await resultsOf({
      script: [{ when: 'go', call: { tool: 'weather__get', args: { city: 'Atlantis' } } }, { say: 'done' }],
    });
    expect(first).toMatchObject({
      status: 'completed',
      toolResults: [{ status: 'error', error: { code: 'E_TOOL_FAILED', message: 'no such city' } }],
    });
  });

  test('has its results in the order the model asked', async () => {
    const calls = ['Seoul', 'Busan'].map((city) => ({ tool: 'weather__get', args: { city } }));
    const [first] = await resultsOf({ script: [{ when: 'go', calls }, { say: 'done' }] });
    expect(first?.toolResults.map(({ output }) => output)).toEqual([{ city: 'Seoul' }, { city: 'Busan' }]);
  });

  test('C-07 metadata that a layer adds reaches the outer layers', async () => {
    const [only] = await resultsOf({
      extensions: [oneLayer('noter', 'step', async (ctx) => ({ ...(await ctx.next()), metadata: { noted: true } }))],
    });
    expect(only?.metadata).toEqual({ noted: true });
  });

  test("C-07 status 'failed' from a layer ends the turn with a code", async () => {
    const agent = await scriptedAgent({
      extensions: [oneLayer('judge', 'step', async (ctx) => ({ ...(await ctx.next()), status: 'failed' }))],
    });
    expect((await agent.say('go')).result).toMatchObject({
      finishReason: 'error',
      error: { code: 'E_STEP_FAILED', message: 'Step 0 was ended by one of its layers.' },
    });
  });
});
