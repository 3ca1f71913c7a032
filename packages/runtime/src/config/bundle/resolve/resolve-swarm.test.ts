import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { completeBundle, completeEnvironment, temporaryBundle } from '../../../testing/temporary-bundle.ts';
import { workspaceId } from '../../../workspace/layout/workspace-id.ts';
import { loadBundle } from '../load-bundle.ts';
import { resolveSwarm, type ResolveOptions } from './resolve-swarm.ts';

const head = (kind: string, name: string) => `apiVersion: goondan.ai/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`;
const script = 'spec: { provider: scripted, model: m, options: { script: [{ say: hi }] } }\n';
const documents = (...texts: string[]) => texts.join('---\n');
const agent = (spec: string) => `${head('Agent', 'a')}spec: ${spec}\n`;
const swarm = (more = '', name = 'default') =>
  `${head('Swarm', name)}spec: { entryAgent: Agent/a, agents: [Agent/a]${more} }\n`;

async function resolve(files: Record<string, string>, options: Partial<ResolveOptions> = {}) {
  using bundle = temporaryBundle(files);
  const environment = options.environment ?? {};
  return resolveSwarm(await loadBundle(bundle.folder, { environment }), { ...options, environment });
}

async function refusal(files: Record<string, string>, options: Partial<ResolveOptions> = {}): Promise<unknown> {
  return resolve(files, options).catch((error: unknown) => error);
}

