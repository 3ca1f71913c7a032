// Changes of old extensions in a running agent: after each change, the order is the one of a fresh start.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { samples } from '../../../test/samples.ts';
import { startOldAgent } from './testing/old-agent.ts';
import {
  middlewarePoints,
  mutatorPoints,
  type OldExtension,
  type OldHandler,
  predictTurn,
  type Reply,
} from './testing/pipeline-model.ts';

const points = [...mutatorPoints, ...middlewarePoints];
const replies: readonly Reply[] = ['error', ['x', 'y'], []];

/** An extension with a handler at each point. `version` moves its handlers to other priorities. */
function old(name: string, version = 0): OldExtension {
  const handlers = points.map((point, index): OldHandler => ({
    point,
    id: `${name}-${point}`,
    priority: ((index + version) % 3) - 1,
    ...(point === 'step.llmError' ? { decides: true } : {}),
  }));
  return { name, handlers: version === 0 ? handlers : [...handlers, { point: 'step.pre' }] };
}

/** Returns true for the notes between the end of a step and the next call of the LLM. */
const isBeforeCall = (note: string) =>
  /^step\.(?:pre|config|tools|blocks|llmInput) /.test(note) ||
  (note.startsWith('step.llmCall') && note.endsWith(' in'));

describe('an old extension of a running agent', () => {
  const [a, b, c] = [old('a'), old('b'), old('c')];

  test.each<[string, OldExtension[], OldExtension[]]>([
    ['is added at the end', [a], [a, b]],
    ['is added before the first', [b], [a, b]],
    ['is the first one ever', [], [a]],
    ['is changed', [a, b], [a, old('b', 1)]],
    ['is changed, and is the first', [a, b], [old('a', 1), b]],
    ['is removed', [a, b, c], [a, c]],
    ['is removed, and is the first', [a, b, c], [b, c]],
    ['is removed, and is the last one left', [a], []],
    ['changes places with another', [a, b, c], [c, b, a]],
    ['is replaced by others', [a, b], [c, old('a', 2)]],
  ])('L-04 L-01 %s: the order is the one of 003 §11', async (_, before, after) => {
    using agent = await startOldAgent(before);
    expect(await agent.turn(replies)).toEqual(await predictTurn(before, replies));
    await agent.change(after);
    expect(await agent.turn(replies)).toEqual(await predictTurn(after, replies));
    await agent.change(before);
    expect(await agent.turn(replies)).toEqual(await predictTurn(before, replies));
    await agent.agent.close();
  });

  test.each<[string, OldExtension[], OldExtension[]]>([
    ['is added before the first', [b], [a, b]],
    ['is changed, and is the first', [a, b], [old('a', 1), b]],
    ['is removed, and is the first', [a, b, c], [b, c]],
    ['is removed, and is the last one left', [a], []],
    ['changes places with another', [a, b], [b, a]],
  ])(
    'L-04 L-01 %s while a turn runs: its next step has the new order, the turn keeps its own',
    async (_, before, after) => {
      using agent = await startOldAgent(before);
      let swapped: Promise<void> | undefined;
      const notes = await agent.turn([['x'], ['y'], []], async () => {
        swapped ??= (await agent.prepare(after)).swap();
      });
      await swapped;
      const isOfTurn = (note: string) => note.startsWith('turn.');
      const [kept, next] = [await predictTurn(before, [['x'], []]), await predictTurn(after, [['y'], []])];
      const first = kept.slice(0, kept.lastIndexOf('LLM')).filter((note) => !isOfTurn(note));
      const steps = [...first.slice(0, first.findLastIndex((note) => !isBeforeCall(note)) + 1)];
      expect(notes.filter((note) => !isOfTurn(note))).toEqual([...steps, ...next.filter((note) => !isOfTurn(note))]);
      expect(notes.filter(isOfTurn)).toEqual(kept.filter(isOfTurn));
      // Nothing of the old version is left in the next turn.
      expect(await agent.turn(replies)).toEqual(await predictTurn(after, replies));
      await agent.agent.close();
    },
  );

  test('L-04 L-01 after any changes, the order is the one of 003 §11', async () => {
    const extension = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), version: fc.nat({ max: 2 }) });
    const wanted = fc
      .uniqueArray(extension, { selector: ({ name }) => name, maxLength: 4 })
      .map((list) => list.map(({ name, version }) => old(name, version)));
    await fc.assert(
      fc.asyncProperty(wanted, fc.array(wanted, { minLength: 1, maxLength: 5 }), async (first, changes) => {
        using agent = await startOldAgent(first);
        for (const next of changes) {
          await agent.change(next);
          expect(await agent.turn(replies)).toEqual(await predictTurn(next, replies));
        }
        await agent.agent.close();
      }),
      { numRuns: samples(50, 10) },
    );
  });
});
