import { expect, test } from 'bun:test';
import type { ApprovalOutcome, ToolCallMiddleware } from '@goondan/types';
import { extension, fakeApprover, manualClock, scriptedAgent } from '../testing/index.ts';
import { renderTrace } from './render-trace.ts';

const script = [{ when: 'go', call: { tool: 'echo__say', args: { text: 'hi' } } }, { say: 'done' }];
const echo = {
  name: 'echo',
  exports: [{ name: 'say', description: 'Says it again.' }],
  handlers: { say: () => 'said' },
};

/** Runs a tool call with one layer, and returns the layer's record and the trace as text. */
async function traceOf(make: (clock: ReturnType<typeof manualClock>) => ToolCallMiddleware, answers: ApprovalOutcome) {
  const clock = manualClock();
  const approver = fakeApprover(async () => {
    await clock.advance(12_000);
    return answers;
  });
  const asking = extension('asking', ({ pipeline }) =>
    pipeline.register('toolCall', make(clock), { mayShortCircuit: true }),
  );
  const agent = await scriptedAgent({ script, tools: [echo], extensions: [asking], approver, clock });
  const { trace } = await agent.say('go');
  const call = trace?.inside[0]?.inside.find(({ kind }) => kind === 'toolCall');
  return { layer: call?.layers[0], total: call?.totalMs, text: trace === undefined ? '' : renderTrace(trace) };
}

test('F-22 the time that a layer waits for a person is not its own time', async () => {
  const { layer, total, text } = await traceOf(
    (clock) => async (ctx) => {
      await clock.advance(5);
      await ctx.approval.ask({ reason: 'It talks.' });
      await clock.advance(3);
      const result = await ctx.next();
      await clock.advance(2);
      return result;
    },
    { decision: 'approved', by: 'ann' },
  );
  expect(layer).toMatchObject({ extension: 'asking', ownMs: 10, waitedMs: 12_000, totalMs: 12_010 });
  expect(total).toBe(12_010);
  expect(text).toContain('asking own 10 ms, waited for a person 12.0 s');
});

test('F-22 two questions at once are one wait; a layer that asks nobody has none', async () => {
  const both = await traceOf(
    () => async (ctx) => {
      await Promise.all([ctx.approval.ask({ reason: 'One.' }), ctx.approval.ask({ reason: 'Two.' })]);
      return ctx.next();
    },
    { decision: 'approved', by: 'ann' },
  );
  expect(both.layer?.waitedMs).toBe(both.layer?.totalMs ?? 0);
  expect(both.layer?.ownMs).toBe(0);
  const silent = await traceOf(() => (ctx) => ctx.next(), { decision: 'approved', by: 'ann' });
  expect(silent.layer).not.toHaveProperty('waitedMs');
  expect(silent.text).not.toContain('waited');
});
