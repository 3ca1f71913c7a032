// Seed 003: its examples of v0.10 extensions run unchanged with `compat: v010`.
import { beforeEach, describe, expect, test } from 'bun:test';
import { scriptedAgent } from '@goondan/runtime/testing';
import { example, exportsOf } from './example.ts';

/** Returns the example as an extension of v0.10. */
function oldExample(file: string) {
  const { resource, ...declared } = example(file);
  return { ...declared, resource: { ...resource, spec: { ...resource.spec, compat: 'v010' as const } } };
}

describe('seed 003', () => {
  let lines: string[];
  beforeEach(async () => {
    const [{ printed }, { ran }] = await Promise.all([exportsOf('003-2-2-middleware'), exportsOf('003-7-2-priority')]);
    // Safe: both examples export their lines as a list of texts.
    for (const list of [printed, ran] as string[][]) list.length = 0;
    lines = printed as string[];
  });

  test('B-09 L-04 §2.1 adds a tool to the catalog', async () => {
    const agent = await scriptedAgent({
      tools: [{ name: 'dice', exports: [{ name: 'roll', description: 'Rolls.' }], handlers: { roll: () => 4 } }],
      extensions: [oldExample('003-2-1-mutator')],
    });
    expect((await agent.say('hello')).text).toBe('You said: hello');
    const [request] = agent.requests;
    expect(request?.tools.map(({ name }) => name)).toEqual(['dice__roll', 'dynamic.tool']);
    expect(request?.tools.at(-1)).toMatchObject({
      description: '동적으로 추가된 도구',
      parameters: { type: 'object', properties: {} },
    });
  });

  test('B-09 L-04 §2.2 surrounds each call of the LLM', async () => {
    const agent = await scriptedAgent({ extensions: [oldExample('003-2-2-middleware')] });
    expect((await agent.say('hello')).text).toBe('You said: hello');
    expect(lines).toEqual(['[LLM] 호출 시작', expect.stringMatching(/^\[LLM\] 호출 완료: \d+ms$/)]);
    await agent.say('again');
    expect(lines).toHaveLength(4);
  });

  test('B-09 L-04 §7.2 runs the lowest priority first, and equal ones in the order of registration', async () => {
    const agent = await scriptedAgent({ extensions: [oldExample('003-7-2-priority')] });
    await agent.say('hello');
    expect((await exportsOf('003-7-2-priority'))['ran']).toEqual(['fnB', 'fnA', 'fnC']);
  });

  test('B-09 L-04 all three run in one agent', async () => {
    const files = ['003-2-1-mutator', '003-2-2-middleware', '003-7-2-priority'];
    const extensions = files.map((file) => {
      const { resource, ...declared } = oldExample(file);
      return { ...declared, resource: { ...resource, metadata: { name: `old-${file}` } } };
    });
    const agent = await scriptedAgent({ extensions });
    expect((await agent.say('hello')).text).toBe('You said: hello');
    expect(agent.requests[0]?.tools.map(({ name }) => name)).toEqual(['dynamic.tool']);
    expect(lines).toHaveLength(2);
  });
});
