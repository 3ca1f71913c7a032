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
      { numRuns: samples(50) },
    );
  });
});
