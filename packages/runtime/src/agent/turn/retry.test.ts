/**
 * P-13: the runtime retries a step by running another step. A layer cannot retry; it can only throw or return a result.
 */
import { describe, expect, test } from 'bun:test';
import type { ExtensionRegister } from '@goondan/types';
import { extension, manualClock, type ScriptedAgent, scriptedAgent } from '../../testing/index.ts';
import { beforeNext, layerOf, oneLayer } from '../../testing/one-layer.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const busy = () => Object.assign(new Error('busy'), { retryable: true });
const told = (agent: ScriptedAgent, event: string) =>
  agent.told.filter(({ name }) => name === event).map(({ payload }) => payload);

/**
 * Creates a `register` function. Its step layer throws a retryable error, the first `times` times, before or after
 * `next()`.
 */
function flaky(times: number, before: boolean, seen: unknown[] = []): ExtensionRegister {
  let left = times;
  return layerOf('step', async (ctx) => {
    seen.push({ stepIndex: ctx.stepIndex, ...structuredClone(ctx.metadata) });
    ctx.metadata.tries = ctx.stepIndex + 1;
    if (before && left-- > 0) throw busy();
    const result = await ctx.next();
    if (!before && left-- > 0) throw busy();
    return result;
  });
}

describe('a retryable error in a step', () => {
  test.each([true, false])(
    'P-13 runs another step with the same metadata (thrown before next(): %p)',
    async (before) => {
      const seen: unknown[] = [];
      const agent = await scriptedAgent({ extensions: [extension('flaky', flaky(2, before, seen))] });
      const turn = await agent.say('hi');
      expect(turn.text).toBe('You said: hi');
      expect(seen).toEqual([{ stepIndex: 0 }, { stepIndex: 1, tries: 1 }, { stepIndex: 2, tries: 2 }]);
      expect(turn.stepCount).toBe(1);
      expect(agent.requests).toHaveLength(before ? 1 : 3);
    },
  );

  test('P-13 is retried when the model failed, after the layers saw the failure', async () => {
    const caught: unknown[] = [];
    const seeing = oneLayer('seeing', 'step', (ctx) =>
      ctx.next().catch((error: unknown) => {
        caught.push(error);
        throw error;
      }),
    );
    const script = [{ fail: { message: 'overloaded', retryable: true, times: 2 } }, { say: 'here' }];
    const agent = await scriptedAgent({ script, extensions: [seeing] });
    expect((await agent.say('hi')).text).toBe('here');
    expect(caught).toMatchObject([{ retryable: true }, { retryable: true }]);
    expect(told(agent, 'step.failed')).toMatchObject([
      { stepIndex: 0, willRetry: true, error: { message: 'overloaded' } },
      { stepIndex: 1, willRetry: true },
    ]);
    expect(told(agent, 'step.completed')).toMatchObject([{ stepIndex: 2 }]);
  });

  test('P-13 may be turned into a result by a layer, and then nothing is retried', async () => {
    const calming = oneLayer('calming', 'step', (ctx) =>
      ctx.next().catch(() => ({
        status: 'completed',
        hasToolCalls: false,
        toolCalls: [],
        toolResults: [],
        metadata: {},
      })),
    );
    const agent = await scriptedAgent({
      script: [{ fail: { message: 'overloaded', retryable: true } }],
      extensions: [calming],
    });
    const turn = await agent.say('hi');
    expect(turn.result.finishReason).toBe('text_response');
    expect(agent.requests).toHaveLength(1);
  });

  test.each([
    [undefined, 4],
    [0, 1],
    [1, 2],
  ])('P-13 ends the turn after maxStepRetries (%p) with the error itself', async (maxStepRetries, tries) => {
    const agent = await scriptedAgent({
      script: [{ fail: { message: 'overloaded', retryable: true } }],
      ...(maxStepRetries === undefined ? {} : { policy: { maxStepRetries } }),
    });
    const turn = await agent.say('hi');
    expect(turn.result.error).toMatchObject({ code: 'E_MODEL_FAILED', message: 'overloaded' });
    expect(agent.requests).toHaveLength(tries);
    expect(told(agent, 'step.failed').at(-1)).toMatchObject({ willRetry: false });
  });

  test('is counted for each step anew, and does not count for the limit of steps', async () => {
    const tool: ToolDeclaration = {
      name: 'echo',
      exports: [{ name: 'say', description: '' }],
      handlers: { say: () => 'said' },
    };
    let failures = 0;
    const everySecond = beforeNext('every-second', 'model', () => {
      if (failures++ % 2 === 0) throw busy();
    });
    const agent = await scriptedAgent({
      script: [{ when: 'go', call: { tool: 'echo__say' } }, { say: 'done' }],
      tools: [tool],
      extensions: [everySecond],
      policy: { maxStepRetries: 1, maxStepsPerTurn: 2 },
    });
    const turn = await agent.say('go');
    expect(turn).toMatchObject({ text: 'done', stepCount: 2, result: { finishReason: 'text_response' } });
    expect(failures).toBe(4);
  });
});

