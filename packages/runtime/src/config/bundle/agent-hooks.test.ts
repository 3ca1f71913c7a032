// `Agent.spec.hooks` becomes a part of the config of the extension `hooks` of the base library.
import { describe, expect, test } from 'bun:test';
import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { scriptedAgent } from '../../testing/index.ts';
import { temporaryBundle } from '../../testing/temporary-bundle.ts';
import type { Bundle } from './bundle.ts';
import { hook as hookSchema } from './kinds/hook.ts';
import { loadBundle } from './load-bundle.ts';
import { resolveSwarm } from './resolve/resolve-swarm.ts';

const base = realpathSync(join(import.meta.dir, '../../../../base'));

const head = (kind: string, name: string) => `apiVersion: goondan.ai/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`;

/** A bundle whose agent has these lines in its spec, and whose swarm has these extensions. */
const bundleWith = (spec: string, { ofSwarm = '[]', more = '' } = {}) =>
  temporaryBundle({
    'own.ts': 'export function register() {}\n',
    'goondan.yaml': `${head('Agent', 'a')}spec:
  modelConfig: { modelRef: Model/m }
${spec}
---
${head('Model', 'm')}spec: { provider: scripted, model: m, options: { script: [{ say: hi }] } }
---
${head('Swarm', 'default')}spec: { entryAgent: Agent/a, agents: [Agent/a], extensions: ${ofSwarm} }
${more}`,
  });

