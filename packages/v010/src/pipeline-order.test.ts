// Old extensions in a real agent, compared with the model of 003 §11 and §12: the same handlers run in the same order.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { samples } from '../../../test/samples.ts';
import { startOldAgent, toolNames } from './testing/old-agent.ts';
import {
  middlewarePoints,
  mutatorPoints,
  type OldExtension,
  type OldHandler,
  predictTurn,
  type Reply,
} from './testing/pipeline-model.ts';

const points = [...mutatorPoints, ...middlewarePoints];

/** Runs the turns in a real agent and in the model, and compares their notes. */
async function compare(extensions: readonly OldExtension[], turns: readonly (readonly Reply[])[]): Promise<void> {
  using old = await startOldAgent(extensions);
  for (const replies of turns) expect(await old.turn(replies)).toEqual(await predictTurn(extensions, replies));
  await old.agent.close();
}

/** An extension with one handler at each of the thirteen points. */
function atEveryPoint(name: string, priority: number | 'none'): OldExtension {
  return {
    name,
    handlers: points.map((point) => ({
      point,
      ...(priority === 'none' ? {} : { priority, id: `${name}-${point}` }),
      ...(point === 'step.llmError' ? { decides: true } : {}),
    })),
  };
}

describe('thirteen points of two old extensions', () => {
  const priorities = [-7, 'none', 0, 7] as const;
  const pairs = priorities.flatMap((first) => priorities.map((second) => [first, second] as const));

  test.each(pairs)('L-04 run in the order of 003 §11, with the priorities %p and %p', async (first, second) => {
    const extensions = [atEveryPoint('first', first), atEveryPoint('second', second)];
    const none: Reply[] = [[]];
    const one: Reply[] = [['x'], []];
    const failing: Reply[] = ['error', ['x', 'y'], ['y'], 'error', 'error', []];
    await compare(extensions, [none, one, failing]);
  });
});

describe('the model', () => {
  test('has all thirteen points, and predicts them in the order of the document', async () => {
    expect(points).toHaveLength(13);
    const notes = await predictTurn([atEveryPoint('a', 0)], [['x'], []]);
    const step = ['step.pre', 'step.config', 'step.tools', 'step.blocks', 'step.llmInput', 'step.llmCall', 'LLM'];
    const call = ['toolCall.pre', 'toolCall.exec', 'tool', 'toolCall.exec', 'toolCall.post'];
    expect(notes.map((note) => note.split(' ')[0])).toEqual([
      'turn.pre',
      ...[...step, 'step.llmCall', ...call, 'step.post'],
      ...[...step, 'step.llmCall', 'step.post'],
      'turn.post',
    ]);
  });

  test('sorts by priority and keeps the order of equal ones, as 003 §7.2 shows', async () => {
    const at = (priority: number): OldHandler => ({ point: 'step.tools', priority });
    const notes = await predictTurn([{ name: 'fn', handlers: [at(10), at(5), at(10)] }], [[]]);
    expect(notes).toEqual(['step.tools fn#1', 'step.tools fn#0', 'step.tools fn#2', 'LLM']);
  });
});

const handler: fc.Arbitrary<OldHandler> = fc
  .record({
    point: fc.constantFrom(...points),
    priority: fc.option(fc.constantFrom(-100, -1, 0, 0.5, 1, 100), { nil: undefined }),
    id: fc.option(fc.constantFrom('one', 'two'), { nil: undefined }),
    decides: fc.option(fc.boolean(), { nil: undefined }),
  })
  .map(({ point, priority, id, decides }) => ({
    point,
    ...(priority === undefined ? {} : { priority }),
    ...(id === undefined ? {} : { id }),
    ...(decides === undefined || point !== 'step.llmError' ? {} : { decides }),
  }));

/** Old extensions, the first of which always has a handler at `step.llmError`, so that it decides about errors. */
const extensionsOf = (names: readonly string[]): fc.Arbitrary<OldExtension[]> =>
  fc.tuple(fc.boolean(), ...names.map(() => fc.array(handler, { maxLength: 14 }))).map(([decides, ...lists]) =>
    names.map((name, index) => ({
      name,
      handlers: [...(index === 0 ? [{ point: 'step.llmError' as const, decides }] : []), ...(lists[index] ?? [])],
    })),
  );

/** Replies of a turn, with at most two errors in a row. */
const turn: fc.Arbitrary<Reply[]> = fc
  .array(
    fc.oneof(
      { weight: 1, arbitrary: fc.constant<Reply>('error') },
      { weight: 4, arbitrary: fc.array(fc.constantFrom(...toolNames), { minLength: 1, maxLength: 2 }) },
    ),
    { maxLength: 4 },
  )
  .map((replies) => replies.filter((reply, index) => reply !== 'error' || replies[index - 2] !== 'error'));

describe('any handlers of old extensions', () => {
  test('L-04 run in the order of 003 §11, whatever their points, priorities and ids', async () => {
    await fc.assert(
      fc.asyncProperty(extensionsOf(['a', 'b', 'c']), fc.array(turn, { minLength: 1, maxLength: 2 }), compare),
      { numRuns: samples(150, 10) },
    );
  });
});
