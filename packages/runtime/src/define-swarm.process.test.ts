import { describe, expect, test } from 'bun:test';
import { type DefinedTool, defineTool, GoondanError, textOf } from '@goondan/types';
import { z } from 'zod';
import type { ResourceDefinition } from './define-swarm.ts';
import { defineSwarm } from './define-swarm.ts';
import { startSwarm } from './start-swarm.ts';
import { temporaryBundle } from './testing/temporary-bundle.ts';
import { toolFile } from './tool-file.ts';

const resources: ResourceDefinition[] = [
  {
    kind: 'Model',
    metadata: { name: 'demo' },
    spec: {
      provider: 'scripted',
      model: 'demo',
      options: {
        script: [
          { when: 'add', call: { tool: 'sum__add', args: { a: 2, b: 3 } } },
          { afterTool: 'sum__add', say: 'It is {{result}}.' },
        ],
      },
    },
  },
  {
    kind: 'Tool',
    metadata: { name: 'sum' },
    spec: { entry: './sum.ts', exports: [{ name: 'add', description: 'Adds.' }] },
  },
  {
    kind: 'Agent',
    metadata: { name: 'clerk' },
    spec: { modelConfig: { modelRef: 'Model/demo' }, tools: [{ ref: 'Tool/sum' }] },
  },
  { kind: 'Swarm', metadata: { name: 'shop' }, spec: { entryAgent: 'Agent/clerk', agents: ['Agent/clerk'] } },
];
const files = { 'sum.ts': 'export const handlers = { add: (_ctx, { a, b }) => a + b };\n' };

