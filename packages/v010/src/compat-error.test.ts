import { expect, test } from 'bun:test';
import { CHANGE_BUNDLE } from './compat-error.ts';
import { startWith } from './testing/old-agent.ts';

test.each(['swarmBundle', 'liveConfig', 'oauth', 'instance'])('L-04 api.%s is a coded error', async (member) => {
  const failed = startWith(`api.${member};`);
  expect(await failed.catch((error: unknown) => error)).toMatchObject({ code: 'E_EXT_COMPAT' });
});

test.each(['api.swarmBundle;', 'api.liveConfig;'])('L-04 %s names both ways to change a bundle', async (code) => {
  const failed = await startWith(code).catch((error: unknown) => error);
  expect(failed).toMatchObject({ suggestion: CHANGE_BUNDLE });
});

test.each(['instance', 'swarm', 'agent', 'effectiveConfig'])('L-04 ctx.%s is a coded error', async (member) => {
  using tested = await startWith(`api.pipelines.mutate('step.pre', (ctx) => (ctx.${member}, ctx));`);
  expect((await tested.agent.say('hi')).result.error).toMatchObject({ code: 'E_EXT_COMPAT', extension: 'old' });
});
