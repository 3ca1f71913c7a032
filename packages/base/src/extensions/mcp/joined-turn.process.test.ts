// A part that a reload puts in place in the middle of a turn.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { extension, scriptedAgent, type ScriptedAgent } from '@goondan/runtime/testing';
import { register } from './register.ts';
import { ServerPlace } from './testing/server-place.ts';

let place: ServerPlace;
let agent: ScriptedAgent;
beforeEach(() => {
  place = new ServerPlace();
  place.setTools('look', 'write');
});
afterEach(async () => {
  await agent.close();
  place[Symbol.dispose]();
});

test('L-03 offers its tools in its first step, and leaves out the tools that an outer layer removes from later steps', async () => {
  const seen: string[][] = [];
  const guard = extension('guard', ({ pipeline }) =>
    pipeline.register('step', (ctx) => {
      ctx.toolCatalog = ctx.toolCatalog.filter(({ name }) => name !== 'files__write');
      return ctx.next();
    }),
  );
  const watch = extension(
    'watch',
    ({ pipeline }) =>
      pipeline.register('step', (ctx) => {
        seen.push(ctx.toolCatalog.map(({ name }) => name).filter((name) => name.startsWith('files__')));
        return ctx.next();
      }),
    { tier: 'hook' },
  );
  const files = extension('files', register, { config: { transport: place.transport } });
  const change = async () => {
    const { openModel, policy } = agent.agent.parts.plan;
    const plan = {
      agentName: 'tested',
      modelRef: 'Model/scripted',
      models: openModel.entries,
      policy,
      bundleFolder: place.folder,
    };
    const prepared = await agent.agent.prepare({ ...plan, tools, extensions: [guard, files, watch] });
    void prepared.swap();
  };
  const exports = ['change', 'wait'].map((name) => ({ name, description: 'Works.' }));
  const tools = [{ name: 'work', exports, handlers: { change, wait: () => null } }];
  agent = await scriptedAgent({
    bundleFolder: place.folder,
    script: [
      { afterTool: 'work__change', call: { tool: 'work__wait', args: {} } },
      { afterTool: 'work__wait', say: 'done' },
      { call: { tool: 'work__change', args: {} } },
    ],
    tools,
    extensions: [guard, watch],
  });
  await agent.say('go');
  expect(seen[0]).toEqual([]);
  expect(seen[1]).toContain('files__look');
  expect(seen.slice(2)).toEqual([['files__look']]);
});
