import { describe, expect, test } from 'bun:test';
import { scriptedAgent } from '@goondan/runtime/testing';
import { allPoints, callsTool, note, oldExtension } from './testing/old-extension.ts';

/** The points of a step without a tool call, with the functions a and b. */
const aroundModel = [
  ...['step.pre', 'step.config', 'step.tools', 'step.blocks', 'step.llmInput'].flatMap((point) => [
    `${point} a`,
    `${point} b`,
  ]),
  ...['step.llmCall a in', 'step.llmCall b in', 'step.llmCall b out', 'step.llmCall a out'],
];
const stepEnd = ['step.post a', 'step.post b'];

describe('the functions of two old extensions', () => {
  test('L-04 run at every point in the order of the agent’s extensions, and wrap with the first outside', async () => {
    const seen: string[] = [];
    const extensions = ['a', 'b'].map((name) =>
      oldExtension(name, (api) => allPoints.forEach((point) => note(api, point, name, seen))),
    );
    const agent = await scriptedAgent({ ...callsTool, extensions });
    expect((await agent.say('go')).text).toBe('done');
    expect(seen).toEqual([
      ...['turn.pre a', 'turn.pre b'],
      ...aroundModel,
      ...['toolCall.pre a', 'toolCall.pre b'],
      ...['toolCall.exec a in', 'toolCall.exec b in', 'toolCall.exec b out', 'toolCall.exec a out'],
      ...['toolCall.post a', 'toolCall.post b'],
      ...stepEnd,
      ...aroundModel,
      ...stepEnd,
      ...['turn.post a', 'turn.post b'],
    ]);
  });

  test('L-04 a lower priority runs first or further out, at every point', async () => {
    const seen: string[] = [];
    const extensions = ['a', 'b'].map((name) =>
      oldExtension(name, (api) =>
        allPoints.forEach((point) => note(api, point, name, seen, { priority: name === 'a' ? 10 : 5 })),
      ),
    );
    const agent = await scriptedAgent({ ...callsTool, extensions });
    await agent.say('go');
    const first = allPoints.filter((point) => point !== 'step.llmError');
    for (const point of first) expect(seen.find((line) => line.startsWith(`${point} `))).toStartWith(`${point} b`);
  });
});