describe('the wait before a retry', () => {
  test('B-08 L-06 doubles, or is as long as the error asks for', async () => {
    const clock = manualClock();
    const script = [
      { fail: { message: 'busy', retryable: true, times: 2 } },
      { fail: { message: 'busy', retryable: true, retryAfterMs: 5, times: 1 } },
      { say: 'here' },
    ];
    const agent = await scriptedAgent({ script, clock, policy: { retryBaseMs: 100 } });
    const turn = agent.say('hi');
    const triesAfter = async (ms: number) => {
      await clock.advance(ms);
      return agent.requests.length;
    };
    expect(await triesAfter(99)).toBe(1);
    expect(await triesAfter(1)).toBe(2);
    expect(await triesAfter(199)).toBe(2);
    expect(await triesAfter(1)).toBe(3);
    expect(await triesAfter(4)).toBe(3);
    expect(await triesAfter(1)).toBe(4);
    expect((await turn).text).toBe('here');
    expect(clock.pending).toBe(0);
  });

  test('ends at once when the turn is cancelled', async () => {
    const clock = manualClock();
    const cancel = new AbortController();
    const script = [{ fail: { message: 'busy', retryable: true } }];
    const agent = await scriptedAgent({ script, clock, policy: { retryBaseMs: 60_000 } });
    const turn = agent.say('hi', { signal: cancel.signal });
    await clock.advance(1);
    cancel.abort();
    expect((await turn).result.error?.code).toBe('E_CANCELLED');
    expect(agent.requests).toHaveLength(1);
  });
});

describe('a step layer decides about a failed model call', () => {
  /** Creates an extension that catches the model's error and throws it again with these fields. */
  const judging = (judge: { retryable?: boolean; retryAfterMs?: number }) =>
    oneLayer('judge', 'step', (ctx) =>
      ctx.next().catch((error: unknown) => {
        throw Object.assign(new Error('judged', { cause: error }), judge);
      }),
    );

  test.each([{ retryable: false }, {}])(
    'L-06 P-13 a retryable one is not retried if the layer throws %j',
    async (judge) => {
      const script = [{ fail: { message: 'overloaded', retryable: true, times: 1 } }, { say: 'here' }];
      const agent = await scriptedAgent({ script, extensions: [judging(judge)] });
      expect((await agent.say('hi')).result).toMatchObject({
        finishReason: 'error',
        error: { message: 'judged', extension: 'judge' },
      });
      expect(agent.requests).toHaveLength(1);
    },
  );

  test('L-06 a final one is retried, after the delay that the layer asks for', async () => {
    const clock = manualClock();
    const script = [{ fail: { message: 'no', retryable: false, times: 1 } }, { say: 'here' }];
    const extensions = [judging({ retryable: true, retryAfterMs: 5_000 })];
    const agent = await scriptedAgent({ script, clock, extensions });
    const turn = agent.say('hi');
    while (agent.requests.length < 1) await clock.advance(0);
    await clock.advance(4_000);
    expect(agent.requests).toHaveLength(1);
    await clock.advance(1_500);
    expect((await turn).text).toBe('here');
    expect(agent.requests).toHaveLength(2);
  });
});
