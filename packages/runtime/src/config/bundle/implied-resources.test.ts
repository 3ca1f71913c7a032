import { describe, expect, test } from 'bun:test';
import { temporaryBundle } from '../../testing/temporary-bundle.ts';
import { examineTexts } from './changesets/examine-texts.ts';
import { loadBundle, loadSwarms } from './load-bundle.ts';
import { resolveSwarm } from './resolve/resolve-swarm.ts';

const environment = { OPENAI_API_KEY: 'the-key', LOCAL_URL: 'http://localhost:1/v1' };
const head = (kind: string, name: string) => `apiVersion: goondan.ai/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`;
const agent = (fields: string) => `${head('Agent', 'news')}spec: { ${fields} }\n`;
const documents = (...texts: string[]) => texts.join('---\n');
const swarm = `${head('Swarm', 'news')}spec: { entryAgent: Agent/news, agents: [Agent/news] }\n`;
const script = '{ provider: scripted, model: m, options: { script: [{ say: hi }] } }';

async function planOf(yaml: string) {
  using bundle = temporaryBundle({ 'goondan.yaml': yaml, 'c.ts': 'export default async () => {};\n' });
  const loaded = await loadBundle(bundle.folder, { environment });
  expect([...loaded.errors, ...loaded.warnings]).toEqual([]);
  const { plan } = resolveSwarm(loaded, { environment, workdir: '/' });
  return {
    ...plan,
    agents: plan.agents.map((each) => ({ ...each, bundleFolder: '' })),
    connections: (plan.connections ?? []).map((each) => ({ ...each, root: '' })),
  };
}

describe('a short form means the same as the long one', () => {
  test.each([
    ['the name of a model', 'model: openai/org/gpt-5', 'modelConfig: { modelRef: openai/org/gpt-5 }', ''],
    ['a Model', 'model: Model/m', 'modelConfig: { modelRef: Model/m }', `${head('Model', 'm')}spec: ${script}\n`],
    ['a model with settings', `model: ${script}`, 'modelConfig: { modelRef: Model/news }', ''],
    [
      'a server with a URL, a key and settings',
      'model: { provider: openai-compatible, model: org/m, endpoint: { valueFrom: { env: LOCAL_URL } }, apiKey: k, params: { topK: 1 }, limits: { concurrent: 1 } }',
      'modelConfig: { modelRef: Model/news }',
      '',
    ],
  ])('%s', async (_name, short, long, more) => {
    const written = short.startsWith('model: {')
      ? `${head('Model', 'news')}spec: ${short.slice('model: '.length)}\n`
      : '';
    const others = [more, written].filter((text) => text !== '');
    const meant = await planOf(documents(agent(long), swarm, ...others));
    expect(await planOf(documents(agent(short), ...(more === '' ? [] : [more])))).toEqual(meant);
    expect(meant.agents[0]?.models[meant.agents[0].modelRef ?? '']).toBeDefined();
  });

  test('a connection without ingress gives the entry agent all events', async () => {
    const connector = `${head('Connector', 'web')}spec: { entry: ./c.ts }\n`;
    const connection = (more: string) => `${head('Connection', 'web')}spec: { connectorRef: Connector/web${more} }\n`;
    const plan = (more: string) => planOf(documents(agent('model: openai/gpt-5'), connector, connection(more)));
    const short = await plan('');
    expect(short.connections).toMatchObject([{ rules: [{ route: {} }] }]);
    expect(short).toEqual(await plan(', swarmRef: Swarm/news, ingress: { rules: [{ route: {} }] }'));
  });
});

test('a lone agent is a swarm of its own, and found without reading the rest', async () => {
  using bundle = temporaryBundle({ 'goondan.yaml': agent('model: openai/gpt-5, tools: [Tool/nowhere]') });
  expect(await loadSwarms(bundle.folder)).toEqual({ folder: bundle.folder, swarms: [{ name: 'news' }] });
});

test.each([
  ['beside a document that may be a swarm', 'kind: Worksflow\nmetadata: { name: a }\n'],
  ['beside a document without a name', `apiVersion: goondan.ai/v1\nkind: Swarm\n`],
  ['beside an agent without a name', `apiVersion: goondan.ai/v1\nkind: Agent\n`],
  ['beside another agent', `${head('Agent', 'b')}spec: { model: openai/gpt-5 }\n`],
])('an agent %s is none', async (_name, other) => {
  using bundle = temporaryBundle({ 'goondan.yaml': documents(agent('model: openai/gpt-5'), other) });
  expect((await loadSwarms(bundle.folder)).swarms).toEqual([]);
  const { scope } = await loadBundle(bundle.folder, { environment });
  expect(scope.resources.filter(({ kind }) => kind === 'Swarm')).toEqual([]);
});

