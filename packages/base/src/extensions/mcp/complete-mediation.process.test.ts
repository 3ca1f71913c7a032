/**
 * Checks P-19 for tools of MCP servers: every call that reaches the server passed the `toolCall` chain. The server
 * counts its calls itself. The outermost and the innermost layer are test layers that record each call.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { ExtensionRegister } from '@goondan/types';
import { extension, scriptedAgent, type ScriptedAgent, type ScriptedAgentOptions } from '@goondan/runtime/testing';
import { register } from './register.ts';
import { ServerPlace, toolOf } from './testing/server-place.ts';
import { sentinels, toolResults } from './testing/watch-calls.ts';

let place: ServerPlace;
let agent: ScriptedAgent;
let watched: ReturnType<typeof sentinels>;
beforeEach(() => {
  place = new ServerPlace();
  place.setTools(toolOf('look', 'Looks.', { annotations: { readOnlyHint: true } }), 'write', 'count', 'die');
  watched = sentinels();
});
afterEach(async () => {
  await agent?.close();
  place[Symbol.dispose]();
});

async function start(options: ScriptedAgentOptions, more: ExtensionRegister = () => undefined): Promise<void> {
  agent = await scriptedAgent({
    bundleFolder: place.folder,
    ...options,
    extensions: [
      watched.outer,
      extension('files', register, { config: { transport: place.transport } }),
      extension('more', more),
      watched.inner,
    ],
  });
}

/** Returns the number of calls that the server reports. */
const counted = async () => {
  return (await toolResults(agent)).findLast(({ toolName }) => toolName === 'files__count')?.output;
};

test('P-19 MCP tools, one by one, together, and called by layers: both sentinels see each of them', async () => {
  await start(
    {
      script: [
        {
          when: 'go',
          calls: [
            { tool: 'files__look', args: {} },
            { tool: 'files__look', args: {} },
            { tool: 'files__write', args: {} },
          ],
        },
        { when: 'count', call: { tool: 'files__count', args: {} } },
        { say: 'done' },
      ],
    },
    ({ pipeline }) => {
      pipeline.register('turn', async (ctx) => {
        if (ctx.inputEvent.input === 'go') await ctx.tools.call('files__write');
        return ctx.next();
      });
      pipeline.register('step', async (ctx) => {
        const result = await ctx.next();
        if (ctx.turn.inputEvent.input === 'go') await ctx.tools.call('files__look');
        return result;
      });
    },
  );
  await agent.say('go');
  // The turn layer makes one call, the model makes three, and each of the two steps makes one.
  const expected = ['write', 'look', 'look', 'write', 'look', 'look'].map((tool) => `files__${tool}`);
  expect(watched.seen.outer.toSorted()).toEqual(expected.toSorted());
  expect(watched.seen.inner.toSorted()).toEqual(expected.toSorted());
  await agent.say('count');
  expect(await counted()).toMatchObject({ value: String(expected.length) });
});

test('P-19 a call that a guard refuses does not reach the server', async () => {
  await start(
    {
      script: [
        { when: 'go', call: { tool: 'files__write', args: {} } },
        { when: 'count', call: { tool: 'files__count', args: {} } },
        { say: 'done' },
      ],
    },
    ({ pipeline }) => {
      pipeline.register(
        'toolCall',
        async (ctx) => {
          if (ctx.toolName !== 'files__write') return ctx.next();
          const { toolCallId, toolName } = ctx;
          return { toolCallId, toolName, status: 'error', error: { message: 'not allowed' } };
        },
        { mayShortCircuit: true },
      );
    },
  );
  await agent.say('go');
  await agent.say('count');
  expect(await counted()).toMatchObject({ value: '0' });
});