describe('a swarm from a bundle', () => {
  test('names the agents that an agent may ask, each of the same swarm', async () => {
    const spec = (more: string) => `{ modelConfig: { modelRef: Model/m }${more} }`;
    const yaml = documents(
      `${head('Model', 'm')}${script}`,
      agent(spec(', mayAsk: [Agent/b, { kind: Agent, name: c }]')),
      `${head('Agent', 'b')}spec: ${spec(', mayAsk: []')}\n`,
      `${head('Agent', 'c')}spec: ${spec('')}\n`,
      `${head('Swarm', 'both')}spec: { entryAgent: Agent/a, agents: [Agent/a, Agent/b, Agent/c] }\n`,
      `${head('Swarm', 'less')}spec: { entryAgent: Agent/a, agents: [Agent/a, Agent/b] }\n`,
    );
    const mayAsk = async (name: string) => {
      const { plan } = await resolve({ 'goondan.yaml': yaml }, { swarm: name });
      return plan.agents.map((each) => each.mayAsk);
    };
    expect(await mayAsk('both')).toEqual([['b', 'c'], [], undefined]);
    expect(await mayAsk('less')).toEqual([['b'], []]);
  });

  test('L-01 names the files of a module, its package, and whether it is exclusive or imports files while it runs', async () => {
    const yaml = documents(
      `${head('Model', 'm')}${script}`,
      `${head('Extension', 'own')}spec: { entry: ./src/own.ts, exclusive: true }\n`,
      `${head('Tool', 'plain')}spec: { entry: ./plain.ts, exclusive: false }\n`,
      agent(
        '{ modelConfig: { modelRef: Model/m }, extensions: [Extension/own, Extension/logging], tools: [Tool/plain] }',
      ),
      swarm(),
    );
    const { plan } = await resolve({
      'goondan.yaml': yaml,
      'package-lock.json': '{}',
      'plain.ts': `export const late = () => import('./late.ts');`,
      'helper.ts': `import { z } from './src/z.json';\nexport const helper = z;`,
      'src/z.json': '{}',
      'late.ts': '',
      'src/own.ts': `import { helper } from '../helper.ts';\nexport const register = helper;`,
    });
    const { extensions = [], tools = [], packages } = plan.agents[0] ?? {};
    const [own, logging] = extensions;
    expect(own).toMatchObject({ files: ['helper.ts', 'src/own.ts', 'src/z.json'], exclusive: true });
    expect(own).not.toHaveProperty('package');
    expect(logging).toMatchObject({ package: '@goondan/base' });
    expect(logging).not.toHaveProperty('files');
    expect(tools).toMatchObject([{ files: ['late.ts', 'plain.ts'], lazy: true }]);
    for (const part of [own, logging]) expect(part).not.toHaveProperty('lazy');
    expect(tools[0]).not.toHaveProperty('exclusive');
    expect(packages).toBeString();
  });

  test('R-04 has its agents and connections, with nothing left to look up', async () => {
    using bundle = temporaryBundle(completeBundle);
    const environment = completeEnvironment;
    const loaded = await loadBundle(bundle.folder, { environment });
    const { plan, workspaceId: id, secrets } = resolveSwarm(loaded, { environment, workdir: '/work' });
    const { folder } = bundle;

    expect(plan).toMatchObject({
      name: 'default',
      entryAgent: 'host',
      policy: { maxStepsPerTurn: 8, idle: { hibernateAfterSeconds: null } },
    });
    expect(plan.agents.map(({ agentName }) => agentName)).toEqual(['host', 'librarian']);
    const [host, librarian] = plan.agents;
    expect(host).toMatchObject({
      description: 'Talks to visitors.',
      systemPrompt: 'You are the host.\n',
      modelRef: 'Model/demo',
      models: {
        'Model/demo': { provider: 'scripted', model: 'demo' },
        'Model/claude': { provider: 'anthropic', apiKey: 'team-key-1234567', params: { temperature: 0.2 } },
      },
      params: { maxTokens: 100 },
      agentTools: true,
      tools: [{ name: 'weather', root: folder, entry: './tools/weather.ts', errorMessageLimit: 200 }],
      environment: { REGION: 'eu' },
      bundleFolder: folder,
      workdir: '/work',
    });
    expect(host?.extensions).toMatchObject([
      { tier: 'swarm', resource: { metadata: { name: 'guard' }, spec: { config: { token: 'guard-token-123' } } } },
      { tier: 'agent', root: folder, resource: { metadata: { name: 'logging' } } },
    ]);
    // The agent's config is merged over the resource's config.
    expect(host?.extensions?.[1]?.resource.spec.config).toEqual({
      level: 'debug',
      targets: { file: true, console: true },
    });
    expect(librarian).toMatchObject({ systemPrompt: 'You know\nbooks.\n', policy: { maxStepsPerTurn: 2 }, tools: [] });
    expect(librarian).not.toHaveProperty('agentTools');
    expect(librarian?.extensions).toMatchObject([{ tier: 'swarm', resource: { metadata: { name: 'guard' } } }]);

    expect(plan.connections).toEqual([
      {
        connection: 'front-door',
        connector: 'web',
        root: folder,
        entry: './connectors/web.ts',
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        events: ['message', 'joined'],
        config: { port: 0, secret: 'web-secret-1234' },
        secrets: { signing: 'signing-key-1234', plain: 'written-down' },
        masked: ['web-secret-1234', 'signing-key-1234'],
        rules: [
          { match: { event: 'joined' }, route: { agentRef: 'Agent/librarian', instanceKey: 'arrivals' } },
          {
            match: { properties: { kind: 'chat' } },
            route: { agentRef: 'Agent/host', instanceKeyProperty: 'room', instanceKeyPrefix: 'room-' },
          },
          { route: {} },
        ],
      },
    ]);
    expect(id).toBe(workspaceId({ swarmName: 'default', bundleRealPath: folder }));
    expect(secrets.toSorted()).toEqual(
      ['eu', 'guard-token-123', 'signing-key-1234', 'team-key-1234567', 'web-secret-1234'].toSorted(),
    );
  });

  test('R-04 an agent has the secrets of its own resources and no others', async () => {
    const { plan } = await resolve(completeBundle, { environment: completeEnvironment });
    expect(plan.agents[0]?.secrets?.toSorted()).toEqual(['eu', 'guard-token-123', 'team-key-1234567']);
    expect(plan.agents[1]?.secrets).toEqual(['guard-token-123']);
  });

  test('an extension that is listed twice has two names, each with its config', async () => {
    const logging = `${head('Extension', 'log')}spec: { entry: ./log.ts, config: { level: info } }\n`;
    const items = '[Extension/log, { ref: Extension/log, as: loud, config: { level: debug } }]';
    const { plan } = await resolve({
      'goondan.yaml': documents(
        `${head('Model', 'm')}${script}`,
        logging,
        agent(`{ modelConfig: { modelRef: Model/m }, extensions: ${items} }`),
        swarm(),
      ),
      'log.ts': 'export function register() {}\n',
    });
    const listed = plan.agents[0]?.extensions?.map(({ resource: { metadata, spec } }) => [metadata.name, spec.config]);
    expect(listed).toEqual([
      ['log', { level: 'info' }],
      ['loud', { level: 'debug' }],
    ]);
  });

  test('R-04 an invalid bundle is not resolved, and the error lists every problem', async () => {
    const refused = await refusal({
      'goondan.yaml': documents(agent('{ modelConfig: { modelRef: Model/x } }'), swarm(', oops: 1')),
    });
    expect(refused).toMatchObject({ code: 'E_BUNDLE_INVALID' });
    expect(String(refused)).toContain(
      'The bundle has 2 errors:\ngoondan.yaml:4:34 Agent/a: There is no Model/x.\ngoondan.yaml:9:',
    );
  });

  test('R-04 the error names every missing value once, with the resource that needs it', async () => {
    expect(await refusal(completeBundle, { environment: { REGION: 'eu' } })).toMatchObject({
      code: 'E_ENV_MISSING',
      message:
        'Environment variables are not set: GUARD_TOKEN (Extension/guard), TEAM_KEY (Model/claude), WEB_SECRET (Connection/front-door), SIGNING_KEY (Connection/front-door).',
    });
  });
});