describe('a swarm defined in code', () => {
  test('R-04 is checked like a bundle, and starts', async () => {
    using bundle = temporaryBundle(files);
    using state = temporaryBundle({});
    const defined = await defineSwarm({ folder: bundle.folder, resources });
    expect(defined).toMatchObject({ name: 'shop', entryAgent: 'clerk', bundleFolder: bundle.folder });
    const swarm = await startSwarm({ ...defined, stateRoot: state.folder, policy: { spares: 0 } });
    try {
      const { result } = await swarm.ask({ input: 'add' });
      expect(textOf(result.responseMessage)).toBe('It is 5.');
    } finally {
      await swarm.stop();
    }
  });

  test('may be a single agent with its model, and no Swarm', async () => {
    using bundle = temporaryBundle(files);
    const agent = (name: string): ResourceDefinition => ({
      kind: 'Agent',
      metadata: { name },
      spec: { model: { provider: 'scripted', model: 'm', options: { script: [{ say: 'hi' }] } } },
    });
    const define = (...names: string[]) => defineSwarm({ folder: bundle.folder, resources: names.map(agent) });
    expect(await define('clerk')).toMatchObject({ name: 'clerk', agents: [{ modelRef: 'Model/clerk' }] });
    const refused = await define('clerk', 'boss').catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'E_BUNDLE_INVALID', message: expect.stringContaining('no Swarm') });
  });

  test('takes mayAsk, and rejects an unknown agent in it', async () => {
    using bundle = temporaryBundle(files);
    const define = (mayAsk: string[]) => {
      const boss: ResourceDefinition = {
        kind: 'Agent',
        metadata: { name: 'boss' },
        spec: { modelConfig: { modelRef: 'Model/demo' }, mayAsk },
      };
      const both: ResourceDefinition = {
        kind: 'Swarm',
        metadata: { name: 'both' },
        spec: { entryAgent: 'Agent/boss', agents: ['Agent/boss', 'Agent/clerk'] },
      };
      return defineSwarm({ folder: bundle.folder, resources: [...resources, boss, both], swarm: 'both' });
    };
    expect((await define(['Agent/clerk'])).agents).toMatchObject([{ agentName: 'boss', mayAsk: ['clerk'] }, {}]);
    const refused = await define(['Agent/clerc']).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'E_BUNDLE_INVALID', message: expect.stringContaining('no Agent/clerc') });
  });

  test('R-04 is rejected with all its problems', async () => {
    using bundle = temporaryBundle(files);
    const wrong: ResourceDefinition[] = [
      ...resources,
      { kind: 'Extension', metadata: { name: 'log' }, spec: { entry: './log.ts' } },
      { kind: 'Agent', metadata: { name: 'other' }, spec: { modelConfig: { modelRef: 'Model/dmo' } } },
    ];
    const refused = await defineSwarm({ folder: bundle.folder, resources: wrong }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'E_BUNDLE_INVALID' });
    expect(String(refused)).toContain('defineSwarm:5:1 Extension/log: There is no file "./log.ts".');
    expect(String(refused)).toContain('defineSwarm:6:1 Agent/other: There is no Model/dmo.');
  });

  test('a wrong field of a resource hides no other problem of it', async () => {
    using bundle = temporaryBundle(files);
    const spec = { modelConfig: { modelRef: 'Model/dmo' }, tools: [{ ref: 'Tool/nope' }], policy: 5 };
    // The cast is the mistake under test.
    const wrong = [...resources, { kind: 'Agent', metadata: { name: 'other' }, spec }] as ResourceDefinition[];
    const refused = String(
      await defineSwarm({ folder: bundle.folder, resources: wrong }).catch((error: unknown) => error),
    );
    for (const problem of ['spec.policy', 'There is no Model/dmo', 'There is no Tool/nope']) {
      expect(refused).toContain(problem);
    }
  });

  test.each(['file://host/log.ts', 'file:///a%2Fb.ts', 'file://%'])(
    'R-04 is rejected with the entry %s',
    async (entry) => {
      using bundle = temporaryBundle(files);
      const wrong: ResourceDefinition = { kind: 'Extension', metadata: { name: 'log' }, spec: { entry } };
      const refused = defineSwarm({ folder: bundle.folder, resources: [...resources, wrong] });
      expect(await refused.catch((error: unknown) => error)).toMatchObject({
        code: 'E_BUNDLE_INVALID',
        message: expect.stringContaining(`Resource 5 has the entry "${entry}"`),
      });
    },
  );

  test('R-04 accepts nothing but JSON', async () => {
    using bundle = temporaryBundle(files);
    const config = { callback: () => 1 };
    // The cast imitates code that the type checker did not see, which has a function where JSON is expected.
    const wrong = {
      kind: 'Extension',
      metadata: { name: 'log' },
      spec: { entry: './sum.ts', config },
    } as unknown as ResourceDefinition;
    const refused = await defineSwarm({ folder: bundle.folder, resources: [wrong] }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'E_BUNDLE_INVALID', message: expect.stringContaining('Resource 1') });
  });
});

