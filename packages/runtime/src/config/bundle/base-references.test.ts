// Tests references without a package: they mean a resource of the bundle, and else one of the base library.
import { describe, expect, test } from 'bun:test';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryBundle } from '../../testing/temporary-bundle.ts';
import { defineSwarm } from '../../define-swarm.ts';
import { planReconcile } from '../plan-reconcile.ts';
import { rule } from '../../../../base/src/extensions/approval/testing/rule.ts';
import { loadBundle } from './load-bundle.ts';
import { resolveSwarm } from './resolve/resolve-swarm.ts';

const base = realpathSync(join(import.meta.dir, '../../../../base'));
const apiVersion = 'goondan.ai/v1';
const resource = (kind: string, name: string, spec: object) => ({ apiVersion, kind, metadata: { name }, spec });
const yaml = (...resources: readonly object[]) => resources.map((each) => JSON.stringify(each)).join('\n---\n');
const load = (folder: string) => loadBundle(folder, { environment: {} });
const planOf = async (folder: string) => resolveSwarm(await load(folder), { environment: {} }).plan;

const model = resource('Model', 'm', { provider: 'scripted', model: 'm', options: { script: [{ say: 'hi' }] } });
const swarm = resource('Swarm', 'default', { entryAgent: 'Agent/a', agents: ['Agent/a'] });
const agent = (parts: object) => resource('Agent', 'a', { modelConfig: { modelRef: 'Model/m' }, ...parts });
const ownLogging = resource('Extension', 'logging', { entry: './own.ts' });
const own = { 'own.ts': 'export function register() {}\n' };

/** A reference in its long form. */
const long = (kind: string, name: string) => ({ kind, name, package: '@goondan/base' });

const bundleWith = (parts: object, ...more: readonly object[]) =>
  temporaryBundle({ 'goondan.yaml': yaml(model, agent(parts), swarm, ...more), ...own });