describe('the choice of a swarm', () => {
  const base = documents(`${head('Model', 'm')}${script}`, agent('{ modelConfig: { modelRef: Model/m } }'));
  const nameOf = async (yaml: string, wanted?: string) =>
    (await resolve({ 'goondan.yaml': yaml }, wanted === undefined ? {} : { swarm: wanted })).plan.name;

  test('takes the named one, the one called default, or the only one', async () => {
    expect(await nameOf(documents(base, swarm('', 'only')))).toBe('only');
    const two = documents(base, swarm('', 'other'), swarm());
    expect(await nameOf(two)).toBe('default');
    expect(await nameOf(two, 'other')).toBe('other');
    expect(await nameOf(two, 'Swarm/other')).toBe('other');
  });

  test.each([
    [`${head('Model', 'm')}${script}`, undefined, 'The bundle has no Agent that could run.'],
    [documents(base, swarm('', 'one'), swarm('', 'two')), undefined, 'The bundle declares several swarms: one, two.'],
    [documents(base, swarm()), 'defualt', 'The bundle declares no Swarm/defualt; it has default.'],
  ])('is reported when it is ambiguous', async (yaml, wanted, message) => {
    expect(await refusal({ 'goondan.yaml': yaml }, wanted === undefined ? {} : { swarm: wanted })).toMatchObject({
      code: 'E_SWARM_UNKNOWN',
      message,
    });
  });

  test('a named workspace is the same from every folder', async () => {
    const yaml = documents(base, swarm(', workspace: Our Team'));
    const [one, other] = [await resolve({ 'goondan.yaml': yaml }), await resolve({ 'goondan.yaml': yaml })];
    expect(one.workspaceId).toBe(other.workspaceId);
    expect(one.workspaceId).toStartWith('our-team-');
  });

  test('R-04 connections go to the swarm they name', async () => {
    const connection = (name: string, ref: string) =>
      `${head('Connection', name)}spec: { connectorRef: Connector/web, swarmRef: ${ref}, ingress: { rules: [{ route: {} }] } }\n`;
    const yaml = documents(
      base,
      swarm(),
      swarm('', 'other'),
      `${head('Connector', 'web')}spec: { entry: ./web.ts }\n`,
      connection('one', 'Swarm/default'),
      connection('two', 'Swarm/other'),
    );
    const files = { 'goondan.yaml': yaml, 'web.ts': 'export default async () => {};\n' };
    expect((await resolve(files)).plan.connections?.map(({ connection: name }) => name)).toEqual(['one']);
    expect((await resolve(files, { swarm: 'other' })).plan.connections?.map(({ connection: name }) => name)).toEqual([
      'two',
    ]);
  });
});

