// The layers that old extensions hang, and the authors of the events that they emit.
import { describe, expect, test } from 'bun:test';
import type { MiddlewareKind } from '@goondan/types';
import { memoryStore } from '@goondan/runtime/history';
import { scriptedAgent } from '@goondan/runtime/testing';
import { allPoints, callsTool, note, oldExtension } from './testing/old-extension.ts';
import { startOldAgent, startWith } from './testing/old-agent.ts';
import { middlewarePoints, mutatorPoints, predictTurn } from './testing/pipeline-model.ts';
import { recordingStore } from './testing/recording-store.ts';

const kinds: readonly MiddlewareKind[] = ['turn', 'step', 'model', 'toolCall'];

describe('the layers of an old extension', () => {
  const layersWith = async (...points: readonly string[]) => {
    const register = points.map((point) => `api.pipelines.mutate('${point}', (ctx) => ctx);`).join('\n');
    using tested = await startWith(register);
    return kinds.flatMap((kind) => tested.agent.layers(kind).map((layer) => `${kind} ${layer}`));
  };

  test('are those that its functions need, and are named after its points', async () => {
    expect(await layersWith('turn.pre')).toEqual(['turn old/v010 turn.pre']);
    expect(await layersWith('step.pre', 'step.post', 'step.pre')).toEqual([
      'step old/v010 step.pre step.post',
      'model old/v010',
    ]);
    expect(await layersWith('turn.post', 'toolCall.pre')).toEqual([
      'turn old/v010 turn.post',
      'step old/v010',
      'model old/v010',
      'toolCall old/v010 toolCall.pre',
    ]);
  });

  test.each([false, true])(
    'L-04 run the functions of thirteen extensions with one point each in the order of v0.10 (reversed: %p)',
    async (isReversed) => {
      const points = [...mutatorPoints, ...middlewarePoints];
      const extensions = (isReversed ? points.toReversed() : points).map((point, index) => ({
        name: `old-${index}`,
        handlers: [{ point, ...(point === 'step.llmError' ? { decides: true } : {}) }],
      }));
      const replies = [['x'], 'error', ['x', 'y'], []] as const;
      using old = await startOldAgent(extensions);
      expect(await old.turn(replies)).toEqual(await predictTurn(extensions, replies));
    },
  );

  test.each([
    ['turn.post', `ctx.turn.toolResults.map(({ output }) => output.text)`, '["hello"]'],
    ['step.post', 'ctx.step.llmResult.message.content', '"done"'],
    ['toolCall.pre', 'ctx.toolCatalog.map(({ name }) => name)', '["echo__run"]'],
    ['toolCall.pre', 'ctx.step.llmResult.toolCalls.length', '1'],
    ['step.llmInput', 'ctx.llmInput.at(0).content', '"go"'],
  ])('L-04 fill in the context of a function at %s: %s', async (point, value, expected) => {
    using tested = await startWith(
      `api.pipelines.mutate('${point}', (ctx) => { note(JSON.stringify(${value})); return ctx; });`,
      callsTool,
    );
    expect((await tested.agent.say('go')).result.error).toBeUndefined();
    expect(tested.notes).toContain(expected);
  });
});

test('L-04 the author of an event is the extension whose function emitted it', async () => {
  const { store, records } = recordingStore(memoryStore());
  const emitting = oldExtension('emitting', ({ pipelines }) => {
    pipelines.mutate('turn.pre', async (ctx) => {
      await ctx.emitMessageEvent({ type: 'llm_message', message: { id: 'a', role: 'user', content: 'A' } });
      return { ...ctx, turn: { ...ctx.turn, input: 'changed' } };
    });
  });
  const seen: string[] = [];
  const first = oldExtension('first', (api) => allPoints.forEach((point) => note(api, point, 'first', seen)));
  const agent = await scriptedAgent({ store, extensions: [first, emitting] });
  const { trace } = await agent.say('hi');
  const authors = records.flatMap((record) => (record.type === 'message' ? [record.author] : []));
  expect(authors.flatMap((author) => (author.kind === 'extension' ? [author.name] : []))).toEqual([
    'emitting',
    'emitting',
  ]);
  expect(trace?.layers.map(({ extension, emitted }) => [extension, emitted])).toEqual([
    ['first', ['append user a (extension emitting)', 'replace turn-event-1.input (extension emitting)']],
    ['emitting', []],
  ]);
});