describe('a reference without a package', () => {
  test('finds a tool, an extension and a connector of the base library, with `as` and a checked config', async () => {
    const config = { transport: { type: 'stdio', command: ['server'] } };
    using bundle = bundleWith(
      { tools: ['Tool/bash'], extensions: [{ ref: 'Extension/mcp', as: 'files', config }] },
      resource('Connection', 'web', {
        connectorRef: 'Connector/http',
        config: { port: 0 },
        ingress: { rules: [{ route: { agentRef: 'Agent/a' } }] },
      }),
    );
    const { errors } = await load(bundle.folder);
    expect(errors).toEqual([]);
    const { agents, connections } = await planOf(bundle.folder);
    expect(agents[0]).toMatchObject({
      tools: [{ name: 'bash', root: base }],
      extensions: [{ root: base, resource: { metadata: { name: 'files' } } }],
    });
    expect(connections).toMatchObject([{ connector: 'http', root: base }]);
    using wrong = bundleWith({ extensions: [{ ref: 'Extension/logging', config: { level: 7 } }] });
    expect((await load(wrong.folder)).errors).toMatchObject([{ code: 'E_EXT_CONFIG', resource: 'Agent/a' }]);
  });

  test('finds the resource of the bundle first, even a broken one', async () => {
    using bundle = bundleWith({ extensions: ['Extension/logging'] }, ownLogging);
    expect((await planOf(bundle.folder)).agents[0]?.extensions).toMatchObject([{ root: bundle.folder }]);
    expect((await load(bundle.folder)).scope.packages.size).toBe(0);
    using broken = bundleWith({ extensions: ['Extension/logging'] }, resource('Extension', 'logging', { entri: 'x' }));
    const { errors, scope } = await load(broken.folder);
    expect(errors.map(({ code }) => code)).not.toContain('E_REF_MISSING');
    expect(scope.packages.size).toBe(0);
  });

  test('L-01 has the identity of the long form: a reload that only changes the form changes nothing', async () => {
    using bundle = bundleWith({
      tools: ['Tool/bash', { ref: 'Tool/file-system', config: {} }],
      extensions: ['Extension/logging', { ref: 'Extension/mcp', as: 'files' }],
    });
    const before = await planOf(bundle.folder);
    const parts = {
      tools: [long('Tool', 'bash'), { ref: long('Tool', 'file-system'), config: {} }],
      extensions: [long('Extension', 'logging'), { ref: long('Extension', 'mcp'), as: 'files' }],
    };
    await Bun.write(join(bundle.folder, 'goondan.yaml'), yaml(model, agent(parts), swarm));
    const after = await planOf(bundle.folder);
    expect(after).toEqual(before);
    expect(planReconcile(before, after)).toMatchObject({ changed: [], added: [], removed: [] });
  });

  test('conflicts with the long form of the same resource', async () => {
    using bundle = bundleWith({ tools: ['Tool/bash', long('Tool', 'bash')] });
    expect((await load(bundle.folder)).errors.map(({ code }) => code)).toEqual(['E_REF_TWICE']);
  });

  test.each([
    ['mpc', 'Did you mean `Extension/mcp` of @goondan/base? '],
    ['loging', 'Did you mean `Extension/logging`? '],
    ['something-else', ''],
  ])('%s: the error names both sources and the nearest name', async (name, question) => {
    using bundle = bundleWith({ extensions: [`Extension/${name}`] }, ownLogging);
    const { errors } = await load(bundle.folder);
    expect(errors).toMatchObject([
      {
        code: 'E_REF_MISSING',
        message: `There is no Extension/${name}, neither in this bundle nor in @goondan/base.`,
        line: 3,
      },
    ]);
    const start = `${question}This bundle has Extension/logging. @goondan/base has Extension/`;
    expect(errors[0]?.suggestion).toStartWith(start);
    expect(errors[0]?.suggestion).toContain('Extension/mcp');
  });

  test('Tool/agent: the nearest name may be the built-in Tool/agents', async () => {
    using bundle = bundleWith({ tools: ['Tool/agent'] });
    const [error] = (await load(bundle.folder)).errors;
    expect(error?.suggestion).toStartWith('Did you mean `Tool/agents` of @goondan/base? ');
    expect(error?.suggestion).toContain('@goondan/base has Tool/agents, Tool/');
  });

  test('of a package means a resource of that package, and else one of the base library', async () => {
    const theirs = resource('Agent', 'a', {
      modelConfig: { modelRef: 'Model/m' },
      tools: ['Tool/bash'],
      extensions: ['Extension/logging', 'Extension/guard'],
    });
    const guard = resource('Extension', 'guard', { entry: './own.ts' });
    const folder = 'node_modules/@team/parts';
    const reference = { kind: 'Agent', name: 'a', package: '@team/parts' };
    using bundle = temporaryBundle({
      'goondan.yaml': yaml(resource('Swarm', 'default', { entryAgent: reference, agents: [reference] }), ownLogging),
      ...own,
      [`${folder}/goondan.yaml`]: yaml(model, theirs, guard),
      [`${folder}/own.ts`]: own['own.ts'],
    });
    const [found] = (await planOf(bundle.folder)).agents;
    expect(found?.tools?.map(({ root }) => root)).toEqual([base]);
    expect(found?.extensions?.map(({ root }) => root)).toEqual([base, join(bundle.folder, folder)]);
  });

  test('finds the base library that is installed beside the bundle', async () => {
    const folder = 'node_modules/@goondan/base';
    const files = { [`${folder}/goondan.yaml`]: yaml(ownLogging), [`${folder}/own.ts`]: own['own.ts'] };
    using bundle = temporaryBundle({
      'goondan.yaml': yaml(model, agent({ extensions: ['Extension/logging'] }), swarm),
      ...files,
    });
    const { agents } = await planOf(bundle.folder);
    expect(agents[0]?.extensions).toMatchObject([{ root: join(bundle.folder, folder) }]);
  });

  test('without a base library, only the missing resource is reported; a named package is reported, too', async () => {
    const empty = { 'node_modules/@goondan/base/package.json': '{}' };
    const write = (extensions: readonly unknown[]) =>
      temporaryBundle({ 'goondan.yaml': yaml(model, agent({ extensions }), swarm), ...empty });
    using short = write(['Extension/mcp']);
    const codes = async (folder: string) =>
      (await load(folder)).errors.map(({ code, message }) => `${code} ${message}`);
    const missing = 'E_REF_MISSING There is no Extension/mcp.';
    expect(await codes(short.folder)).toEqual([missing]);
    using both = write(['Extension/mcp', long('Extension', 'logging')]);
    expect(await codes(both.folder)).toEqual([
      missing,
      'E_PACKAGE_MISSING The package "@goondan/base" has no goondan.yaml.',
    ]);
  });

  test('does not read the base library for the tools of the runtime, or for models', async () => {
    using bundle = bundleWith({ tools: ['Tool/agents'] });
    expect((await load(bundle.folder)).scope.packages.size).toBe(0);
    using wrong = temporaryBundle({ 'goondan.yaml': yaml(agent({}), swarm) });
    const { errors, scope } = await load(wrong.folder);
    expect(errors).toMatchObject([{ message: 'There is no Model/m.' }]);
    expect(scope.packages.size).toBe(0);
  });

  test('works in defineSwarm', async () => {
    using bundle = temporaryBundle({});
    const plan = await defineSwarm({
      folder: bundle.folder,
      environment: {},
      resources: [model, agent({ tools: ['Tool/bash'], extensions: ['Extension/logging'] }), swarm] as never,
    });
    expect(plan.agents[0]?.extensions).toMatchObject([{ root: base }]);
    expect(plan.agents[0]?.tools).toMatchObject([{ root: base }]);
  });
});

