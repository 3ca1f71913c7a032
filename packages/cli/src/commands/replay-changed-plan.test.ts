// Tests with real agents: a turn whose plan a reload changes between two steps, and whose process is then killed.
import { expect, test } from 'bun:test';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReplayReport, TurnTrace } from '@goondan/runtime/history';
import { openPlace } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { until } from '../../../../test/until.ts';

const place = openPlace();

const script = [
  `- { when: 'work', call: { tool: work__wait } }`,
  `- { afterTool: work__wait, call: { tool: work__die } }`,
  `- { afterTool: work__die, say: 'Done.' }`,
].join('\n');

/** An extension with a turn layer and a step layer, and the module that it imports. */
const tag = `
  import { createSystemMessage } from '@goondan/types';
  import { said } from './said.ts';
  export function register(api) {
    for (const kind of ['turn', 'step']) {
      api.pipeline.register(kind, (ctx) => {
        ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(kind + ' ' + said) });
        return ctx.next();
      });
    }
  }`;

async function writeBundle(): Promise<void> {
  const file = (name: string) => JSON.stringify(join(place.folder, name));
  const exported = (name: string) =>
    `    - { name: ${name}, description: Works., parameters: { type: object }, idempotent: true }`;
  const tool = `kind: Tool\nmetadata: { name: work }\nspec:\n  entry: ./work.ts\n  exports:\n${exported('wait')}\n${exported('die')}\n`;
  const extension = 'apiVersion: goondan.ai/v1\nkind: Extension\nmetadata: { name: tag }\nspec: { entry: ./tag.ts }';
  const agent = 'tools: [Tool/work]\nextensions: [Extension/tag]';
  await place.write('bundle', {
    'goondan.yaml': sampleBundle({ script, agent, more: [tool, extension].join('\n---\n') }),
    'tag.ts': tag,
    'said.ts': `export const said = 'first';`,
    'work.ts': `
      import { existsSync, writeFileSync } from 'node:fs';
      export const handlers = {
        async wait() {
          writeFileSync(${file('waits')}, '');
          while (!existsSync(${file('go')})) await Bun.sleep(10);
          return 'waited';
        },
        die() {
          if (existsSync(${file('pid')})) return 'lived';
          writeFileSync(${file('pid')}, String(process.pid));
          return new Promise(() => undefined);
        },
      };`,
  });
}

const gdn = async (...args: string[]) => {
  const done = await place.run(...args, '--bundle', 'bundle');
  expect(done).toMatchObject({ stderr: '', exitCode: 0 });
  return done.stdout;
};

/** Returns the trace of the turn once it is as described. */
function traceWhen(isSo: (turn: TurnTrace) => boolean): Promise<TurnTrace> {
  return until(async () => {
    const read = JSON.parse(await gdn('trace', 'last', '--json')) as { readonly turns: readonly TurnTrace[] };
    const [turn] = read.turns;
    return turn !== undefined && isSo(turn) && turn;
  });
}

test('L-01 a turn that saw two plans says which plan each step had: resumed after a kill, traced and replayed', async () => {
  await writeBundle();
  await place.serve('bundle');
  await gdn('send', '--input', 'work');
  await until(() => existsSync(join(place.folder, 'waits')));
  cpSync(join(place.folder, 'bundle'), join(place.folder, 'before'), { recursive: true });
  await place.write('bundle', { 'said.ts': `export const said = 'second';` });
  await gdn('reload');
  writeFileSync(join(place.folder, 'go'), '');
  await traceWhen(({ chain }) => chain.inside.length === 2);
  await until(() => existsSync(join(place.folder, 'pid')));
  process.kill(Number(readFileSync(join(place.folder, 'pid'), 'utf8')), 'SIGKILL');
  const turn = await traceWhen(({ ending }) => ending !== undefined);
  expect(turn).toMatchObject({ ending: 'answered', resumes: 1 });
  const { turnPlans = [], chain } = turn;
  const [before = '', after = ''] = turnPlans.map((plan) => plan.slice(0, 8));
  expect(before).not.toBe(after);
  const steps = chain.inside.map(({ label, plan = '' }) => `step ${label} with ${plan.slice(0, 8)}`);
  // The second step was begun in both processes.
  expect(steps).toEqual([
    `step 0 with ${before}`,
    `step 1 with ${after}`,
    `step 1 with ${after}`,
    `step 2 with ${after}`,
  ]);
  const tree = await gdn('trace', 'last');
  expect(tree).toContain(`its turn layers ran with the plans ${before}, then ${after}`);
  expect(tree).toMatch(new RegExp(`step 0 .*, plan ${before}\n`));

  const alone = JSON.parse(await gdn('replay', '--trust', '--json')) as ReplayReport;
  expect(alone.runs).toMatchObject([
    {
      problem: `it ran turn layers and step 0 with plan ${before}, which cannot be loaded; the bundle now has plan ${after}`,
    },
    { plans: [{ plan: turnPlans[1], turnLayers: true, steps: [1, 2] }], outcome: { others: 0 } },
  ]);
  const both = await gdn('replay', '--trust', '--also', 'before');
  expect(both.split('\n').slice(3)).toEqual([
    expect.stringMatching(
      new RegExp(`^run 1, .*; turn layers and step 0 with plan ${before}, step 1 with plan ${after}$`),
    ),
    expect.stringMatching(new RegExp(`^run 2, .*; turn layers and steps 1 and 2 with plan ${after}$`)),
    '',
    expect.stringMatching(/^No divergence: \d+ layers behaved as recorded\.$/),
    '',
  ]);

  // The bundle is the first version again, so the run with the result cannot be replayed.
  await place.write('bundle', { 'said.ts': `export const said = 'first';` });
  const refused = await place.run('replay', '--trust', '--bundle', 'bundle');
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toMatch(
    new RegExp(`^E_REPLAY_PLAN: .* it ran turn layers and steps 1 and 2 with plan ${after}, which cannot be loaded`),
  );
});
