import { expect, test } from 'bun:test';
import { fakeApprover, manualClock, scriptedAgent } from '../../testing/index.ts';
import { beforeNext } from '../../testing/one-layer.ts';
import { decodeTraceLines } from '../../trace/decode-trace-lines.ts';
import { watchTurn } from '../../trace/watch-turn.ts';
import type { TurnLine } from '../../workspace/traces/trace-writer.ts';
import { openTurnTraces } from './turn-traces.ts';

test('after a failed write a request refers to no lost line', async () => {
  // Lines are written only when the test moves the clock.
  const clock = manualClock();
  const written: string[] = [];
  const reported: string[] = [];
  let appends = 0;
  const append = async (lines: readonly TurnLine[]) => {
    const texts = lines.flatMap((line) => line.text() ?? []);
    if (++appends === 2) throw new Error('The disk is full.');
    written.push(...texts);
  };
  const traces = openTurnTraces({
    open: async () => ({ append, close: async () => undefined }),
    clock,
    extensions: () => [],
    report: (problem) => reported.push(problem),
  });
  const flusher = beforeNext('flusher', 'step', () => traces.flush());
  const agent = await scriptedAgent({
    systemPrompt: 'Be brief.',
    script: [{ when: 'go', call: { tool: 'echo__say' } }, { say: 'done' }],
    tools: [{ name: 'echo', exports: [{ name: 'say', description: 'Says it.' }], handlers: { say: () => 'ok' } }],
    extensions: [flusher],
  });
  await agent.say('go', { observer: watchTurn(clock, [traces.listen()]) });
  await traces.close();
  expect(reported).toEqual(['The disk is full.']);

  const lines = decodeTraceLines(written.join('\n'));
  const effects = lines.flatMap((line) => (line.type === 'effect' ? line : []));
  expect(effects.map(({ key }) => key)).toEqual(['1/model']);
  const [{ request } = {}] = effects;
  expect(request?.references.after).toBeUndefined();
  expect(request?.references.more).toHaveLength(4);
  expect(Object.values(request?.parts ?? {})).toMatchObject([{ content: 'Be brief.' }, { name: 'echo__say' }]);
});

test('the written trace has the time that a layer waited for a person', async () => {
  const clock = manualClock();
  const written: string[] = [];
  const append = async (lines: readonly TurnLine[]) => void written.push(...lines.flatMap((line) => line.text() ?? []));
  const traces = openTurnTraces({
    open: async () => ({ append, close: async () => undefined }),
    clock,
    extensions: () => [],
    report: (problem) => written.push(problem),
  });
  const asking = beforeNext('asking', 'toolCall', (ctx) => ctx.approval.ask({ reason: 'It talks.' }));
  const agent = await scriptedAgent({
    script: [{ when: 'go', call: { tool: 'echo__say' } }, { say: 'done' }],
    tools: [{ name: 'echo', exports: [{ name: 'say', description: 'Says it.' }], handlers: { say: () => 'ok' } }],
    extensions: [asking],
    approver: fakeApprover(async () => {
      await clock.advance(12_000);
      return { decision: 'approved', by: 'ann' };
    }),
    clock,
  });
  await agent.say('go', { observer: watchTurn(clock, [traces.listen()]) });
  await traces.close();
  const layers = decodeTraceLines(written.join('\n')).flatMap((line) =>
    line.type === 'chain' ? line.chain.layers : [],
  );
  expect(layers.at(-1)).toMatchObject({ extension: 'asking', ownMs: 0, waitedMs: 12_000 });
});