test.each([
  ['another agent and a document that may be a swarm', 'kind: Worksflow\nmetadata: { name: a }\n'],
  ['another agent in a package', `${head('Package', 'p')}spec: { version: '1.0.0' }\n`],
])('%s need no Swarm', async (_name, other) => {
  const another = `${head('Agent', 'b')}spec: { model: openai/gpt-5, mayAsk: [Agent/news] }\n`;
  using bundle = temporaryBundle({ 'goondan.yaml': documents(agent('model: openai/gpt-5'), another, other) });
  const { errors } = await loadBundle(bundle.folder, { environment });
  expect(errors.map(({ message }) => message).join()).not.toMatch(/no Swarm|mayAsk/);
});

test('the agent of a package has its model, and is no swarm', async () => {
  const ref = '{ kind: Agent, name: news, package: lib }';
  using bundle = temporaryBundle({
    'goondan.yaml': `${head('Swarm', 's')}spec: { entryAgent: ${ref}, agents: [${ref}] }\n`,
    'node_modules/lib/package.json': '{ "name": "lib", "version": "1.0.0" }',
    'node_modules/lib/goondan.yaml': agent('model: { provider: openai, model: m }'),
  });
  const loaded = await loadBundle(bundle.folder, { environment: {} });
  expect(loaded.errors).toEqual([]);
  expect(loaded.warnings).toMatchObject([{ code: 'E_ENV_MISSING', file: 'node_modules/lib/goondan.yaml', line: 4 }]);
  expect(loaded.resources.map(({ identity }) => identity)).toEqual(['Swarm/s', 'Agent/news', 'Model/news']);
});

test.each([
  ['model: openai/gpt-5', 16],
  ['model: { provider: openai, model: gpt-5 }', 28],
])('a missing key is reported at the model, and its variable when the swarm starts: %s', async (model, column) => {
  using bundle = temporaryBundle({ 'goondan.yaml': agent(model) });
  const loaded = await loadBundle(bundle.folder, { environment: {} });
  expect(loaded.warnings).toMatchObject([{ code: 'E_ENV_MISSING', line: 4, column }]);
  expect(() => resolveSwarm(loaded, { environment: {} })).toThrow(
    expect.objectContaining({ code: 'E_ENV_MISSING', message: expect.stringContaining('OPENAI_API_KEY') }),
  );
});

test.each([
  ['the Swarm whose policy it needs', 'tools: [Tool/bundle]', 'warnings', /`metadata: { name: news }`.*allow: \[/],
  [
    'the form with several models',
    'extensions: [{ ref: Extension/model-fallback, config: { models: [anthropic/m] } }]',
    'errors',
    /move its `model` to spec.modelConfig.modelRef/,
  ],
] as const)('the author of a lone agent reads %s', async (_name, fields, severity, suggestion) => {
  using bundle = temporaryBundle({ 'goondan.yaml': agent(`model: openai/gpt-5, ${fields}`) });
  const loaded = await loadBundle(bundle.folder, { environment });
  const line = severity === 'warnings' ? 3 : 4;
  expect(loaded[severity]).toMatchObject([{ line, suggestion: expect.stringMatching(suggestion) }]);
});

describe('a changeset in a bundle of one agent', () => {
  const yaml = (url: string, prompt: string) =>
    agent(`model: { provider: openai-compatible, model: m, endpoint: ${url} }, prompt: { system: ${prompt} }`);

  test.each([
    ['may change the prompt', yaml('http://a', 'New.'), 'fits'],
    ['may not change the model', yaml('http://b', 'Old.'), 'rejected'],
    [
      'may not give its swarm a policy',
      documents(yaml('http://a', 'Old.'), swarm.replace('] }', '], policy: { changes: { allow: ["**"] } } }')),
      'rejected',
    ],
  ])('%s', async (_name, after, status) => {
    using bundle = temporaryBundle({ 'goondan.yaml': yaml('http://a', 'Old.') });
    const source = { bundleFolder: bundle.folder, environment: {} };
    expect(await examineTexts(source, { 'goondan.yaml': after })).toMatchObject({ status });
  });
});
