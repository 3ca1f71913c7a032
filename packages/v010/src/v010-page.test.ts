// docs/v010.md lists the points, and everything that does not map.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHANGE_BUNDLE } from './compat-error.ts';
import { startWith } from './testing/old-agent.ts';
import { middlewarePoints, mutatorPoints } from './testing/pipeline-model.ts';

const page = readFileSync(join(import.meta.dir, '../../../docs/v010.md'), 'utf8');

test('docs/v010.md lists the thirteen points, and those that never fire', () => {
  const points = [...mutatorPoints, ...middlewarePoints, 'workspace.repoAvailable', 'workspace.worktreeMounted'];
  expect(points.filter((point) => !page.includes(`\`${point}\``))).toEqual([]);
});

test.each(['swarmBundle', 'liveConfig', 'oauth', 'instance'])(
  'L-04 api.%s is listed in docs/v010.md, and is a coded error',
  async (member) => {
    expect(page).toContain(`\`api.${member}`);
    const failed = startWith(`api.${member};`);
    expect(await failed.catch((error: unknown) => error)).toMatchObject({ code: 'E_EXT_COMPAT' });
  },
);

test.each(['api.swarmBundle;', 'api.liveConfig;'])(
  'L-04 %s names both ways to change a bundle, as the page does',
  async (code) => {
    const failed = await startWith(code).catch((error: unknown) => error);
    expect(failed).toMatchObject({ suggestion: CHANGE_BUNDLE });
    expect(page).toContain('an edited bundle and `gdn reload`, or the tool [`bundle`]');
  },
);

test.each(['instance', 'swarm', 'agent', 'effectiveConfig'])(
  'L-04 ctx.%s is listed in docs/v010.md, and is a coded error',
  async (member) => {
    expect(page).toContain(`\`ctx.${member}\``);
    using tested = await startWith(`api.pipelines.mutate('step.pre', (ctx) => (ctx.${member}, ctx));`);
    expect((await tested.agent.say('hi')).result.error).toMatchObject({ code: 'E_EXT_COMPAT', extension: 'old' });
  },
);