test('an agent with the tool `bundle` in a swarm that allows no changes is a warning', async () => {
  const warningsOf = async (tool: object | string, changes?: object) => {
    const policy = changes === undefined ? {} : { policy: { changes } };
    const school = resource('Swarm', 'default', { entryAgent: 'Agent/a', agents: ['Agent/a'], ...policy });
    using bundle = temporaryBundle({ 'goondan.yaml': yaml(model, agent({ tools: [tool] }), school) });
    const { errors, warnings } = await load(bundle.folder);
    expect(errors).toEqual([]);
    return warnings.map(({ code, resource: where }) => `${where} ${code}`);
  };
  for (const tool of ['Tool/bundle', long('Tool', 'bundle'), { ref: 'Tool/bundle' }])
    expect(await warningsOf(tool)).toEqual(['Swarm/default E_CHANGESET_POLICY']);
  expect(await warningsOf('Tool/bundle', { allow: [] })).toEqual(['Swarm/default E_CHANGESET_POLICY']);
  expect(await warningsOf('Tool/bundle', { allow: ['prompts/**'] })).toEqual([]);
  expect(await warningsOf('Tool/bash')).toEqual([]);
});

describe('an agent that reads private data and text of strangers, and can send data away', () => {
  const fetching = (config: object) => ({ ref: 'Tool/http-fetch', config });
  const both = ['Tool/file-system', 'Tool/http-fetch'];
  const server = { ref: 'Extension/mcp', config: { transport: { type: 'stdio', command: ['server'] } } };
  const door = (connector: string, ingressRule: object = {}, more: object = {}) =>
    resource('Connection', 'door', {
      connectorRef: `Connector/${connector}`,
      config: { port: 0 },
      secrets: { token: 'not-a-real-secret' },
      ingress: { rules: [{ route: {}, ...ingressRule }] },
      ...more,
    });

  /** Returns the warnings about agents. */
  async function warningsOf(parts: object, ofSwarm: object = {}, ...more: readonly object[]) {
    const school = resource('Swarm', 'default', {
      ...{ entryAgent: 'Agent/a', agents: ['Agent/a', 'Agent/b'] },
      ...ofSwarm,
    });
    const other = resource('Agent', 'b', { modelConfig: { modelRef: 'Model/m' } });
    using bundle = temporaryBundle({ 'goondan.yaml': yaml(model, agent(parts), other, school, ...more), ...own });
    const { errors, warnings } = await load(bundle.folder);
    expect(errors).toEqual([]);
    return warnings;
  }

  test('is a warning, which names the parts', async () => {
    expect(await warningsOf({ tools: both })).toMatchObject([
      {
        code: 'E_AGENT_UNGUARDED',
        resource: 'Agent/a',
        message:
          'It reads private data (Tool/file-system), reads text of strangers (Tool/http-fetch), can send data away (Tool/http-fetch), and no person approves its calls.',
        suggestion: expect.stringContaining('Extension/approval'),
      },
    ]);
  });

  test.each<[string, Parameters<typeof warningsOf>]>([
    ['a shell and a server', [{ tools: ['Tool/bash'], extensions: [server] }]],
    ['a shell and a server of the swarm', [{ tools: ['Tool/bash'] }, { extensions: [server] }]],
    ['a shell that fetches from some hosts', [{ tools: ['Tool/bash', fetching({ only: ['a.com'] })] }]],
    ['a shell behind an HTTP door', [{ tools: ['Tool/bash'] }, {}, door('http')]],
    ['a shell behind a door without rules', [{ tools: ['Tool/bash'] }, {}, door('http', {}, { ingress: undefined })]],
    ['a shell behind a door for chat clients', [{ tools: ['Tool/bash'] }, {}, door('openai')]],
    [
      'a shell behind a door to this agent',
      [{ tools: ['Tool/bash'] }, {}, door('http', { route: { agentRef: 'Agent/a' } })],
    ],
  ])('is a warning with %s', async (_, parameters) => {
    expect((await warningsOf(...parameters)).map(({ code }) => code)).toEqual(['E_AGENT_UNGUARDED']);
  });

  test.each<[string, Parameters<typeof warningsOf>]>([
    ['approval of the swarm', [{ tools: both }, { extensions: ['Extension/approval'] }]],
    ['approval of the agent', [{ tools: both, extensions: ['Extension/approval'] }]],
    ['a list of hosts', [{ tools: ['Tool/file-system', fetching({ only: ['a.com'] })] }]],
    ['no private data', [{ tools: ['Tool/http-fetch'] }]],
    ['no text of strangers', [{ tools: ['Tool/bash', 'Tool/file-system'] }]],
    ['no way out', [{ tools: ['Tool/file-system'] }, {}, door('http')]],
    ['a door to another agent', [{ tools: ['Tool/bash'] }, {}, door('http', { route: { agentRef: 'Agent/b' } })]],
    [
      'a door to another swarm',
      [
        { tools: ['Tool/bash'] },
        {},
        resource('Swarm', 'other', { entryAgent: 'Agent/b', agents: ['Agent/b'] }),
        door('http', {}, { swarmRef: 'Swarm/other' }),
      ],
    ],
    ['an agent outside of the swarm', [{ tools: both }, { entryAgent: 'Agent/b', agents: ['Agent/b'] }]],
  ])('is no warning with %s', async (_, parameters) => {
    expect(await warningsOf(...parameters)).toEqual([]);
  });

  test('needs the approval of the base library', async () => {
    const mine = resource('Extension', 'approval', { entry: './own.ts' });
    expect(await warningsOf({ tools: both }, { extensions: ['Extension/approval'] }, mine)).toHaveLength(1);
  });
});

test('a pattern of a rule that the extension approval refuses is an error at its place', async () => {
  const whens = [
    { a: 'x*', b: { equals: 'y' } },
    { a: { regex: '^rm' }, b: { glob: 1 }, c: 'x'.repeat(1_000), d: { any: 1 } },
  ];
  const rules = whens.map((when) => rule('*', 'ask', { when }));
  using bundle = bundleWith({ extensions: [{ ref: 'Extension/approval', config: { rules } }] });
  const { errors } = await load(bundle.folder);
  expect(errors.map(({ code, resource: where }) => `${where} ${code}`)).toEqual(Array(4).fill('Agent/a E_EXT_CONFIG'));
  const at = 'The config of Extension/approval does not fit: rules[1]:';
  expect(errors.map(({ message }) => message.slice(0, 90))).toEqual([
    `${at} regex is not supported.`,
    `${at} glob is not a text.`,
    expect.stringContaining(`${at} the pattern "xxx`),
    `${at} a pattern is a value, or has one of equals, glob.`.slice(0, 90),
  ]);
  expect(errors[0]?.suggestion).toContain('Write a glob');
});
