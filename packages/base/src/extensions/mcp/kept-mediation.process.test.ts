// Checks P-19 for the tools of a kept server: every call that reaches the server passed the `toolCall` chain.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Cleanup } from '@goondan/types';
import { extension, scriptedAgent, type ScriptedAgent } from '@goondan/runtime/testing';
import { keep } from './keeper.ts';
import { register } from './register.ts';
import { ServerPlace, toolOf } from './testing/server-place.ts';
import { sentinels, toolResults } from './testing/watch-calls.ts';

let place: ServerPlace;
let end: Cleanup | undefined;
let agent: ScriptedAgent | undefined;
beforeEach(() => {
  place = new ServerPlace();
  place.setTools(toolOf('look', 'Looks.', { annotations: { readOnlyHint: true } }), 'write', 'count');
});
afterEach(async () => {
  await agent?.close();
  await end?.();
  place[Symbol.dispose]();
});

test('P-19 L-02 calls to a kept server, by the model and by layers, pass both sentinels; a refused call does not reach it', async () => {
  const { seen, outer, inner } = sentinels();
  const { folder, transport } = place;
  const config = { transport, attach: { mode: 'stateful' } };
  const socket = join(folder, 'k.sock');
  const logger = { info() {}, warn() {}, debug() {} } as unknown as Console;
  const report = () => undefined;
  end = await keep({ name: 'files', config, socket, bundleFolder: folder, workdir: folder, logger, report });
  agent = await scriptedAgent({
    bundleFolder: folder,
    script: [
      { when: 'go', calls: ['look', 'look', 'write'].map((tool) => ({ tool: `files__${tool}`, args: {} })) },
      { when: 'refused', call: { tool: 'files__write', args: {} } },
      { when: 'count', call: { tool: 'files__count', args: {} } },
      { say: 'done' },
    ],
    extensions: [
      outer,
      extension('files', register, { config: { ...config, keeper: { socket } } }),
      extension('layers', ({ pipeline }) => {
        let isRefusing = false;
        pipeline.register('turn', async (ctx) => {
          isRefusing = ctx.inputEvent.input === 'refused';
          if (ctx.inputEvent.input === 'go') await ctx.tools.call('files__write');
          return ctx.next();
        });
        pipeline.register(
          'toolCall',
          async (ctx) => {
            if (!isRefusing) return ctx.next();
            const { toolCallId, toolName } = ctx;
            return { toolCallId, toolName, status: 'error', error: { message: 'not allowed' } };
          },
          { mayShortCircuit: true },
        );
      }),
      inner,
    ],
  });
  await agent.say('go');
  const expected = ['write', 'look', 'look', 'write'].map((tool) => `files__${tool}`);
  expect(seen.outer.toSorted()).toEqual(expected.toSorted());
  expect(seen.inner.toSorted()).toEqual(expected.toSorted());
  await agent.say('refused');
  await agent.say('count');
  // The server counts its calls itself.
  const counted = (await toolResults(agent)).findLast(({ toolName }) => toolName === 'files__count');
  expect(counted?.output).toMatchObject({
    value: String(expected.length),
  });
  expect(agent.logs.some(({ message }) => message.startsWith('mcp.attaching'))).toBe(true);
});