describe('values', () => {
  const modelOf = async (spec: string, environment: Record<string, string>, env = '') => {
    const yaml = documents(
      `${head('Model', 'm')}spec: ${spec}\n`,
      agent('{ modelConfig: { modelRef: Model/m } }'),
      swarm(),
    );
    return (await resolve({ 'goondan.yaml': yaml, '.env': env }, { environment })).plan.agents[0]?.models['Model/m'];
  };

  test('R-04 the environment wins over .env', async () => {
    const spec = '{ provider: openai, model: m, apiKey: { valueFrom: { env: K } } }';
    expect(await modelOf(spec, { K: 'outer' }, 'K=file')).toMatchObject({ apiKey: 'outer' });
    expect(await modelOf(spec, {}, 'K=file')).toMatchObject({ apiKey: 'file' });
  });

  test("a model without a key gets its provider's, and its address from the environment only", async () => {
    const spec = '{ provider: anthropic, model: m }';
    const environment = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: 'http://proxy' };
    expect(await modelOf(spec, environment)).toEqual({
      provider: 'anthropic',
      model: 'm',
      apiKey: 'key',
      keyVariable: 'ANTHROPIC_API_KEY',
      endpoint: 'http://proxy',
      options: {},
    });
    const fromFile = await modelOf(spec, {}, 'ANTHROPIC_API_KEY=key\nANTHROPIC_BASE_URL=http://evil\n');
    const key = { apiKey: 'key', keyVariable: 'ANTHROPIC_API_KEY' };
    expect(fromFile).toEqual({ provider: 'anthropic', model: 'm', ...key, options: {} });
  });

  test('R-04 are allowed in headers, in endpoints and as plain fields', async () => {
    const spec = `{ provider: openai-compatible, model: m, endpoint: { valueFrom: { env: URL } }, apiKey: plain, options: { headers: { x-team: blue, authorization: { valueFrom: { env: T } } } } }`;
    expect(await modelOf(spec, { URL: 'http://localhost:1', T: 'Bearer 1' })).toEqual({
      provider: 'openai-compatible',
      model: 'm',
      apiKey: 'plain',
      endpoint: 'http://localhost:1',
      options: { headers: { 'x-team': 'blue', authorization: 'Bearer 1' } },
    });
  });

  test("a variable that the agent's config replaces need not be set", async () => {
    const yaml = documents(
      `${head('Model', 'm')}${script}`,
      `${head('Extension', 'e')}spec: { entry: ./e.ts, config: { auth: { token: { valueFrom: { env: THEIRS } }, kind: x }, list: [{ valueFrom: { env: L } }] } }\n`,
      agent(
        '{ modelConfig: { modelRef: Model/m }, extensions: [{ ref: Extension/e, config: { auth: { token: { valueFrom: { env: OURS } } } } }] }',
      ),
      swarm(),
    );
    const files = { 'goondan.yaml': yaml, 'e.ts': 'export function register() {}\n' };
    const { plan } = await resolve(files, { environment: { OURS: 'ours', L: 'l' } });
    expect(plan.agents[0]?.extensions?.[0]?.resource.spec.config).toEqual({
      auth: { token: 'ours', kind: 'x' },
      list: ['l'],
    });
  });

  test("R-04 fill the config of a tool, which the agent's config extends, and are secrets of that agent", async () => {
    const yaml = documents(
      `${head('Model', 'm')}${script}`,
      `${head('Tool', 't')}spec: { entry: ./t.ts, exports: [{ name: do, description: x }], config: { auth: { token: { valueFrom: { env: THEIRS } }, kind: x }, list: [1] }, configSchema: { type: object } }\n`,
      agent(
        '{ modelConfig: { modelRef: Model/m }, tools: [{ ref: Tool/t, config: { auth: { token: { valueFrom: { env: OURS } } }, list: [2] } }] }',
      ),
      swarm(),
    );
    const files = { 'goondan.yaml': yaml, 't.ts': 'export const handlers = {};\n' };
    const { plan, secrets } = await resolve(files, { environment: { OURS: 'ours-secret' } });
    expect(plan.agents[0]).toMatchObject({
      tools: [{ config: { auth: { token: 'ours-secret', kind: 'x' }, list: [2] }, configSchema: { type: 'object' } }],
      secrets: ['ours-secret'],
    });
    expect(secrets).toEqual(['ours-secret']);
    expect(resolve(files, {})).rejects.toMatchObject({
      code: 'E_ENV_MISSING',
      message: 'An environment variable is not set: OURS (Tool/t).',
    });
  });
});