describe('a tool of defineTool in a swarm defined in code', () => {
  const typesPath = import.meta.resolve('@goondan/types').replace('file://', '');
  const roll = defineTool({ description: 'Rolls.', parameters: z.object({ sides: z.int() }), run: () => 4 });
  const [model, , agent, swarm] = resources as [ResourceDefinition, unknown, ResourceDefinition, ResourceDefinition];
  /** The type of a module, as in `import type * as sum from './tools/sum.ts'`. */
  type SumModule = { readonly add: typeof roll; readonly helper: () => void };

  test('is named with toolFile, and the plan is that of a Tool resource without exports', async () => {
    const source = `import { defineTool } from ${JSON.stringify(typesPath)};
      export const add = defineTool({ description: 'Adds.', run: (_ctx, { a, b }) => a + b });\n`;
    using bundle = temporaryBundle({ 'tools/sum.ts': source });
    using state = temporaryBundle({});
    const named = toolFile<SumModule>(`file://${bundle.folder}/main.ts`, './tools/sum.ts');
    expect(JSON.parse(JSON.stringify(named))).toEqual(named);
    const defined = await defineSwarm({ folder: bundle.folder, resources: [model, named, agent, swarm] });
    const plain: ResourceDefinition = { kind: 'Tool', metadata: { name: 'sum' }, spec: { entry: './tools/sum.ts' } };
    expect(defined).toEqual(await defineSwarm({ folder: bundle.folder, resources: [model, plain, agent, swarm] }));
    const running = await startSwarm({ ...defined, stateRoot: state.folder, policy: { spares: 0 } });
    try {
      expect(textOf((await running.ask({ input: 'add' })).result.responseMessage)).toBe('It is 5.');
    } finally {
      await running.stop();
    }
  });

  test('is named after its file, or after the folder of its index file', () => {
    expect(toolFile<SumModule>('file:///a/main.ts', './tools/sum.ts').metadata.name).toBe('sum');
    expect(toolFile<typeof roll>('file:///a/main.ts', './tools/dice/index.ts').metadata.name).toBe('dice');
    // @ts-expect-error The module has no tool of `defineTool`.
    expect(toolFile<{ readonly helper: () => void }>('file:///a/main.ts', './tools/sum.ts').kind).toBe('Tool');
  });

  test('is rejected outside of the folder, and where there is no file', async () => {
    using bundle = temporaryBundle({});
    const refused = async (file: string) => {
      const named = toolFile<SumModule>(`file://${bundle.folder}/main.ts`, file);
      const answer = defineSwarm({ folder: bundle.folder, resources: [model, named, agent, swarm] });
      return answer.then(() => 'it was taken', String);
    };
    expect(await refused('../sum.ts')).toContain('contains ".."');
    expect(await refused('./sum.ts')).toContain('There is no file "./sum.ts".');
  });

  test.each<[string, unknown[]]>([
    ['as a resource', [roll]],
    ['as a function', [() => 4]],
    ['in a Tool', [{ kind: 'Tool', metadata: { name: 'sum' }, spec: { entry: './sum.ts', exports: [roll] } }]],
    ['in an Agent', [{ ...agent, spec: { modelConfig: { modelRef: 'Model/demo' }, tools: [roll] } }]],
    ['as a function in an Agent', [{ ...agent, spec: { tools: [() => 4] } }]],
  ])('is rejected %s, with the reason and the way out', async (_title, wrong) => {
    using bundle = temporaryBundle(files);
    // The cast imitates code that the type checker did not see.
    const refused = await defineSwarm({ folder: bundle.folder, resources: wrong as ResourceDefinition[] }).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({
      code: 'E_BUNDLE_INVALID',
      message: expect.stringContaining('A plan is data: code of tools and extensions runs in other processes.'),
      suggestion: expect.stringContaining('toolFile<typeof dice>(import.meta.url'),
    });
  });
});

describe('wrong arguments of a program in JavaScript', () => {
  // Returns the error code of an action. The casts in the actions are needed because a program in JavaScript may pass
  // anything.
  const code = (action: () => unknown) =>
    Promise.try(action).then(
      () => 'accepted',
      (error: unknown) => (GoondanError.is(error) ? error.code : String(error)),
    );

  test.each<[what: string, action: () => unknown, expected: string]>([
    ['defineSwarm without a folder', () => defineSwarm({ resources } as never), 'E_BUNDLE_INVALID'],
    ['defineSwarm without resources', () => defineSwarm({ folder: '.' } as never), 'E_BUNDLE_INVALID'],
    [
      'defineSwarm in a missing folder',
      () => defineSwarm({ folder: '/nowhere/at/all', resources }),
      'E_BUNDLE_MISSING',
    ],
    ['toolFile with a folder', () => toolFile<{ t: DefinedTool<object> }>('/a/folder', './x.ts'), 'E_BUNDLE_INVALID'],
    ['toolFile without a file', () => toolFile<never>('file:///a.ts', undefined as never), 'E_BUNDLE_INVALID'],
    ['an onLog that is a text', () => startSwarm({ bundleFolder: '.', onLog: 'x' as never }), 'E_SWARM_PLAN'],
    ['a stateRoot that is a number', () => startSwarm({ bundleFolder: '.', stateRoot: 5 as never }), 'E_SWARM_PLAN'],
  ])('%s: an error with a code', async (_, action, expected) => {
    expect(await code(action)).toBe(expected);
  });
});
