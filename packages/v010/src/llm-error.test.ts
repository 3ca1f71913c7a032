// `step.llmError` of old extensions decides about a failed LLM call: whether it is made again, and after which time.
import { describe, expect, test } from 'bun:test';
import { manualClock } from '@goondan/runtime/testing';
import { startWith } from './testing/old-agent.ts';

const busy = (times: number, more: object = {}) => [{ fail: { message: 'busy', times, ...more } }, { say: 'done' }];

describe('step.llmError', () => {
  test('L-04 without a change of shouldRetry, the error ends the turn, even if the runtime would try again', async () => {
    const code = `api.pipelines.mutate('step.llmError', (ctx) => {
      note([ctx.error.message, ctx.retryCount, ctx.shouldRetry, ctx.retryDelayMs].join(' '));
      return ctx;
    });`;
    using tested = await startWith(code, { script: busy(1, { retryable: true }) });
    const { result } = await tested.agent.say('hi');
    expect(result.error?.message).toContain('busy');
    expect(tested.agent.requests).toHaveLength(1);
    expect(tested.notes).toEqual(['busy 0 false 1000']);
  });

  test.each([
    ['repeats the call, even if the runtime would not', 2, ['error 0', 'error 1', 'turn.post'], 'done', undefined],
    ['lets the last error pass when it is false again', 9, ['error 0', 'error 1', 'error 2'], '', 'busy'],
  ])('L-04 shouldRetry %s, and retryCount counts up', async (_, failures, notes, answer, error) => {
    const code = `api.pipelines.mutate('step.llmError', (ctx) => {
      note('error ' + ctx.retryCount);
      return { ...ctx, shouldRetry: ctx.retryCount < 2, retryDelayMs: 0 };
    });
    api.pipelines.mutate('turn.post', (ctx) => (note('turn.post'), ctx));`;
    using tested = await startWith(code, { script: busy(failures) });
    const { text, result } = await tested.agent.say('hi');
    expect([text, result.error?.message]).toEqual([answer, error]);
    expect(tested.notes).toEqual(notes);
    expect(tested.agent.requests).toHaveLength(3);
  });

  test.each<[string, () => unknown]>([
    ['an error', () => new Error('busy')],
    ['a retryable error', () => Object.assign(new Error('busy'), { retryable: true, retryAfterMs: 60_000 })],
    ['a frozen error', () => Object.freeze(Object.assign(new Error('busy'), { retryable: true }))],
    ['a text', () => 'busy'],
  ])('L-04 %s of the model is tried again or not, and is not blamed on an extension', async (_, thrown) => {
    const model = {
      generate: async () => {
        throw thrown();
      },
    };
    const code = `api.pipelines.mutate('step.llmError', (ctx) => ({ ...ctx, shouldRetry: ctx.retryCount < 1, retryDelayMs: 0 }));
    api.pipelines.wrap('step.llmCall', async (ctx, next) => await next(ctx));`;
    using tested = await startWith(code, { model });
    const { result } = await tested.agent.say('hi');
    expect(tested.agent.requests).toHaveLength(2);
    expect(result.error?.message).toContain('busy');
    if (typeof thrown() === 'object' && !Object.isFrozen(thrown())) expect(result.error?.extension).toBeUndefined();
  });

  test.each(['step.blocks', 'step.llmInput'])(
    'L-04 does not decide about an error of a function at %s',
    async (point) => {
      const code = `api.pipelines.mutate('${point}', () => { throw new Error('wrong'); });
    api.pipelines.mutate('step.llmError', (ctx) => (note('error'), { ...ctx, shouldRetry: true, retryDelayMs: 0 }));`;
      using tested = await startWith(code);
      const { result } = await tested.agent.say('hi');
      expect(result.error?.message).toContain('wrong');
      expect(tested.notes).toEqual([]);
      expect(tested.agent.requests).toEqual([]);
    },
  );

  test('L-04 retryCount begins anew after a call that succeeded, and in the next turn', async () => {
    const code = `api.pipelines.mutate('step.llmError', (ctx) => {
      note('error ' + ctx.retryCount);
      return { ...ctx, shouldRetry: true, retryDelayMs: 0 };
    });`;
    let calls = 0;
    const model = {
      generate: async () => {
        calls += 1;
        if (calls % 3 !== 0) throw new Error('busy');
        const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
        const isCall = calls === 3;
        const call = { type: 'tool-call' as const, toolCallId: 'c', toolName: 'x__run', input: {} };
        const content = isCall ? [call] : [{ type: 'text' as const, text: 'done' }];
        return { content, finishReason: isCall ? ('tool-calls' as const) : ('stop' as const), usage };
      },
    };
    const tools = [{ name: 'x', exports: [{ name: 'run', description: 'Runs.' }], handlers: { run: () => 1 } }];
    using tested = await startWith(code, { model, tools });
    await tested.agent.say('hi');
    expect((await tested.agent.say('hi')).text).toBe('done');
    const twice = ['error 0', 'error 1'];
    expect(tested.notes).toEqual([...twice, ...twice, ...twice]);
  });

  test('L-04 the call is repeated after retryDelayMs, not earlier', async () => {
    const code = `api.pipelines.mutate('step.llmError', (ctx) => ({ ...ctx, shouldRetry: true, retryDelayMs: 40_000 }));`;
    const clock = manualClock();
    using tested = await startWith(code, { script: busy(1), clock });
    const turn = tested.agent.say('hi');
    await clock.advance(39_999);
    expect(tested.agent.requests).toHaveLength(1);
    await clock.advance(1);
    expect((await turn).text).toBe('done');
    expect(tested.agent.requests).toHaveLength(2);
  });

  test('L-04 the last handler decides, and each handler sees the decision before it', async () => {
    const code = `
    api.pipelines.mutate('step.llmError', (ctx) => (note('third ' + ctx.shouldRetry), ctx), { priority: 2 });
    api.pipelines.mutate('step.llmError', (ctx) => (note('first ' + ctx.shouldRetry), { ...ctx, shouldRetry: true }));
    api.pipelines.mutate('step.llmError', (ctx) => (note('second ' + ctx.shouldRetry), { ...ctx, shouldRetry: false }));`;
    using tested = await startWith(code, { script: busy(1, { retryable: true }) });
    expect((await tested.agent.say('hi')).result.finishReason).toBe('error');
    expect(tested.notes).toEqual(['first false', 'second true', 'third false']);
  });

  test('L-04 runs for an error of a step.llmCall handler', async () => {
    const code = `
    api.pipelines.mutate('step.llmError', (ctx) => (note(ctx.error.message), ctx));
    api.pipelines.wrap('step.llmCall', async (ctx, next) => {
      await next(ctx);
      throw new Error('refused answer');
    });`;
    using tested = await startWith(code, {});
    expect((await tested.agent.say('hi')).result.error?.message).toContain('refused answer');
    expect(tested.notes).toEqual(['refused answer']);
  });

  test.each([
    ['next() twice', 'E_EXT_COMPAT', '(await next(ctx), next(ctx))'],
    ['a result that is none', 'E_MIDDLEWARE_RESULT', 'void (await next(ctx))'],
    ['next() that is not awaited', 'E_NEXT_NOT_AWAITED', 'void next(ctx)'],
    ['next() of another call', 'E_NEXT_LATE', '(first ??= next)(ctx)'],
  ])('L-04 does not run for a mistake that another try would repeat: %s', async (_, code, call) => {
    const source = `
    let first;
    api.pipelines.mutate('step.llmError', (ctx) => (note(ctx.error.message), { ...ctx, shouldRetry: true }));
    api.pipelines.wrap('step.llmCall', async (ctx, next) => ${call});`;
    using tested = await startWith(source, {});
    await tested.agent.say('hi');
    expect((await tested.agent.say('hi')).result.error).toMatchObject({ code, extension: 'old' });
    expect(tested.notes).toEqual([]);
    expect(tested.agent.requests.length).toBeLessThanOrEqual(2);
  });

  test('L-04 does not run for a cancelled turn', async () => {
    const cancelled = new AbortController();
    const model = {
      generate: async () => {
        cancelled.abort();
        throw new Error('busy');
      },
    };
    const code = `api.pipelines.mutate('step.llmError', (ctx) => (note(ctx.error.message), ctx));`;
    using tested = await startWith(code, { model });
    await tested.agent.say('hi', { signal: cancelled.signal });
    expect(tested.notes).toEqual([]);
  });

  test('L-04 sees the delay that the error asks for', async () => {
    const model = {
      generate: async () => {
        throw Object.assign(new Error('busy'), { retryAfterMs: 7 });
      },
    };
    const code = `api.pipelines.mutate('step.llmError', (ctx) => (note('' + ctx.retryDelayMs), ctx));`;
    using tested = await startWith(code, { model });
    await tested.agent.say('hi');
    expect(tested.notes).toEqual(['7']);
  });

  test('L-04 policy.maxStepRetries ends a handler that always wants to try again', async () => {
    const code = `api.pipelines.mutate('step.llmError', (ctx) => ({ ...ctx, shouldRetry: true, retryDelayMs: 0 }));`;
    using tested = await startWith(code, { script: busy(99), policy: { maxStepRetries: 4 } });
    expect((await tested.agent.say('hi')).result.error?.message).toContain('busy');
    expect(tested.agent.requests).toHaveLength(5);
  });

  test('without a handler there, the runtime decides about the retry', async () => {
    using tested = await startWith(`api.pipelines.mutate('step.pre', (ctx) => ctx);`, {
      script: busy(1, { retryable: true }),
    });
    expect((await tested.agent.say('hi')).text).toBe('done');
    expect(tested.agent.requests).toHaveLength(2);
  });
});
