import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ToolHandler } from '@goondan/types';
import { extension, scriptedAgent } from '../../testing/index.ts';
import { afterNext, oneLayer } from '../../testing/one-layer.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

interface Running {
  readonly timeline: string[];
  readonly handler: ToolHandler;
}

/** Creates a handler that runs for a given number of ticks and records its start and its end. */
function timed(): Running {
  const timeline: string[] = [];
  return {
    timeline,
    async handler({ toolCallId }, { ticks }) {
      timeline.push(`begin ${toolCallId}`);
      for (let tick = 0; tick < Number(ticks); tick++) await new Promise((resolve) => void setImmediate(resolve));
      timeline.push(`end ${toolCallId}`);
      return { id: toolCallId };
    },
  };
}

function toolNamed(name: string, parallel: boolean, run: ToolHandler): ToolDeclaration {
  return { name, exports: [{ name: 'run', description: '', parallel }], handlers: { run } };
}

/** Runs one step with these calls, in this order. */
async function callAll(calls: readonly { readonly parallel: boolean; readonly ticks: number }[]) {
  const { timeline, handler } = timed();
  const agent = await scriptedAgent({
    script: [
      {
        when: 'go',
        calls: calls.map(({ parallel, ticks }) => ({
          tool: `${parallel ? 'together' : 'alone'}__run`,
          args: { ticks },
        })),
      },
      { say: 'done' },
    ],
    tools: [toolNamed('together', true, handler), toolNamed('alone', false, handler)],
  });
  await agent.say('go');
  const results = (await agent.messages()).flatMap(({ source }) => (source.type === 'tool' ? source.toolCallId : []));
  return { timeline, results, asked: calls.map((_, index) => `call_${index + 1}`) };
}

/** Returns the calls that were running at each moment. */
function overlaps(timeline: readonly string[]): string[][] {
  const running = new Set<string>();
  return timeline.map((line) => {
    const [what, id = ''] = line.split(' ');
    if (what === 'begin') running.add(id);
    else running.delete(id);
    return [...running];
  });
}

describe('the tool calls of a step', () => {
  test('run at the same time when their tool is parallel', async () => {
    const { timeline } = await callAll([
      { parallel: true, ticks: 3 },
      { parallel: true, ticks: 1 },
    ]);
    expect(timeline).toEqual(['begin call_1', 'begin call_2', 'end call_2', 'end call_1']);
  });

  test('run one after the other, in the order asked, when it is not', async () => {
    const { timeline } = await callAll([
      { parallel: false, ticks: 3 },
      { parallel: false, ticks: 0 },
    ]);
    expect(timeline).toEqual(['begin call_1', 'end call_1', 'begin call_2', 'end call_2']);
  });

  test('in any mix a call that is not parallel runs alone, and results are in the order the model asked', async () => {
    const call = fc.record({ parallel: fc.boolean(), ticks: fc.nat({ max: 3 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 6 }), async (calls) => {
        const { timeline, results, asked } = await callAll(calls);
        expect(results).toEqual(asked);
        expect(timeline.filter((line) => line.startsWith('begin')).toSorted()).toEqual(
          asked.map((id) => `begin ${id}`),
        );
        const alone = new Set(asked.filter((_, index) => calls[index]?.parallel === false));
        for (const running of overlaps(timeline)) {
          if (running.some((id) => alone.has(id))) expect(running).toHaveLength(1);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('an extension’s tool with readOnly runs at the same time as others', async () => {
    const { timeline, handler } = timed();
    const offering = extension('offering', ({ tools }) => {
      tools.register({ name: 'look__run', description: '', annotations: { readOnly: true } }, handler);
    });
    const agent = await scriptedAgent({
      script: [{ when: 'go', calls: [1, 2].map((ticks) => ({ tool: 'look__run', args: { ticks } })) }, { say: 'done' }],
      extensions: [offering],
    });
    await agent.say('go');
    expect(timeline.slice(0, 2)).toEqual(['begin call_1', 'begin call_2']);
  });

  test('the model gets no helpUrl with the error of a tool; layers and watchers get it', async () => {
    const helpUrl = 'https://example.com/cities';
    const failing: ToolHandler = () => {
      throw Object.assign(new Error('no such city'), { helpUrl, suggestion: 'Ask for another one.' });
    };
    const seen: unknown[] = [];
    const watching = afterNext('watching', 'toolCall', (result) => seen.push(result.error?.helpUrl));
    const agent = await scriptedAgent({
      script: [{ when: 'go', calls: [{ tool: 'broken__run' }] }, { say: 'done' }],
      tools: [toolNamed('broken', true, failing)],
      extensions: [watching],
    });
    await agent.say('go');
    expect(agent.requests[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: [
        { output: { type: 'error-json', value: { message: 'no such city', suggestion: 'Ask for another one.' } } },
      ],
    });
    expect(JSON.stringify(agent.requests)).not.toContain('helpUrl');
    expect(seen).toEqual([helpUrl]);
    expect(JSON.stringify(agent.told)).toContain(helpUrl);
  });

  test('P-12 a call that fails, or whose layer throws, does not stop the others', async () => {
    const { timeline, handler } = timed();
    const failing: ToolHandler = () => {
      throw new Error('broken');
    };
    const refusing = oneLayer('refusing', 'toolCall', (ctx) => {
      if (ctx.toolCallId === 'call_2') throw new Error('refused');
      return ctx.next();
    });
    const agent = await scriptedAgent({
      script: [
        { when: 'go', calls: ['broken__run', 'fine__run', 'fine__run'].map((tool) => ({ tool })) },
        { say: 'done' },
      ],
      tools: [toolNamed('broken', true, failing), toolNamed('fine', true, handler)],
      extensions: [refusing],
    });
    expect((await agent.say('go')).text).toBe('done');
    expect(timeline).toEqual(['begin call_3', 'end call_3']);
    const outputs = (await agent.messages()).flatMap(({ data }) =>
      data.role === 'tool' ? data.content[0]?.output : [],
    );
    expect(outputs).toMatchObject([
      { type: 'error-json', value: { message: 'broken', code: 'E_TOOL_FAILED' } },
      { type: 'error-json', value: { message: 'refused', code: 'E_EXT_MIDDLEWARE' } },
      { type: 'json', value: { id: 'call_3' } },
    ]);
  });
});