interface Surroundings {
  readonly ofSwarm?: string;
  readonly more?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

async function loadWith(spec: string, { environment = {}, ...more }: Surroundings = {}) {
  using bundle = bundleWith(spec, more);
  return await loadBundle(bundle.folder, { environment });
}

async function planOf(spec: string, surroundings: Surroundings = {}) {
  return planIn(await loadWith(spec, surroundings), surroundings);
}

function planIn(bundle: Bundle, { environment = {} }: Surroundings = {}) {
  expect(bundle.errors).toEqual([]);
  const [agent] = resolveSwarm(bundle, { environment }).plan.agents;
  return (agent?.extensions ?? []).map(({ resource: { metadata, spec }, root, tier }) => ({
    name: metadata.name,
    tier,
    isBase: root === base,
    config: spec.config,
  }));
}

const sentencesOf = (errors: Bundle['errors']) =>
  errors.map(({ message, suggestion }) => `${message} ${suggestion}`).join('\n');

const note = `{ point: turn.pre, action: { toolCall: { tool: x__y, args: { text: { expr: event.input } } } } }`;
const noted = { point: 'turn.pre', action: { toolCall: { tool: 'x__y', args: { text: { expr: 'event.input' } } } } };
const check = `{ id: check, point: toolCall.pre, tool: 'x__*', priority: 5, action: { command: ['true'] } }`;
const checked = { id: 'check', point: 'toolCall.pre', tool: 'x__*', priority: 5, action: { command: ['true'] } };

describe('Agent.spec.hooks', () => {
  test('L-03 is the config of the extension `hooks`, inside all extensions', async () => {
    expect(await planOf(`  hooks: [${note}, ${check}]\n  extensions: [Extension/logging]`)).toEqual([
      { name: 'logging', tier: 'agent', isBase: true, config: {} },
      { name: 'hooks', tier: 'hook', isBase: true, config: { hooks: [noted, checked] } },
    ]);
  });

  test('L-03 runs in an agent', async () => {
    const seen: unknown[] = [];
    const loaded = await loadWith(`  hooks: [${note}]`);
    const { extensions = [] } = resolveSwarm(loaded, { environment: {} }).plan.agents[0] ?? {};
    const handlers = { y: (_: object, input: object) => void seen.push(input) };
    const agent = await scriptedAgent({
      extensions,
      tools: [{ name: 'x', exports: [{ name: 'y', description: 'Sees.' }], handlers }],
    });
    expect((await agent.say('hello')).text).toBe('You said: hello');
    expect(seen).toEqual([{ text: 'hello' }]);
    await agent.close();
  });

  test('L-03 comes after the hooks of a listed extension `hooks`, and shares its env', async () => {
    expect(
      await planOf(
        `  extensions: [{ ref: Extension/hooks, as: mine, config: { env: { A: b }, hooks: [${note}] } }, Extension/logging]\n  hooks: [${check}]`,
      ),
    ).toEqual([
      { name: 'mine', tier: 'hook', isBase: true, config: { env: { A: 'b' }, hooks: [noted, checked] } },
      { name: 'logging', tier: 'agent', isBase: true, config: {} },
    ]);
    expect(
      await planOf(`  extensions: [{ ref: Extension/hooks, config: { env: { A: b } } }]\n  hooks: [${check}]`),
    ).toMatchObject([{ name: 'hooks', config: { env: { A: 'b' }, hooks: [checked] } }]);
  });

  test('L-03 comes after the hooks of the last one, if several extensions `hooks` are listed', async () => {
    const listed = (name: string) => `{ ref: Extension/hooks, as: ${name}, config: { hooks: [${note}] } }`;
    expect(await planOf(`  extensions: [${listed('one')}, ${listed('two')}]\n  hooks: [${check}]`)).toMatchObject([
      { name: 'one', config: { hooks: [noted] } },
      { name: 'two', config: { hooks: [noted, checked] } },
    ]);
  });

  test('the hooks of the swarm stay an extension of their own', async () => {
    expect(
      await planOf(`  hooks: [${check}]`, {
        ofSwarm: `[{ ref: Extension/hooks, config: { hooks: [${note}] } }]`,
      }),
    ).toEqual([
      { name: 'hooks', tier: 'hook', isBase: true, config: { hooks: [noted] } },
      { name: 'agent-hooks', tier: 'hook', isBase: true, config: { hooks: [checked] } },
    ]);
  });

  test('an extension `hooks` of the bundle is another one', async () => {
    expect(
      await planOf(`  hooks: [${check}]\n  extensions: [Extension/hooks]`, {
        more: `---\n${head('Extension', 'hooks')}spec: { entry: ./own.ts }\n`,
      }),
    ).toMatchObject([
      { name: 'hooks', tier: 'agent', isBase: false },
      { name: 'agent-hooks', tier: 'hook', isBase: true, config: { hooks: [checked] } },
    ]);
  });

  test('an empty list adds nothing', async () => {
    const loaded = await loadWith('  hooks: []');
    expect(planIn(loaded)).toEqual([]);
    expect(loaded.scope.packages.size).toBe(0);
  });

  test('values from the environment are filled in, and a missing variable has its place', async () => {
    const secret =
      '  hooks:\n    - point: turn.pre\n      action: { toolCall: { tool: x, args: { key: { valueFrom: { env: KEY } } } } }';
    expect(await planOf(secret, { environment: { KEY: 'sk-1' } })).toMatchObject([
      { config: { hooks: [{ action: { toolCall: { args: { key: 'sk-1' } } } }] } },
    ]);
    const { warnings } = await loadWith(secret);
    expect(warnings).toMatchObject([{ code: 'E_ENV_MISSING', line: 8, resource: 'Agent/a' }]);
  });

  const expr = (point: string, value: string) =>
    `{ point: ${point}, action: { toolCall: { tool: x__y, args: { list: [{ a: ${value} }] } } } }`;
  const inArgs = '.action.toolCall.args.list[0].a';
  test.each([
    ['a typo', expr('turn.pre', '{ expr: evnt.input }'), `${inArgs}.expr`],
    ['a fact of another point', expr('turn.pre', '{ expr: result.text }'), `${inArgs}.expr`],
    ['an event at a step', expr('step.pre', '{ expr: event.input }'), `${inArgs}.expr`],
    ['a calculation', expr('turn.pre', "{ expr: 'event.input + 1' }"), `${inArgs}.expr`],
    ['an empty segment', expr('turn.pre', '{ expr: event..input }'), `${inArgs}.expr`],
    ['a number', expr('turn.pre', '{ expr: 5 }'), `${inArgs}.expr`],
    ['a second field', expr('turn.pre', '{ expr: event.id, else: x }'), `${inArgs}.else`],
    ['no file', '{ point: turn.pre, action: { command: [./no.sh] } }', '.action.command[0]'],
    ['a text file', '{ point: turn.pre, action: { command: [./own.ts] } }', '.action.command[0]'],
    ['a folder', '{ point: turn.pre, action: { command: [./] } }', '.action.command[0]'],
  ])('%s is an error at its place before anything runs', async (_, hook, field) => {
    const { errors } = await loadWith(`  hooks:\n    - ${check}\n    - ${hook}`);
    expect(sentencesOf(errors)).toMatchSnapshot();
    const message = expect.stringContaining(`spec.hooks[1]${field} `);
    expect(errors).toMatchObject([
      { code: 'E_EXT_CONFIG', line: 8, file: 'goondan.yaml', resource: 'Agent/a', message },
    ]);
    const inConfig = await loadWith(`  extensions:\n    - ref: Extension/hooks\n      config: { hooks: [${hook}] }`);
    expect(inConfig.errors).toMatchObject([
      {
        code: 'E_EXT_CONFIG',
        line: 8,
        message: expect.stringContaining(`spec.extensions[0].config.hooks[0]${field} `),
      },
    ]);
  });

  test('paths into facts, files that can be run and programs of PATH are accepted', async () => {
    const hooks = [
      expr('turn.post', '{ expr: result.text }'),
      expr('step.llmCall', "{ expr: ' messages.0.content ' }"),
      expr('toolCall.pre', '{ expr: tool.args.some-key }'),
      '{ point: turn.pre, action: { toolCall: { tool: calculator, args: { expr: 1 + 1 } } } }',
      '{ point: turn.pre, action: { command: [./run.sh] } }',
      '{ point: turn.pre, action: { command: [not-on-this-machine] } }',
    ];
    using bundle = bundleWith(`  hooks: [${hooks.join(', ')}]`);
    writeFileSync(join(bundle.folder, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
    const { errors, warnings } = await loadBundle(bundle.folder, { environment: {} });
    expect([...errors, ...warnings]).toEqual([]);
  });

  test('a missing file is a warning when the hook lets a failure continue, and so is an id that is used twice', async () => {
    const missing = '{ point: turn.pre, action: { command: [./no.sh], onFailure: continue } }';
    const { errors, warnings } = await loadWith(`  hooks:\n    - ${missing}\n    - ${check}\n    - ${check}`);
    expect(errors).toEqual([]);
    expect(warnings).toMatchObject([
      { code: 'E_EXT_CONFIG', line: 7 },
      { code: 'E_REF_TWICE', line: 9, message: expect.stringContaining('spec.hooks[2].id is the id "check"') },
    ]);
  });

  const two = `  extensions: [{ ref: Extension/hooks, config: { hooks: [${note}, ${note}] } }]\n`;
  test.each([
    ['an unknown point', '{ point: turn.mid, action: { command: [x] } }', 'E_RESOURCE_INVALID', '.point'],
    ['an unknown field', '{ point: turn.pre, actions: 1, action: { command: [x] } }', 'E_RESOURCE_KEY', ''],
    ['no action', '{ point: turn.pre }', 'E_RESOURCE_INVALID', '.action'],
    ['an empty command', '{ point: turn.pre, action: { command: [] } }', 'E_RESOURCE_INVALID', '.action.command'],
    [
      'a tool without a name',
      '{ point: turn.pre, action: { toolCall: { args: {} } } }',
      'E_RESOURCE_INVALID',
      '.action.toolCall.tool',
    ],
    [
      'two actions',
      '{ point: turn.pre, action: { command: [x], toolCall: { tool: x } } }',
      'E_RESOURCE_KEY',
      '.action',
    ],
    ['an empty action', '{ point: turn.pre, action: {} }', 'E_RESOURCE_INVALID', '.action'],
    [
      'a tool at a turn, with the rule',
      '{ point: turn.pre, tool: x, action: { command: [x] } }',
      'E_EXT_CONFIG',
      '.tool',
    ],
    [
      'a required command, with the rule',
      '{ point: turn.pre, required: true, action: { command: [x] } }',
      'E_EXT_CONFIG',
      '.required',
    ],
  ])('L-03 %s is an error at its place', async (_, hook, code, field) => {
    const message = expect.stringContaining(`spec.hooks[1]${field} `);
    for (const [line, before] of [
      [8, '  hooks:\n'],
      [9, `${two}  hooks:\n`],
    ] as const) {
      const { errors } = await loadWith(`${before}    - ${check}\n    - ${hook}`);
      expect(sentencesOf(errors)).toMatchSnapshot();
      expect(errors).toMatchObject([{ code, line, file: 'goondan.yaml', resource: 'Agent/a', message }]);
    }
  });

  test('a mistake in the hooks of the extension keeps its place', async () => {
    const { errors } = await loadWith(
      `  extensions:\n    - ref: Extension/hooks\n      config: { hooks: [{ point: turn.pre, tool: x, action: { command: [x] } }] }\n  hooks: [${check}]`,
    );
    expect(errors).toMatchObject([{ code: 'E_EXT_CONFIG', line: 8 }]);
  });
});

test('the schema of Agent.spec.hooks has the points and fields of the extension', async () => {
  const documents = (await Bun.file(join(base, 'extensions.yaml')).text()).split('\n---\n');
  const [extension] = documents.filter((text) => /^ {2}name: hooks$/m.test(text));
  const { spec } = parse(extension ?? '');
  const { properties } = spec.configSchema.properties.hooks.items;
  expect(Object.keys(hookSchema.shape).toSorted()).toEqual(Object.keys(properties).toSorted());
  expect(hookSchema.shape.point.options).toEqual(properties.point.enum);
  const { timeoutMs, onFailure } = properties.action.oneOf[1].properties;
  const shown = [hookSchema.shape.priority, hookSchema.shape.required];
  const ofCommand = hookSchema.shape.action.options[1].shape;
  expect([...shown, ofCommand.timeoutMs, ofCommand.onFailure].map((field) => field.meta()?.['default'])).toEqual(
    [properties.priority, properties.required, timeoutMs, onFailure].map((field) => field.default),
  );
  const forms = (options: readonly object[]) => options.map((form) => Object.keys(form).toSorted());
  expect(forms(hookSchema.shape.action.options.map(({ shape }) => shape))).toEqual(
    forms(properties.action.oneOf.map((form: { properties: object }) => form.properties)),
  );
});