describe('references', () => {
  test('R-04 into a package lead to files of that package', async () => {
    using bundle = temporaryBundle({
      'goondan.yaml': documents(
        agent(
          '{ modelConfig: { modelRef: anthropic/claude-x }, tools: [{ ref: { kind: Tool, name: clock, package: parts } }] }',
        ),
        swarm(),
      ),
      'node_modules/parts/goondan.yaml': `${head('Tool', 'clock')}spec: { entry: ./clock.ts, exports: [{ name: now, description: x }] }\n`,
      'node_modules/parts/clock.ts': 'export const handlers = {};\n',
    });
    const environment = { ANTHROPIC_API_KEY: 'secret-key-123' };
    const { plan } = resolveSwarm(await loadBundle(bundle.folder, { environment }), { environment });
    expect(plan.agents[0]).toMatchObject({
      modelRef: 'anthropic/claude-x',
      models: { 'anthropic/claude-x': { provider: 'anthropic', model: 'claude-x', apiKey: 'secret-key-123' } },
      tools: [{ name: 'clock', root: join(bundle.folder, 'node_modules/parts'), entry: './clock.ts' }],
      secrets: ['secret-key-123'],
    });
  });

  test('R-04 a recording includes the model it records', async () => {
    const yaml = documents(
      `${head('Model', 'm')}${script}`,
      `${head('Model', 'tape')}spec: { provider: cassette, model: t, options: { mode: record, file: t.jsonl, upstream: { kind: Model, name: m } } }\n`,
      agent('{ modelConfig: { modelRef: Model/tape } }'),
      swarm(),
    );
    const { plan } = await resolve({ 'goondan.yaml': yaml });
    expect(Object.keys(plan.agents[0]?.models ?? {})).toEqual(['Model/tape', 'Model/m']);
    expect(plan.agents[0]?.models['Model/tape']?.options).toEqual({
      mode: 'record',
      file: 't.jsonl',
      upstream: 'Model/m',
    });
  });

  test('Tool/agents of the base library is the runtime’s own; that of another package belongs to the package', async () => {
    const using = (from: string) =>
      documents(
        `${head('Model', 'm')}${script}`,
        agent(`{ modelConfig: { modelRef: Model/m }, tools: [{ kind: Tool, name: agents, package: '${from}' }] }`),
        swarm(),
      );
    expect((await resolve({ 'goondan.yaml': using('@goondan/base') })).plan.agents[0]).toMatchObject({
      agentTools: true,
      tools: [],
    });
    const packaged = { 'node_modules/parts/goondan.yaml': `${head('Package', 'parts')}spec: { version: 1.0.0 }\n` };
    expect(resolve({ 'goondan.yaml': using('parts'), ...packaged })).rejects.toMatchObject({
      code: 'E_BUNDLE_INVALID',
      message: expect.stringContaining('The package "parts" has no Tool/agents.'),
    });
  });

  test('Tool/agents is the runtime’s own unless the bundle declares one', async () => {
    const base = [
      `${head('Model', 'm')}${script}`,
      agent('{ modelConfig: { modelRef: Model/m }, tools: [Tool/agents] }'),
      swarm(),
    ];
    const own = `${head('Tool', 'agents')}spec: { entry: ./t.ts, exports: [{ name: get, description: x }] }\n`;
    expect((await resolve({ 'goondan.yaml': documents(...base) })).plan.agents[0]).toMatchObject({
      agentTools: true,
      tools: [],
    });
    const declared = await resolve({
      'goondan.yaml': documents(...base, own),
      't.ts': 'export const handlers = {};\n',
    });
    expect(declared.plan.agents[0]).not.toHaveProperty('agentTools');
    expect(declared.plan.agents[0]).toMatchObject({ tools: [{ name: 'agents' }] });
  });
});
